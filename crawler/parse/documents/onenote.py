"""Read OneNote files (.one): the texts in them.

The file is a log of revisions of objects, each a set of properties. It is not replayed: texts are properties that
begin with their length in bytes, and are found by that. Each text is written once, even if it was deleted later.
"""

from __future__ import annotations

import re
from itertools import chain

from crawler.parse.documents.document import Problem
from crawler.parse.documents.draft import Draft

_WIDE = re.compile(rb"(?=([\x04-\xff][\x00-\x7f])\x00\x00(?:[\x20-\x7e]\x00|[\x00-\xff][\x01-\xd7\xf9-\xff]))")
_NARROW = re.compile(rb"(?=([\x04-\xff][\x00-\x0f])\x00\x00[\x20-\x7e]{4})")
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff\ue000-\uf8ff\ufff0-\uffff]")
_MOST_TEXTS = 20_000
_MOST_BYTES_TRIED = 64 << 20  # bytes examined that look like a text but are not
_SHARE_OF_ONE_SCRIPT = 0.8  # share of a text's characters in one script; random bytes are of many


def read(body: bytes, draft: Draft) -> None:
    found: dict[int, str] = {}
    end, room = 0, _MOST_BYTES_TRIED
    for place in chain(_WIDE.finditer(body), _NARROW.finditer(body)):
        start, size = place.start(), int.from_bytes(place[1], "little")
        if (found and start in found) or (place.re is _WIDE and start < end):
            continue
        raw = body[start + 4 : start + 4 + size]
        text = _wide(raw) if place.re is _WIDE else _narrow(raw)
        if text and len(raw) == size:
            found[start] = text
            end = start + 4 + size
        else:
            room -= size
        if room < 0 or len(found) > _MOST_TEXTS:
            draft.report_problem(Problem.TOO_LARGE)
            break
    for text in dict.fromkeys(text for _, text in sorted(found.items())[:_MOST_TEXTS]):
        draft.paragraph(text)


def _narrow(raw: bytes) -> str:
    text = raw.decode("ascii", "replace").rstrip("\0")
    return "" if "\ufffd" in text or _CONTROL.search(text) else text


def _wide(raw: bytes) -> str:
    text = raw.decode("utf-16-le", "replace").rstrip("\0")
    return text if len(text) >= 2 and not _CONTROL.search(text) and _is_one_script(text) else ""


def _is_one_script(text: str) -> bool:
    kinds = [
        0 if character < "\u0250" else 0x4E if character >= "\u3000" else ord(character) >> 8 for character in text
    ]
    return kinds.count(max(set(kinds), key=kinds.count)) >= _SHARE_OF_ONE_SCRIPT * len(text)
