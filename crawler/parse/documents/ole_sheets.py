"""Read Excel workbooks up to 2003 (.xls), with cells formatted as Excel shows them."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from crawler.parse.documents.binary_records import packed_number, sheet_records
from crawler.parse.documents.cell_format import BUILT_IN
from crawler.parse.documents.compound import MAGIC, Compound
from crawler.parse.documents.document import Problem
from crawler.parse.documents.draft import MOST_PARTS, Draft, Inline, TextRun
from crawler.parse.documents.sheets import number_text, strip_header_codes

_BEGIN, _END, _CONTINUE, _PASSWORD = {0x809, 0x409, 0x209, 0x009}, 0x0A, 0x3C, 0x2F
_SHEET, _STRINGS, _CODE_PAGE, _SINCE_1904 = 0x85, 0xFC, 0x42, 0x22
_FORMAT, _OLD_FORMAT, _STYLE, _OLD_STYLES = 0x41E, 0x1E, 0xE0, {0x43, 0x243, 0x443}
_LABEL_OF_LIST, _LABEL, _LABEL_2, _RICH_LABEL = 0xFD, 0x204, 0x04, 0xD6
_NUMBER, _NUMBER_2, _INTEGER_2, _RK, _MANY_RK = 0x203, 0x03, 0x02, 0x27E, 0xBD
_FORMULAS, _STRING_RESULTS, _BOOLEAN = {0x06, 0x206, 0x406}, {0x207, 0x07}, {0x205, 0x05}
_HEADER_FOOTER = {0x14, 0x15}  # header, footer
_NOTE, _TEXT_OBJECT, _LINK, _SERIES_TEXT, _SERIES = 0x1C, 0x1B6, 0x1B8, 0x100D, 0x1065
_GLOBALS = 0x0005
_ERRORS = {0x00: "#NULL!", 0x07: "#DIV/0!", 0x0F: "#VALUE!", 0x17: "#REF!", 0x1D: "#NAME?", 0x24: "#NUM!", 0x2A: "#N/A"}
_MOST_CELLS = 500_000
_WIDEST = 200
_ASIAN = {
    932: "cp932",
    936: "gbk",
    949: "cp949",
    950: "big5hkscs",
    1361: "johab",
    10000: "mac_roman",
    32768: "mac_roman",
}


def read(body: bytes, draft: Draft) -> None:
    if not body.startswith(MAGIC):
        _Book(draft).read(body)
        return
    compound = Compound(body, draft)
    compound.read_properties()
    read_storage(compound, draft)
    compound.read_embedded()


def read_storage(compound: Compound, draft: Draft, *folder: str) -> None:
    """Read the workbook in a storage of an OLE2 file."""
    _Book(draft).read(compound.read(*folder, "workbook") or compound.read(*folder, "book"))


class _Book:
    """Processes the records of a workbook and writes its sheets to the draft."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._names: list[str] = []
        self._strings: list[str] = []
        self._formats: dict[int, str] = {}
        self._styles: list[int] = []
        self._encoding = "cp1252"
        self._version = 8
        self._since_1904 = False
        self._rows: dict[int, dict[int, str]] = {}
        self._links: dict[tuple[int, int], str] = {}
        self._texts: list[str] = []
        self._cells = 0
        self._sheets = 0
        self._pending: tuple[int, int] | None = None  # the cell whose formula has the text result that follows
        # For each open substream, the cells of the outer one and the kind of its own.
        self._outer: list[tuple[dict[int, dict[int, str]], int]] = []
        self._charted: list[dict[int, dict[int, str]]] = []

    def read(self, data: bytes) -> None:
        for kind, parts in _join_continued(data):
            if kind == _PASSWORD:
                self._draft.add_metadata("encrypted", "true")
                self._draft.report_problem(Problem.ENCRYPTED)
                return
            if self._cells > _MOST_CELLS or self._draft.is_full or self._sheets > MOST_PARTS:
                self._draft.report_problem(Problem.TOO_LARGE)
                break
            self._process_record(kind, parts)
        if self._rows or self._texts:
            self._end_sheet()  # the end record is missing
        self._draft.add_metadata("sheets", len(self._names) or self._sheets)

    def _process_record(self, kind: int, parts: list[bytes]) -> None:
        body = parts[0]
        if kind in _BEGIN:
            self._outer.append((self._rows, int.from_bytes(body[2:4], "little")))
            self._rows = {}
            self._version = {0x009: 2, 0x209: 3, 0x409: 4}.get(kind, 8 if body[:2] == b"\x00\x06" else 5)
        elif kind == _END:
            self._end_substream()
        elif kind == _STRINGS:
            self._strings = list(_strings(parts))
        elif kind in _HEADER_FOOTER and body:
            self._texts.append(strip_header_codes(self._read_string(body, 2 if self._version == 8 else 1)))
        elif kind == _TEXT_OBJECT and len(parts) > 1:
            self._texts.append(_decode_characters(parts[1][1:], parts[1][0] & 1) if parts[1] else "")
        elif kind == _SERIES and self._rows:  # each series of a chart reuses the same cell positions
            self._charted.append(self._rows)
            self._rows = {}
        elif kind == _SERIES_TEXT:
            self._texts.append(self._read_string(body[2:], 1))
        elif kind == _LINK:
            self._process_link(body)
        elif kind == _NOTE and self._version < 8:
            self._texts.append(body[6:].decode(self._encoding, "replace"))
        elif not self._read_setting(kind, body):
            self._process_cell(kind, body)

    def _read_setting(self, kind: int, body: bytes) -> bool:
        """Process a record that sets names, encoding, formats or styles; whether it is one."""
        if kind == _SHEET:
            name = self._read_string(body[6:], 1)
            self._names.append(name)
        elif kind == _CODE_PAGE:
            page = int.from_bytes(body[:2], "little")
            self._encoding = _ASIAN.get(
                page, f"cp{page}" if 1250 <= page <= 1258 or page in (437, 850, 866, 874) else "cp1252"
            )
        elif kind == _SINCE_1904:
            self._since_1904 = body[:2] == b"\x01\x00"
        elif kind == _FORMAT:
            self._formats[int.from_bytes(body[:2], "little")] = self._read_string(
                body[2:], 2 if self._version == 8 else 1
            )
        elif kind == _OLD_FORMAT:
            self._formats[len(self._formats)] = self._read_string(body, 1)
        elif kind == _STYLE:
            self._styles.append(int.from_bytes(body[2:4], "little"))
        elif kind in _OLD_STYLES:
            self._styles.append(body[1] if len(body) > 1 else 0)
        else:
            return False
        return True

    def _process_cell(self, kind: int, body: bytes) -> None:
        if len(body) < 6:
            if kind in _STRING_RESULTS and self._pending is not None:
                self._set_cell(*self._pending, self._read_string(body, 2))
            return
        row, column, style = struct.unpack_from("<HHH", body)
        if kind == _LABEL_OF_LIST and len(body) >= 10:
            number = struct.unpack_from("<I", body, 6)[0]
            self._set_cell(row, column, self._strings[number] if number < len(self._strings) else "")
        elif kind in (_LABEL, _RICH_LABEL):
            self._set_cell(row, column, self._read_string(body[6:], 2))
        elif kind == _LABEL_2:
            self._set_cell(row, column, self._read_string(body[7:], 1))
        elif kind == _RK and len(body) >= 10:
            self._set_cell(row, column, self._format_number(packed_number(body[6:10]), style))
        elif kind == _MANY_RK:
            for number in range((len(body) - 6) // 6):
                style = struct.unpack_from("<H", body, 4 + 6 * number)[0]
                self._set_cell(
                    row, column + number, self._format_number(packed_number(body[6 + 6 * number :][:4]), style)
                )
        elif kind == _NUMBER and len(body) >= 14:
            self._set_cell(row, column, self._format_number(struct.unpack_from("<d", body, 6)[0], style))
        elif kind == _NUMBER_2 and len(body) >= 15:
            self._set_cell(row, column, self._format_number(struct.unpack_from("<d", body, 7)[0], body[5] & 63))
        elif kind == _INTEGER_2 and len(body) >= 9:
            self._set_cell(row, column, str(struct.unpack_from("<H", body, 7)[0]))
        elif kind in _BOOLEAN and len(body) >= 8:
            self._set_cell(row, column, _boolean(body[6], is_error=body[7] == 1))
        elif kind in _FORMULAS and len(body) >= 14:
            self._process_formula(row, column, style, body)
        elif kind in _STRING_RESULTS and self._pending is not None:
            self._set_cell(*self._pending, self._read_string(body, 2))

    def _process_formula(self, row: int, column: int, style: int, body: bytes) -> None:
        """Read the result of a formula: a number, or eight bytes that indicate text, a boolean or an error."""
        self._pending = None
        if body[12:14] != b"\xff\xff":
            self._set_cell(row, column, self._format_number(struct.unpack_from("<d", body, 6)[0], style))
        elif body[6] == 0:
            self._pending = (row, column)
        elif body[6] in (1, 2):
            self._set_cell(row, column, _boolean(body[8], is_error=body[6] == 2))

    def _set_cell(self, row: int, column: int, text: str) -> None:
        self._cells += 1
        if text:
            self._rows.setdefault(row, {})[column] = text

    def _format_number(self, number: float, style: int) -> str:
        code = self._styles[style] if style < len(self._styles) else 0
        pattern = self._formats.get(code) or BUILT_IN.get(code, "General")
        return number_text(number, str(number), pattern, since_1904=self._since_1904)

    def _read_string(self, body: bytes, size: int) -> str:
        """Read a string preceded by its length in one or two bytes; since version 8 a byte with its width follows."""
        if self._version < 8:
            length = int.from_bytes(body[: min(size, 2)], "little") if self._version > 2 or size == 2 else body[0]
            return body[size : size + length].decode(self._encoding, "replace")
        if len(body) <= size:
            return ""
        length, is_wide = int.from_bytes(body[:size], "little"), body[size] & 1
        return _decode_characters(body[size + 1 : size + 1 + (2 * length if is_wide else length)], is_wide)

    def _process_link(self, body: bytes) -> None:
        """Read a hyperlink: its URL follows the identifier of URL monikers."""
        if len(body) < 8:
            return
        row, _, column = struct.unpack_from("<HHH", body)
        at = body.find(b"\xe0\xc9\xea\x79\xf9\xba\xce\x11\x8c\x82\x00\xaa\x00\x4b\xa9\x0b")
        if at >= 0:
            size = int.from_bytes(body[at + 16 : at + 20], "little")
            url = body[at + 20 : at + 20 + min(size, len(body))].decode("utf-16-le", "replace").partition("\0")[0]
            self._links[row, column] = url

    def _end_substream(self) -> None:
        """Process the end of a substream: of a chart with cells of its own, a sheet, or the workbook globals."""
        outer, kind = self._outer.pop() if self._outer else ({}, 0)
        if self._outer:
            self._charted.append(self._rows)
            self._rows = outer
        elif kind != _GLOBALS:
            self._end_sheet()

    def _end_sheet(self) -> None:
        name = self._names[self._sheets] if self._sheets < len(self._names) else ""
        self._sheets += 1
        with self._draft.section("sheet", name):
            self._draft.heading(2, name, is_title=False)
            for row, cells in sorted(self._rows.items()):
                self._draft.row(self._row_cells(row, cells))
            for chart in self._charted:
                for row, cells in sorted(chart.items()):
                    self._draft.row(self._row_cells(row, cells))
            for text in self._texts:
                self._draft.paragraph(text)
            for url in self._links.values():
                self._draft.link(url)
        self._rows, self._texts, self._links, self._charted = {}, [], {}, []

    def _row_cells(self, row: int, cells: dict[int, str]) -> list[Inline]:
        line: list[Inline] = []
        for column, text in sorted(cells.items()):
            line += [""] * min(column - len(line), _WIDEST)
            line.append([TextRun(text, href=self._links.get((row, column), ""))])
        return line


def _join_continued(data: bytes) -> Iterator[tuple[int, list[bytes]]]:
    """Iterate over records, each with the records that continue it."""
    kind, parts = -1, []
    for found, body in sheet_records(data):
        if found == _CONTINUE and kind >= 0:
            parts.append(body)
            continue
        if kind >= 0:
            yield kind, parts
        kind, parts = found, [body]
    if kind >= 0:
        yield kind, parts


def _decode_characters(data: bytes, is_wide: int) -> str:
    return data.decode("utf-16-le" if is_wide else "latin-1", "replace")


def _boolean(value: int, *, is_error: bool) -> str:
    return _ERRORS.get(value, "#ERROR") if is_error else "TRUE" if value else "FALSE"


def _strings(parts: list[bytes]) -> Iterator[str]:
    """Read the shared strings; a string split between records continues in the next after a byte with its width."""
    reader = _Segments(parts)
    count = int.from_bytes(reader.take(8)[4:], "little")
    for _ in range(min(count, sum(map(len, parts)))):
        head = reader.take(3)
        if len(head) < 3:
            return
        length, flags = int.from_bytes(head[:2], "little"), head[2]
        rich = int.from_bytes(reader.take(2), "little") if flags & 8 else 0
        extra = int.from_bytes(reader.take(4), "little") if flags & 4 else 0
        yield reader.text(length, flags & 1)
        reader.take(4 * rich + extra)


class _Segments:
    """Reads bytes and strings across the boundaries of continued records."""

    def __init__(self, parts: list[bytes]) -> None:
        self._parts, self._part, self._at = parts, 0, 0

    def take(self, size: int) -> bytes:
        taken = b""
        while size and self._part < len(self._parts):
            piece = self._parts[self._part][self._at : self._at + size]
            taken += piece
            size -= len(piece)
            self._at += len(piece)
            if size:
                self._part, self._at = self._part + 1, 0
        return taken

    def text(self, length: int, is_wide: int) -> str:
        texts = []
        while length and self._part < len(self._parts):
            size = 2 * length if is_wide else length
            piece = self._parts[self._part][self._at : self._at + size]
            texts.append(_decode_characters(piece, is_wide))
            self._at += len(piece)
            length -= len(piece) // 2 if is_wide else len(piece)
            if length:
                self._part += 1
                is_wide = (
                    self._parts[self._part][0] & 1 if self._part < len(self._parts) and self._parts[self._part] else 0
                )
                self._at = 1
        return "".join(texts)
