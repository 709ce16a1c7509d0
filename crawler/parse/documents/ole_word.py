"""Read documents of Word 6 to 2003 (.doc)."""

from __future__ import annotations

import re
import struct
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from crawler.parse.documents.compound import Compound
from crawler.parse.documents.document import Problem
from crawler.parse.documents.draft import MOST_TEXT, Draft, TextRun
from crawler.parse.documents.fields import hyperlink
from crawler.parse.documents.ole_numbering import NumberingLists

_PAGE = 512
_IS_COMPLEX, _IS_ENCRYPTED, _OTHER_TABLE = 0x0004, 0x0100, 0x0200
_WORD_97 = 0xC1  # the first version with two-byte characters
_BOLD, _ITALIC, _DELETED, _HIDDEN = 0x0835, 0x0836, 0x0800, 0x083C
_DEPTH, _LIST, _ROW_END, _OUTLINE = 0x260A, 0x460B, 0x2417, 0x2640
_SIZES = (1, 1, 2, 4, 2, 2, -1, 3)  # of operands, by the upper bits of their operators
_MOST_PIECES = 200_000
_PARAGRAPH_END = re.compile("[\r\x07\x0c]")
_REPLACED = str.maketrans({"\x0b": "\n", "\x0e": "\n", "\x1e": "\u2011", "\x1f": "\xad", "\x01": None, "\x02": None,
                           "\x05": None, "\x08": None, "\x03": None, "\x04": None})  # fmt: skip
_FIELD = re.compile("[\x13\x14\x15]")
_PAGES = {0x0419: "cp1251", 0x0422: "cp1251", 0x0402: "cp1251", 0x0411: "cp932", 0x0412: "cp949", 0x0804: "gbk",
          0x0404: "big5hkscs", 0x0415: "cp1250", 0x0405: "cp1250", 0x040E: "cp1250", 0x0408: "cp1253", 0x041F: "cp1254",
          0x040D: "cp1255", 0x0401: "cp1256"}  # fmt: skip
# The stories in their order in the text, and the offsets of their lengths in the main stream.
_STORIES = (("", 0x4C), ("footnotes", 0x50), ("header", 0x54), ("", 0x58), ("comments", 0x5C), ("endnotes", 0x60),
            ("box", 0x64), ("box", 0x68))  # fmt: skip


class _Piece(NamedTuple):
    """A run of characters that are contiguous in the file."""

    start: int  # position in the text, in characters
    text: str
    offset: int  # position in the stream, in bytes
    width: int  # bytes per character


@dataclass(frozen=True, slots=True)
class _Formatting:
    """The formatting of a paragraph or of characters."""

    style: int = 0
    bold: bool = False
    italic: bool = False
    is_hidden: bool = False
    ends_row: bool = False
    outline: int = 9
    depth: int = 0
    list_number: int = 0


_NO_FORMATTING = _Formatting()


def read(body: bytes, draft: Draft) -> None:
    Compound(body, draft).read_all(read_storage)


def read_storage(compound: Compound, draft: Draft, *folder: str) -> None:
    """Read the document in a storage of an OLE2 file."""
    main = compound.read(*folder, "worddocument")
    if len(main) < 0x60:
        draft.report_problem(Problem.CORRUPT)
        return
    flags = struct.unpack_from("<H", main, 0x0A)[0]
    if flags & _IS_ENCRYPTED:
        draft.add_metadata("encrypted", "true")
        draft.report_problem(Problem.ENCRYPTED)
        return
    version = struct.unpack_from("<H", main, 0x02)[0]
    if version < _WORD_97:
        _Text(draft, _old_pieces(main, is_complex=bool(flags & _IS_COMPLEX))).read([("", 1 << 30)])
        return
    table = compound.read(*folder, "1table" if flags & _OTHER_TABLE else "0table")
    table = table or compound.read(*folder, "0table") or compound.read(*folder, "1table")
    pieces = list(_limit_pieces(_decode_piece(main, *found) for found in _piece_table(_table_part(main, table, 0x1A2))))
    text = _Text(
        draft,
        pieces or [_single_piece(main)],
        _FormattingTable(main, _table_part(main, table, 0x102), are_paragraphs=True),
        _FormattingTable(main, _table_part(main, table, 0xFA), are_paragraphs=False),
        NumberingLists(table, *_offset_and_size(main, 0x2E2), *_offset_and_size(main, 0x2EA))
        if len(main) >= 0x2F2
        else None,
    )
    text.read([(name, max(struct.unpack_from("<i", main, at)[0], 0)) for name, at in _STORIES])


