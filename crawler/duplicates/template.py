"""What do most pages of a site have in common? It says nothing of any of them, and must not count as likeness.

Different pages in one dress are the known failure of finding near-duplicates by shingles (Henzinger 2006).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from crawler.duplicates.minhash import Sketch
from crawler.duplicates.words import Hashes

PAGES: Final = 8  # of a host that must be known before its template can be
MOST_PAGES: Final = 16  # from which it is learned
MOST_SHINGLES: Final = 2_000  # of a template; it travels with each visit
FEWEST_OWN: Final = 20  # shingles that a page must have besides; with fewer it is all template, and compared as a whole
_MOST: Final = 0.75  # of the pages have what counts as template
_MATTERS: Final = 0.1  # share of a page from which it is worth while
_AGREEING: Final = 6  # marks in which most of the sketches must agree before the pages are read again


def seems_dressed(sketches: Sequence[Sketch]) -> bool:
    """Whether so many pages have so much in common that they may have a template, by their sketches alone.

    Where the first shingle of a bin is the template's, pages agree, whatever else they say.
    """
    if len(sketches) < PAGES:
        return False
    marks = np.sort(np.stack([sketch.marks for sketch in sketches]), axis=0)
    needed = _needed(len(sketches))
    agreeing = (marks[needed - 1 :] == marks[: len(marks) - needed + 1]).any(axis=0)
    return int(np.count_nonzero(agreeing)) >= _AGREEING


def template_of(pages: Sequence[Hashes]) -> Hashes:
    """The shingles that most of these pages have, each a set of shingles; none, if they are too few to matter."""
    pages = [page for page in pages if len(page)]
    if len(pages) < PAGES:
        return np.empty(0, dtype=np.uint64)
    shingles, counts = np.unique(np.concatenate(pages), return_counts=True)
    common = shingles[counts >= _needed(len(pages))]
    shares = [len(np.intersect1d(page, common, assume_unique=True)) / len(page) for page in pages]
    return common[:MOST_SHINGLES] if float(np.median(shares)) >= _MATTERS else common[:0]


def own_places(shingles: Hashes, template: Hashes) -> NDArray[np.bool]:
    """Which shingles of a page are its own; all, if these would be too few to tell it from others."""
    everywhere = np.ones(len(shingles), dtype=np.bool)
    if not len(template):
        return everywhere
    own: NDArray[np.bool] = ~np.isin(shingles, template)
    return own if len(np.unique(shingles[own])) >= FEWEST_OWN else everywhere


def packed(template: Hashes) -> bytes:
    return template.astype("<u8").tobytes()


def unpacked(data: bytes) -> Hashes:
    return np.frombuffer(data, dtype="<u8")


def mark_of(data: bytes) -> int:
    """A fingerprint of a template, signed, as databases store it; 0 if there is none."""
    mark = xxh3_64_intdigest(data) if data else 0
    return mark - (1 << 64) if mark >= 1 << 63 else mark


def _needed(pages: int) -> int:
    return -int(-_MOST * pages // 1)
