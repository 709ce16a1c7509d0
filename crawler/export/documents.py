"""A document as others get it: one JSON object a line."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from re import Match

from crawler.items import Block, Key

_KEY = struct.Struct(">qq")
# Half a surrogate pair is no character, and many readers refuse the whole line for it. The others are line ends to some
# who read line by line, or steer a terminal.
_UNSAFE = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_TOLD = {  # what documents say of themselves: our name for it → the one in the table of documents
    "description": "description",
    "author": "author",
    "published_at": "published",
    "modified_at": "modified",
    "canonical": "canonical",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """A document as it is now."""

    version: int  # of the change feed
    key: Key
    url: str
    fetched: float
    status: int
    content_type: str
    title: str
    text: str
    blocks: Sequence[Block] | None  # the text in parts, each with its weight; None if nobody asked for them
    language: str
    format: str  # html, pdf, docx …
    problem: str  # what kept us from reading all of it
    metadata: Mapping[str, str]  # what it says of itself
    digest: bytes  # of the body, codings undone
    duplicate_of: str | None  # URL of the document that stands for this one, too
    similarity: float | None  # to that
    tier: str | None  # how it is known: body, text, sketch, compared
    anchors: Sequence[tuple[str, str]]  # (host, what its links call this document)
    noarchive: bool  # no copy of it may be shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Deleted:
    """A document that was there and is no more."""

    version: int
    key: Key
    url: str


def json_line(entry: Exported | Deleted) -> bytes:
    """In UTF-8, with its line end, whatever characters the document holds.

    >>> json_line(Deleted(version=7, key=Key(1, -1), url="http://a.example/"))
    b'{"id":"0000000000000001ffffffffffffffff","url":"http://a.example/","deleted":true,"version":7}\\n'
    """
    facts = _deletion(entry) if isinstance(entry, Deleted) else _document(entry)
    return safe_json(facts).encode() + b"\n"


def safe_json(facts: object, indent: int | None = None) -> str:
    """With all characters as they are but those that would end a line early or steer a terminal."""
    separators = (",", ":") if indent is None else None
    return _UNSAFE.sub(_safe, json.dumps(facts, ensure_ascii=False, separators=separators, indent=indent))


FORMATS: Mapping[str, Callable[[Exported | Deleted], bytes]] = {"jsonl": json_line}


def _document(entry: Exported) -> dict[str, object]:
    return {
        "id": _identifier(entry.key),
        "url": entry.url,
        "fetched_at": _date(entry.fetched),
        "status": entry.status,
        "content_type": entry.content_type,
        "title": entry.title,
        "text": entry.text,
        **({"blocks": [_block(block) for block in entry.blocks]} if entry.blocks is not None else {}),
        "language": entry.language,
        "format": entry.format,
        "problem": entry.problem,
        **{name: entry.metadata.get(key, "") for name, key in _TOLD.items()},
        "digest": entry.digest.hex(),
        "duplicate_of": entry.duplicate_of,
        "similarity": round(entry.similarity, 3) if entry.similarity is not None else None,
        "tier": entry.tier,
        "anchors": [{"host": host, "text": text} for host, text in entry.anchors],
        "noarchive": entry.noarchive,
        "version": entry.version,
    }


def _block(block: Block) -> dict[str, object]:
    return {"text": block.text, "tag": block.tag, "importance": round(block.importance, 3)}


def _deletion(entry: Deleted) -> dict[str, object]:
    return {"id": _identifier(entry.key), "url": entry.url, "deleted": True, "version": entry.version}


def _identifier(key: Key) -> str:
    """The key's 16 bytes."""
    return _KEY.pack(*key).hex()


def _date(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def _safe(found: Match[str]) -> str:
    character = found[0]
    return "\ufffd" if "\ud800" <= character <= "\udfff" else f"\\u{ord(character):04x}"
