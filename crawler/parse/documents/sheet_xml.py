"""Read Excel 2003 workbooks in XML (SpreadsheetML)."""

from __future__ import annotations

from typing import Any

from crawler.parse.documents.draft import Draft, Inline, TextRun
from crawler.parse.documents.xml_tree import attribute, local_name, parse_xml_with_problem, text_of

_PROPERTIES = {
    "Author": "author",
    "Created": "created",
    "LastSaved": "modified",
    "Company": "company",
    "Subject": "subject",
}
_WIDEST = 200


def read(body: bytes, draft: Draft) -> None:
    root, problem = parse_xml_with_problem(body)
    draft.report_problem(problem)
    if root is None:
        return
    for element in root.iter("{*}DocumentProperties"):
        for part in element:
            if local_name(part) == "Title":
                draft.title = part.text or ""
            elif local_name(part) in _PROPERTIES:
                draft.add_metadata(_PROPERTIES[local_name(part)], part.text or "")
    sheets = list(root.iter("{*}Worksheet"))
    draft.add_metadata("sheets", len(sheets))
    for sheet in sheets:
        name = attribute(sheet, "Name")
        with draft.section("sheet", name):
            draft.heading(2, name, is_title=False)
            for row in sheet.iter("{*}Row"):
                draft.row(_row(row))
            for part in sheet.iter("{*}Header", "{*}Footer"):
                draft.paragraph(attribute(part, "Data"))


def _row(row: Any) -> list[Inline]:
    cells: list[Inline] = []
    for cell in row.iter("{*}Cell"):
        index = attribute(cell, "Index")
        missing = int(index) - 1 - len(cells) if index.isdigit() and len(index) < 6 else 0
        cells += [""] * min(missing, _WIDEST)
        text = "\n".join(text_of(data) for data in cell.iter("{*}Data"))
        cells.append([TextRun(text, href=attribute(cell, "HRef"))])
    return cells
