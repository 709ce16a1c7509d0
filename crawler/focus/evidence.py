"""The evidence for a link: what is known about the target of a link before it is fetched, in a record of fixed size.

It holds no text. What changes while a URL waits (the yields of pages, sections and words) is stored as the keys under
which it is looked up, so that a waiting URL can be scored again from its record alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

SECTIONS: Final = 5  # the host and the folders of the path nearest to the page
SOURCES: Final = 4  # pages that link there whose yield counts
LINK_WORDS: Final = 16  # distinct words of anchor and URL
KEYS: Final = SECTIONS + SOURCES + LINK_WORDS
NO_KEY: Final = 0
MAX_LINKS: Final = 60_000  # half-precision floats, as the relevance of all links together is one, end at 65,504
FORMAT: Final = 1

EVIDENCE: Final = np.dtype(
    [
        ("format", "u1"),
        ("position", "u1"),  # 0 content, 1 navigation, 2 footer
        ("query_in_anchor", "u1"),  # distinct words of the query
        ("query_in_url", "u1"),
        ("anchor", "<f2"),  # weight of the words by the topic
        ("url", "<f2"),
        ("around", "<f2"),
        ("best", "<f2"),  # relevance of the best page that links there
        ("total", "<f2"),  # relevance of all of them together
        ("links", "<u2"),  # how many they are
        ("sections", "<u4", (SECTIONS,)),
        ("sources", "<u4", (SOURCES,)),
        ("words", "<u2", (LINK_WORDS,)),
    ]
)
EVIDENCE_BYTES: Final = EVIDENCE.itemsize

Evidences = NDArray[Any]  # of the dtype EVIDENCE
Keys = NDArray[np.uint32]

_NOTHING: Final = FORMAT.to_bytes(1, "little").ljust(EVIDENCE_BYTES, b"\0")
_PACKED: Final = Struct(f"<4B5eH{SECTIONS}I{SOURCES}I{LINK_WORDS}H")  # as the dtype says
_NO_SOURCES: Final = (NO_KEY,) * SOURCES
_BEST_OF_BOTH: Final = ("best", "url", "query_in_url")


def pack_evidence(
    *, query_in_anchor: int, query_in_url: int, anchor: float, url: float, sections: Sequence[int], words: Sequence[int]
) -> bytes:
    """Return the evidence of a link without that of its page."""
    queries = min(query_in_anchor, 255), min(query_in_url, 255)
    return _PACKED.pack(
        FORMAT,
        0,
        *queries,
        anchor,
        url,
        0.0,
        0.0,
        0.0,
        0,
        *_padded(sections, SECTIONS),
        *_NO_SOURCES,
        *_padded(words, LINK_WORDS),
    )


def is_evidence(packed: bytes) -> bool:
    """Whether these bytes are an evidence of the present format."""
    return isinstance(packed, bytes) and len(packed) == EVIDENCE_BYTES and packed[0] == FORMAT


def unpack_evidences(packed: Sequence[bytes]) -> Evidences:
    """Read evidences; what is no evidence, or was cut, is read as one of which nothing is known.

    >>> unpack_evidences([b"cut"])["links"].tolist()
    [0]
    """
    return np.frombuffer(b"".join([one if is_evidence(one) else _NOTHING for one in packed]), EVIDENCE)


def keys_of(evidences: Evidences) -> Keys:
    """Return the keys of sections, sources and words, a row for each evidence."""
    keys = np.empty((len(evidences), KEYS), np.uint32)
    keys[:, :SECTIONS] = evidences["sections"]
    keys[:, SECTIONS : SECTIONS + SOURCES] = evidences["sources"]
    keys[:, SECTIONS + SOURCES :] = evidences["words"]
    return keys


@np.errstate(invalid="ignore", over="ignore")  # evidence may be damaged
def merge_evidences(better: Evidences, others: Evidences) -> Evidences:
    """Merge evidences of two links each to a URL: words of the better one, best relevance, all pages together.

    A page that is already among the sources does not count again.
    """
    merged = better.copy()
    for name in _BEST_OF_BOTH:
        merged[name] = np.maximum(better[name], others[name])
    new = _new_sources(better["sources"], others["sources"])
    counted = (new != NO_KEY).any(1) | (better["links"] == 0)
    total = better["total"].astype(np.float32) + others["total"] * counted
    links = better["links"].astype(np.uint32) + others["links"] * counted
    merged["total"], merged["links"] = np.minimum(total, MAX_LINKS), np.minimum(links, MAX_LINKS)
    merged["sources"] = _first_keys(np.hstack([better["sources"], new]))
    merged["sections"] = np.where(better["sections"][:, :1] != NO_KEY, better["sections"], others["sections"])
    return merged


def _padded(keys: Sequence[int], count: int) -> tuple[int, ...]:
    return (*keys, *(NO_KEY,) * (count - len(keys)))


def _new_sources(known: Keys, others: Keys) -> Keys:
    is_known = (others[:, :, None] == known[:, None, :]).any(2)
    found: Keys = np.where(is_known, np.uint32(NO_KEY), others)
    return found


def _first_keys(sources: Keys) -> Keys:
    """Return the first keys of each row, without the gaps between them."""
    order = np.argsort(sources == NO_KEY, axis=1, kind="stable")[:, :SOURCES]
    return np.take_along_axis(sources, order, 1)
