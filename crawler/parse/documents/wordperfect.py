"""Read WordPerfect documents (.wpd) since version 5: text with formatting codes in between."""

from __future__ import annotations

from crawler.parse.documents.document import Problem
from crawler.parse.documents.draft import Draft

_WORD_PERFECT, _DOCUMENT = 1, 10
# The lengths in bytes of fixed-length codes, by version.
_FIXED_6 = {0xF0: 4, 0xF1: 5, 0xF2: 3, 0xF3: 3, 0xF4: 3, 0xF5: 3, 0xF6: 4, 0xF7: 4, 0xF8: 4, 0xF9: 5, 0xFA: 5, 0xFB: 6,
            0xFC: 6, 0xFD: 8, 0xFE: 8}  # fmt: skip
_FIXED_5 = {0xC0: 4, 0xC1: 9, 0xC2: 11, 0xC3: 3, 0xC4: 3, 0xC5: 5, 0xC6: 6, 0xC7: 7, 0xC8: 4, 0xC9: 5, 0xCA: 6, 0xCB: 6,
            0xCC: 8, 0xCD: 10, 0xCE: 10, 0xCF: 12}  # fmt: skip
_SINGLE_6 = {0x80: " ", 0x81: "\xa0", 0x82: "\xad", 0x83: "\xad", 0x84: "-", 0x85: "-", 0x86: "-", 0xCC: "\n",
             0xCD: "\n", 0xCE: "\n", 0xCF: " ", 0xC7: "\n", 0xC8: "\n", 0xC9: "\n", 0xCA: " ", 0xCB: " "}  # fmt: skip
_SINGLE_5 = {0x0A: "\n", 0x0C: "\n", 0x0D: " ", 0x0B: " ", 0xA9: "-", 0xAA: "-", 0xA0: " ", 0x93: " ", 0x94: " "}
_TABLE_CELLS = frozenset({0x0A, 0x0B, 0x0C, 0x0D, 0x0E, 0x0F, 0x10})
_UNDO = 0xF1


def read(body: bytes, draft: Draft) -> None:
    start, product, kind, version = int.from_bytes(body[4:8], "little"), body[8], body[9], body[10]
    if product != _WORD_PERFECT or kind != _DOCUMENT:
        draft.report_problem(Problem.UNSUPPORTED)
        return
    if body[12:14] != b"\0\0":
        draft.add_metadata("encrypted", "true")
        draft.report_problem(Problem.ENCRYPTED)
        return
    text = _version_6(body, start) if version else _version_5(body, start)
    for paragraph in text.split("\n"):
        draft.paragraph(paragraph)


def _version_6(body: bytes, at: int) -> str:
    """The text of version 6 and later: codes D0 to EF have a length; deleted text is between two undo codes."""
    pieces: list[str] = []
    is_deleted = False
    while at < len(body):
        code = body[at]
        if code in _FIXED_6:
            if code == _UNDO and at + 1 < len(body):
                is_deleted = body[at + 1] == 0 if body[at + 1] in (0, 1) else is_deleted
            at += _FIXED_6[code]
            continue
        if 0xD0 <= code <= 0xEF:
            size = int.from_bytes(body[at + 2 : at + 4], "little")
            if code == 0xD0:
                pieces.append(_line_end(body[at + 1] if at + 1 < len(body) else 0))
            elif code == 0xE0:
                pieces.append("\t")
            at += max(size, 4)
            continue
        if not is_deleted:
            pieces.append(chr(code) if 0x20 <= code < 0x7F else _SINGLE_6.get(code, ""))
        at += 1
    return "".join(pieces)


def _line_end(kind: int) -> str:
    if kind in (1, 2, 3):
        return " "
    return "\t" if kind in _TABLE_CELLS else "\n"


def _version_5(body: bytes, at: int) -> str:
    """The text of version 5: codes D0 to FF have a length."""
    pieces: list[str] = []
    while at < len(body):
        code = body[at]
        if code in _FIXED_5:
            at += _FIXED_5[code]
        elif code >= 0xD0:
            at += 4 + int.from_bytes(body[at + 2 : at + 4], "little")
        else:
            pieces.append(chr(code) if 0x20 <= code < 0x7F else _SINGLE_5.get(code, ""))
            at += 1
    return "".join(pieces)