def _offset_and_size(main: bytes, at: int) -> tuple[int, int]:
    offset, size = struct.unpack_from("<II", main, at)
    return offset, size


def _table_part(main: bytes, table: bytes, at: int) -> bytes:
    if len(main) < at + 8:
        return b""
    offset, size = _offset_and_size(main, at)
    return table[offset : offset + size]


def _old_pieces(main: bytes, *, is_complex: bool) -> list[_Piece]:
    """The pieces of a document of Word 6 or 95: one byte per character, in the code page of the language."""
    encoding = _PAGES.get(struct.unpack_from("<H", main, 0x06)[0], "cp1252")
    start, end = struct.unpack_from("<II", main, 0x18)
    if is_complex and len(main) >= 0x168:
        pieces = []
        for begin, count, offset in _piece_table(_table_part(main, main, 0x160))[:_MOST_PIECES]:
            place, end = offset & 0x3FFFFFFF, (offset & 0x3FFFFFFF) + min(count, MOST_TEXT)
            pieces.append(_Piece(begin, main[place:end].decode(encoding, "replace"), place, 1))
        if pieces:
            return list(_limit_pieces(pieces))
    return [_Piece(0, main[start:end].decode(encoding, "replace"), start, 1)]


def _piece_table(table: bytes) -> list[tuple[int, int, int]]:
    """Read the piece table: for each piece its start in the text, its number of characters, its file position."""
    at = 0
    while at + 5 <= len(table) and table[at] == 1:  # skip the formatting before the table
        at += 3 + int.from_bytes(table[at + 1 : at + 3], "little")
    if at + 5 > len(table) or table[at] != 2:
        return []
    plc = table[at + 5 : at + 5 + int.from_bytes(table[at + 1 : at + 5], "little")]
    count = (len(plc) - 4) // 12
    places = [int.from_bytes(plc[4 * number : 4 * number + 4], "little") for number in range(count + 1)]
    descriptors = 4 * (count + 1)
    return [
        (start, max(end - start, 0), struct.unpack_from("<I", plc, descriptors + 8 * number + 2)[0])
        for number, (start, end) in enumerate(pairwise(places))
    ]


def _limit_pieces(pieces: Iterable[_Piece]) -> Iterator[_Piece]:
    """Yield pieces up to the limit on text: overlapping pieces could make it grow."""
    room = 2 * MOST_TEXT
    for count, piece in enumerate(pieces):
        if room <= 0 or count >= _MOST_PIECES:
            return
        room -= len(piece.text)
        yield piece


def _single_piece(main: bytes) -> _Piece:
    """The whole text as one piece, if the piece table is missing: it is contiguous unless fast-saved."""
    start, end = struct.unpack_from("<II", main, 0x18)
    data = main[start:end]
    is_wide = data.count(b"\0") * 4 > len(data)
    return _Piece(0, data.decode("utf-16-le" if is_wide else "cp1252", "replace"), start, 2 if is_wide else 1)


def _decode_piece(main: bytes, start: int, count: int, offset: int) -> _Piece:
    if offset & 0x40000000:
        offset = (offset & 0x3FFFFFFF) // 2
        return _Piece(start, main[offset : offset + count].decode("cp1252", "replace"), offset, 1)
    text = main[offset : offset + 2 * count].decode("utf-16-le", "replace")
    return _Piece(start, text, offset, 2)


