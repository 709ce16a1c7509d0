"""Read Publisher files (.pub): the text of all text boxes."""

from __future__ import annotations

from crawler.parse.documents.compound import Compound
from crawler.parse.documents.draft import Draft

_FIRST, _SIZE, _MOST = 0x20, 24, 20  # of the table of contents of the stream: offset, bytes per entry, entries


def read(body: bytes, draft: Draft) -> None:
    compound = Compound(body, draft)
    compound.read_properties()
    data = compound.read("quill", "quillsub", "contents")
    for at in range(_FIRST, _FIRST + _SIZE * _MOST, _SIZE):
        entry = data[at : at + _SIZE]
        if entry[:2] == b"\x18\x00" and entry[2:6] == b"TEXT":
            start, size = int.from_bytes(entry[16:20], "little"), int.from_bytes(entry[20:24], "little")
            for paragraph in data[start : start + size].decode("utf-16-le", "replace").split("\r"):
                draft.paragraph(paragraph.replace("\x0b", "\n"))
