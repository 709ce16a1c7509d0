"""Read Excel workbooks since 2007 (.xlsx and variants), with cells formatted as Excel shows them."""

from __future__ import annotations

import re
from functools import lru_cache
from string import digits
from typing import Any

from crawler.parse.documents.cell_format import BUILT_IN, format_value, plain_number
from crawler.parse.documents.document import Problem
from crawler.parse.documents.draft import MOST_PARTS, Draft, Inline, TextRun
from crawler.parse.documents.drawings import read_drawings
from crawler.parse.documents.ooxml import Package, Relation
from crawler.parse.documents.xml_tree import attribute, first, iterate_elements, local_name, text_of

# Codes in headers: &L, &C and &R start the left, centre and right part; the others are formatting or fields.
_CODE = re.compile(r'&(?:[LCR]|"[^"]*"|K[0-9A-F]{6}|K\d\d[+-]\d{3}|\d{1,3}|[A-Z]|(&))')
_COLUMN = re.compile(r"[A-Z]{1,3}")
_WIDEST = 200  # empty cells written before one with content


def read(body: bytes, draft: Draft) -> None:
    package = Package(body, draft)
    package.read_properties()
    part = package.main_part("xl/workbook.xml")
    book = _Workbook(package, part)
    sheets = book.sheets()
    draft.add_metadata("sheets", len(sheets))
    if len(sheets) > MOST_PARTS:
        draft.report_problem(Problem.TOO_LARGE)
    for name, target in sheets[:MOST_PARTS]:
        with draft.section("sheet", name):
            draft.heading(2, name, is_title=False)
            book.read_sheet(target)
    for target in package.related(part, "externalLink"):
        _read_external_links(package, target)
    package.read_links_and_embedded()


def _read_external_links(package: Package, part: str) -> None:
    """Write the programs and topics that cells get their values from by DDE."""
    root = package.parse_part(part)
    for link in root.iter("{*}ddeLink", "{*}oleLink") if root is not None else ():
        package.draft.paragraph(f"{attribute(link, 'ddeService')}|{attribute(link, 'ddeTopic')}")


class _Workbook:
    """A workbook: reads its sheets with the strings and formats that they share."""

    def __init__(self, package: Package, part: str) -> None:
        self._package, self._part, self._draft = package, part, package.draft
        self._root = package.parse_part(part)
        properties = first(self._root, "workbookPr")
        self._since_1904 = properties is not None and attribute(properties, "date1904") in ("1", "true")
        self._strings = [rich_text(element) for element in iterate_elements(self._part_data("sharedStrings"), "si")]
        self._formats = _formats(package.parse_part((package.related(part, "styles") or [""])[0]))

    def _part_data(self, kind: str) -> bytes:
        found = self._package.related(self._part, kind)
        return self._package.archive.read(found[0]) if found else b""

    def sheets(self) -> list[tuple[str, str]]:
        """The names and parts of the sheets in order; those found in the archive if the list is lost."""
        relations = self._package.relations(self._part)
        listed = [
            (attribute(element, "name"), relations[attribute(element, "id")].target)
            for element in (self._root.iter("{*}sheet") if self._root is not None else ())
            if attribute(element, "id") in relations
        ]
        return listed or [(name, name) for name in self._package.archive.names("xl/worksheets/", ".xml")]

    def read_sheet(self, part: str) -> None:
        links = self._links(part)
        for element in iterate_elements(self._package.archive.read(part), "row", "headerFooter"):
            if self._draft.is_full:
                break
            if local_name(element) == "row":
                self._draft.row(self._read_row(element, links))
            else:
                for text in element:
                    self._draft.paragraph(strip_header_codes(text.text or ""))
        for kind in ("comments", "threadedComment"):
            for target in self._package.related(part, kind):
                for comment in iterate_elements(self._package.archive.read(target), "comment", "threadedComment"):
                    self._draft.paragraph(text_of(comment))
        read_drawings(self._package, part)

    def _links(self, part: str) -> dict[str, str]:
        """The targets of hyperlinks, by cell."""
        relations: dict[str, Relation] = self._package.relations(part)
        if not any(found.kind == "hyperlink" for found in relations.values()):
            return {}
        return {
            attribute(element, "ref").partition(":")[0]: relations[attribute(element, "id")].target
            for element in iterate_elements(self._package.archive.read(part), "hyperlink")
            if attribute(element, "id") in relations
        }

    def _read_row(self, row: Any, links: dict[str, str]) -> list[Inline]:
        cells: list[Inline] = []
        for cell in row:
            name = cell.get("r") or ""
            missing = column_of(name.rstrip(digits)) - len(cells) if name else 0
            cells += [""] * min(missing, _WIDEST)
            text = self._cell_text(cell)
            cells.append([TextRun(text, href=links[name])] if name in links else text)
        return cells

    def _cell_text(self, cell: Any) -> str:
        kind = cell.get("t")
        if kind == "inlineStr":
            return rich_text(cell)
        value = cell.findtext("{*}v") or ""
        if kind == "s":
            return self._strings[int(value)] if value.isdigit() and int(value) < len(self._strings) else ""
        if kind == "b":
            return "TRUE" if value == "1" else "FALSE"
        if kind in ("str", "e", "d") or not value:
            return value
        try:
            number = float(value)
        except ValueError:
            return value
        style = cell.get("s") or "0"
        pattern = self._formats[int(style)] if style.isdigit() and int(style) < len(self._formats) else "General"
        return number_text(number, value, pattern, since_1904=self._since_1904)


def number_text(number: float, written: str, pattern: str, *, since_1904: bool) -> str:
    """Format the number of a cell by its pattern; `written` is used for numbers that cannot be formatted."""
    if pattern == "General" or number != number or abs(number) > 1e300:
        return plain_number(number) if abs(number) <= 1e300 else written
    return format_value(number, pattern, since_1904=since_1904)


def rich_text(element: Any) -> str:
    """The text of a string with formatted parts, without phonetic readings."""
    texts = [text.text or "" for text in element.iter("{*}t") if local_name(text.getparent()) != "rPh"]
    return "".join(texts)


def strip_header_codes(text: str) -> str:
    """Remove the formatting codes of a header or footer.

    >>> strip_header_codes('&L&"Arial,Bold"&12Left&CPage &P&RR&&D')
    'Left Page  R&D'
    """
    return _CODE.sub(lambda code: code[1] or (" " if code[0] in ("&C", "&R") else ""), text).strip()


@lru_cache(maxsize=1_024)
def column_of(name: str) -> int:
    """The index of a column from its name, starting at 0.

    >>> column_of("A"), column_of("AB")
    (0, 27)
    """
    found = _COLUMN.match(name)
    number = 0
    for letter in found[0] if found is not None else "":
        number = number * 26 + ord(letter) - 64
    return max(number - 1, 0)


def _formats(root: Any) -> list[str]:
    """The number format of each cell style."""
    own = {
        attribute(element, "numFmtId"): attribute(element, "formatCode")
        for element in (root.iter("{*}numFmt") if root is not None else ())
    }
    styles = first(root, "cellXfs")
    numbers = (
        [attribute(style, "numFmtId") for style in styles if local_name(style) == "xf"] if styles is not None else []
    )
    return [own.get(number) or BUILT_IN.get(int(number) if number.isdigit() else 0, "General") for number in numbers]