class _FormattingTable:
    """The formatting by position in the stream; stored in pages of 512 bytes that a table lists."""

    def __init__(self, main: bytes, table: bytes, *, are_paragraphs: bool) -> None:
        self._starts: list[int] = []
        self._formatting: list[_Formatting] = []
        count = max((len(table) - 4) // 8, 0)
        for number in range(count):
            page = int.from_bytes(table[4 * (count + 1) + 4 * number :][:4], "little") & 0x3FFFFF
            self._add(main[page * _PAGE : (page + 1) * _PAGE], are_paragraphs=are_paragraphs)
        if any(later < earlier for earlier, later in pairwise(self._starts)):
            order = sorted(range(len(self._starts)), key=self._starts.__getitem__)
            self._starts = [self._starts[index] for index in order]
            self._formatting = [self._formatting[index] for index in order]

    def _add(self, page: bytes, *, are_paragraphs: bool) -> None:
        if len(page) < _PAGE:
            return
        count = page[511]
        width = 13 if are_paragraphs else 1
        if 4 * (count + 1) + width * count > 511:
            return
        for number in range(count):
            at = 2 * page[4 * (count + 1) + width * number]
            self._starts.append(int.from_bytes(page[4 * number : 4 * number + 4], "little"))
            self._formatting.append(
                _paragraph_formatting(page, at) if are_paragraphs else _character_formatting(page, at)
            )

    def at(self, place: int) -> _Formatting:
        found = bisect_right(self._starts, place) - 1
        return self._formatting[found] if found >= 0 else _NO_FORMATTING

    def next_after(self, place: int) -> int:
        """The next position at which the formatting may change."""
        found = bisect_right(self._starts, place)
        return self._starts[found] if found < len(self._starts) else 1 << 60


def _paragraph_formatting(page: bytes, at: int) -> _Formatting:
    if not at or at + 2 > 511:
        return _NO_FORMATTING
    size, start = 2 * page[at] - 1, at + 1
    if page[at] == 0:
        size, start = 2 * page[at + 1], at + 2
    data = page[start : start + size]
    operators = dict(_operators(data[2:]))
    return _Formatting(
        style=int.from_bytes(data[:2], "little"),
        ends_row=bool(operators.get(_ROW_END)),
        outline=operators.get(_OUTLINE, 9),
        depth=operators.get(_DEPTH, 0),
        list_number=operators.get(_LIST, 0),
    )


def _character_formatting(page: bytes, at: int) -> _Formatting:
    if not at:
        return _NO_FORMATTING
    operators = dict(_operators(page[at + 1 : at + 1 + page[at]]))
    return _Formatting(
        bold=operators.get(_BOLD) in (1, 0x81),
        italic=operators.get(_ITALIC) in (1, 0x81),
        is_hidden=bool(operators.get(_DELETED)) or operators.get(_HIDDEN) == 1,
    )


def _operators(data: bytes) -> Iterator[tuple[int, int]]:
    at = 0
    while at + 3 <= len(data):
        operator = int.from_bytes(data[at : at + 2], "little")
        size, at = _SIZES[operator >> 13], at + 2
        if size < 0:
            size = int.from_bytes(data[at : at + 2], "little") + 1 if operator == 0xD608 else data[at] + 1
        yield operator, int.from_bytes(data[at : at + min(size, 4)], "little")
        at += size


class _Text:
    """Writes the pieces of the text to the draft, with their formatting, fields, tables and numbering."""

    def __init__(
        self,
        draft: Draft,
        pieces: list[_Piece],
        paragraphs: _FormattingTable | None = None,
        characters: _FormattingTable | None = None,
        lists: NumberingLists | None = None,
    ) -> None:
        self._draft, self._pieces, self._paragraphs, self._characters = draft, pieces, paragraphs, characters
        self._lists = lists
        self._runs: list[TextRun] = []
        self._cells: list[list[TextRun]] = []
        self._fields: list[list[str]] = []  # instruction and, once its result begins, the URL
        self._was_cell = False

    def read(self, stories: list[tuple[str, int]]) -> None:
        """Write the stories, given as (name, length) in their order in the text."""
        ends, end = [], 0
        for name, length in stories:
            end += length
            ends.append((end, name))
        for name, pieces in _split_into_stories(self._pieces, ends):
            with self._draft.section("part", name or "text"):
                for piece in pieces:
                    if self._draft.is_full:
                        return
                    self._read_piece(piece)
                self._end_paragraph("\r", _NO_FORMATTING)
                self._end_row()
                self._fields = []

    def _read_piece(self, piece: _Piece) -> None:
        start = 0
        for end in _PARAGRAPH_END.finditer(piece.text):
            self._add_characters(piece, start, end.start())
            start = end.end()
            formatting = (
                self._paragraphs.at(piece.offset + end.start() * piece.width)
                if self._paragraphs is not None
                else _NO_FORMATTING
            )
            self._end_paragraph(end[0], formatting)
        self._add_characters(piece, start, len(piece.text))

    def _add_characters(self, piece: _Piece, start: int, end: int) -> None:
        """Add characters of a piece, split into runs of one formatting."""
        if self._characters is None:
            self._add_run(piece.text[start:end], _NO_FORMATTING)
            return
        while start < end:
            place = piece.offset + start * piece.width
            stop = min(end, start + max((self._characters.next_after(place) - place) // piece.width, 1))
            self._add_run(piece.text[start:stop], self._characters.at(place))
            start = stop

    def _add_run(self, text: str, formatting: _Formatting) -> None:
        start = 0
        for mark in _FIELD.finditer(text):
            self._add_text(text[start : mark.start()], formatting)
            start = mark.end()
            if mark[0] == "\x13":
                self._fields.append(["", ""])
            elif self._fields and mark[0] == "\x14":
                self._fields[-1] = ["shown", hyperlink(self._fields[-1][0])]
            elif self._fields:
                self._fields.pop()
        self._add_text(text[start:], formatting)

    def _add_text(self, text: str, formatting: _Formatting) -> None:
        if not text or formatting.is_hidden:
            return
        if self._fields and self._fields[-1][0] != "shown":
            self._fields[-1][0] = (self._fields[-1][0] + text)[:5_000]
            return
        href = next((field[1] for field in reversed(self._fields) if field[1]), "")
        self._runs.append(TextRun(text.translate(_REPLACED), formatting.bold, formatting.italic, href))

    def _end_paragraph(self, mark: str, formatting: _Formatting) -> None:
        if mark == "\x07":
            self._end_cell(formatting)
            return
        runs, self._runs = self._runs, []
        self._was_cell = False
        number = self._number(formatting) if any(run.text.strip() for run in runs) else ""
        if number:
            runs.insert(0, TextRun(f"{number} "))
        if self._cells and mark == "\r":  # a paragraph in the cell of a table
            self._runs = [*runs, TextRun("\n")]
        elif 1 <= formatting.style <= 9:
            self._draft.heading(formatting.style, runs)
        elif formatting.outline < 9:
            self._draft.heading(formatting.outline + 1, runs)
        elif formatting.list_number and not number:
            self._draft.item(runs)
        else:
            self._draft.paragraph(runs)

    def _number(self, formatting: _Formatting) -> str:
        return (
            self._lists.number(formatting.list_number, formatting.depth)
            if self._lists is not None and formatting.list_number
            else ""
        )

    def _end_cell(self, formatting: _Formatting) -> None:
        is_row_end = formatting.ends_row or (self._paragraphs is None and self._was_cell and not self._runs)
        if is_row_end:
            self._end_row()
            return
        number = self._number(formatting)
        self._cells.append([TextRun(f"{number} "), *self._runs] if number else self._runs)
        self._runs, self._was_cell = [], True

    def _end_row(self) -> None:
        if self._cells:
            self._draft.row(self._cells)
        self._cells, self._was_cell = [], False


def _split_into_stories(pieces: list[_Piece], ends: list[tuple[int, str]]) -> Iterator[tuple[str, list[_Piece]]]:
    """Split the pieces at the given ends of stories: (name, pieces) of each story."""
    rest = list(reversed(pieces))
    for end, name in ends:
        found = []
        while rest and rest[-1].start < end:
            piece = rest.pop()
            room = end - piece.start
            found.append(piece._replace(text=piece.text[:room]))
            if len(piece.text) > room:
                rest.append(_Piece(end, piece.text[room:], piece.offset + room * piece.width, piece.width))
                break
        if found:
            yield name, found
    if rest:
        yield "", list(reversed(rest))
