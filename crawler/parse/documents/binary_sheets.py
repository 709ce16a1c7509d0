"""Read binary Excel workbooks (.xlsb): the parts of .xlsx, with records in place of XML."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from crawler.parse.documents.binary_records import packed_number
from crawler.parse.documents.cell_format import BUILT_IN
from crawler.parse.documents.document import Problem
from crawler.parse.documents.draft import MOST_PARTS, Draft, Inline
from crawler.parse.documents.drawings import read_drawings
from crawler.parse.documents.ooxml import Package
from crawler.parse.documents.sheets import number_text, strip_header_codes

_ROW, _RK, _ERROR, _BOOLEAN, _REAL, _STRING, _SHARED = 0, 2, 3, 4, 5, 6, 7
_STRING_RESULT, _NUMBER_RESULT, _BOOLEAN_RESULT = 8, 9, 10
_SHARED_STRING, _SHEET, _WORKBOOK, _HEADERS, _COMMENT = 19, 156, 153, 479, 637
_FORMAT, _STYLE, _BEGIN_STYLES, _END_STYLES = 44, 47, 617, 618
_WIDEST = 200


def read(body: bytes, draft: Draft) -> None:
    package = Package(body, draft)
    package.read_properties()
    _Workbook(package, package.main_part("xl/workbook.bin")).read()
    package.read_links_and_embedded()


class _Workbook:
    """Reads the sheets of a workbook, with its shared strings and formats."""

    def __init__(self, package: Package, part: str) -> None:
        self._package, self._part, self._draft = package, part, package.draft
        self._strings = [_text(body, 1)[0] for kind, body in self._records("sharedStrings") if kind == _SHARED_STRING]
        self._formats: list[str] = []
        self._since_1904 = False
        self._read_styles()

    def _records(self, kind: str) -> Iterator[tuple[int, bytes]]:
        found = self._package.related(self._part, kind)
        return records(self._package.archive.read(found[0]) if found else b"")

    def _read_styles(self) -> None:
        own: dict[int, str] = {}
        is_cells = False
        for kind, body in self._records("styles"):
            if kind == _FORMAT and len(body) >= 6:
                own[int.from_bytes(body[:2], "little")] = _text(body, 2)[0]
            elif kind in (_BEGIN_STYLES, _END_STYLES):
                is_cells = kind == _BEGIN_STYLES
            elif kind == _STYLE and is_cells:
                number = int.from_bytes(body[2:4], "little")
                self._formats.append(own.get(number) or BUILT_IN.get(number, "General"))

    def read(self) -> None:
        relations = self._package.relations(self._part)
        sheets = []
        for kind, body in records(self._package.archive.read(self._part)):
            if kind == _WORKBOOK:
                self._since_1904 = bool(body[:1] and body[0] & 1)
            elif kind == _SHEET:
                identity, at = _text(body, 8)
                sheets.append((_text(body, at)[0], relations[identity].target if identity in relations else ""))
        self._draft.add_metadata("sheets", len(sheets))
        if len(sheets) > MOST_PARTS:
            self._draft.report_problem(Problem.TOO_LARGE)
        for name, part in sheets[:MOST_PARTS]:
            with self._draft.section("sheet", name):
                self._draft.heading(2, name, is_title=False)
                self._read_sheet(part)

    def _read_sheet(self, part: str) -> None:
        cells: list[Inline] = []
        for kind, body in records(self._package.archive.read(part)):
            if self._draft.is_full:
                break
            if kind == _ROW:
                self._draft.row(cells)
                cells = []
            elif kind == _HEADERS:
                self._read_headers(body)
            elif kind <= _BOOLEAN_RESULT and len(body) >= 8:
                column = int.from_bytes(body[:4], "little")
                cells += [""] * min(max(column - len(cells), 0), _WIDEST)
                cells.append(self._cell_text(kind, body))
        self._draft.row(cells)
        for target in self._package.related(part, "comments"):
            for kind, body in records(self._package.archive.read(target)):
                if kind == _COMMENT:
                    self._draft.paragraph(_text(body, 1)[0])
        read_drawings(self._package, part)

    def _read_headers(self, body: bytes) -> None:
        at = 2
        for _ in range(6):
            text, at = _text(body, at)
            self._draft.paragraph(strip_header_codes(text))

    def _cell_text(self, kind: int, body: bytes) -> str:
        style = int.from_bytes(body[4:7], "little")
        if kind in (_STRING, _STRING_RESULT):
            return _text(body, 8)[0]
        if kind == _SHARED and len(body) >= 12:
            number = int.from_bytes(body[8:12], "little")
            return self._strings[number] if number < len(self._strings) else ""
        if kind in (_BOOLEAN, _BOOLEAN_RESULT) and len(body) >= 9:
            return "TRUE" if body[8] else "FALSE"
        if kind == _RK and len(body) >= 12:
            return self._format_number(packed_number(body[8:12]), style)
        if kind in (_REAL, _NUMBER_RESULT) and len(body) >= 16:
            return self._format_number(struct.unpack_from("<d", body, 8)[0], style)
        return ""

    def _format_number(self, number: float, style: int) -> str:
        pattern = self._formats[style] if style < len(self._formats) else "General"
        return number_text(number, str(number), pattern, since_1904=self._since_1904)


def records(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Iterate over records as (kind, data); the kind has one or two bytes, the size up to four, with 7 bits each."""
    at = 0
    while at < len(data):
        kind = data[at]
        at += 1
        if kind & 0x80 and at < len(data):
            kind, at = (kind & 0x7F) | (data[at] & 0x7F) << 7, at + 1
        size = 0
        for shift in (0, 7, 14, 21):
            if at >= len(data):
                return
            octet, at = data[at], at + 1
            size |= (octet & 0x7F) << shift
            if not octet & 0x80:
                break
        yield kind, data[at : at + size]
        at += size


def _text(body: bytes, at: int) -> tuple[str, int]:
    """A string preceded by its length, and the offset of its end; a length of 0xFFFFFFFF means no string."""
    count = int.from_bytes(body[at : at + 4], "little")
    if count == 0xFFFFFFFF or len(body) < at + 4:
        return "", at + 4
    end = at + 4 + 2 * min(count, len(body))
    return body[at + 4 : end].decode("utf-16-le", "replace"), end
