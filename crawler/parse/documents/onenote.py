"""Notes of OneNote (.one): the texts in them.

The file is a log of revisions of objects, each a set of properties. We do not replay it: texts are properties that
begin with their length in bytes, and that is how they are found. Each is given once, also what was deleted later.
"""

from __future__ import annotations

import re

from crawler.parse.documents.document import Problem
from crawler.parse.documents.draft import Draft

_WIDE = re.compile(rb"(?=([\x04-\xff][\x00-\x7f])\x00\x00(?:[\x20-\x7e]\x00|[\x00-\xff][\x01-\xd7\xf9-\xff]))")
_NARROW = re.compile(rb"(?=([\x04-\xff][\x00-\x0f])\x00\x00[\x20-\x7e]{4})")
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff\ue000-\uf8ff\ufff0-\uffff]")
_MOST_TEXTS = 20_000
_ALIKE = 0.8  # of the characters of a text that are of one kind: what is no text is of all kinds


def read(body: bytes, draft: Draft) -> None:
    found: dict[int, str] = {}
    end = 0
    for place in _WIDE.finditer(body):
        if place.start() >= end and (text := _wide(body, place.start())):
            found[place.start()] = text
            end = place.start() + 4 + 2 * len(text)
    for place in _NARROW.finditer(body):
        start = place.start() + 4
        raw = body[start : start + int.from_bytes(place[1], "little")]
        if raw.isascii() and len(raw) >= 4 and not _CONTROL.search(text := raw.decode("ascii").rstrip("\0")):
            found.setdefault(place.start(), text)
    if len(found) > _MOST_TEXTS:
        draft.trouble(Problem.TOO_LARGE)
    for text in dict.fromkeys(text for _, text in sorted(found.items())[:_MOST_TEXTS]):
        draft.paragraph(text)


def _wide(body: bytes, at: int) -> str:
    size = int.from_bytes(body[at : at + 4], "little")
    raw = body[at + 4 : at + 4 + size]
    if size % 2 or len(raw) < size:
        return ""
    text = raw.decode("utf-16-le", "replace").rstrip("\0")
    return text if len(text) >= 2 and not _CONTROL.search(text) and _is_alike(text) else ""


def _is_alike(text: str) -> bool:
    kinds = [
        0 if character < "\u0250" else 0x4E if character >= "\u3000" else ord(character) >> 8 for character in text
    ]
    return kinds.count(max(set(kinds), key=kinds.count)) >= _ALIKE * len(text)
