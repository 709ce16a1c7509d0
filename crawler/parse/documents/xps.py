"""Read XPS files (.xps): the text of printed pages, line by line."""

from __future__ import annotations

import re
from typing import Any

from crawler.parse.documents.document import Problem
from crawler.parse.documents.draft import MOST_PARTS, Draft
from crawler.parse.documents.ooxml import Package
from crawler.parse.documents.xml_tree import attribute

_NUMBERS = re.compile(r"\d+")


def read(body: bytes, draft: Draft) -> None:
    package = Package(body, draft)
    package.read_properties()
    pages = sorted(package.archive.names(ending=".fpage"), key=_page_order)
    draft.add_metadata("pages", len(pages))
    if len(pages) > MOST_PARTS:
        draft.report_problem(Problem.TOO_LARGE)
    for number, name in enumerate(pages[:MOST_PARTS], 1):
        with draft.section("page", number):
            _read_page(package.parse_part(name), draft)


def _page_order(name: str) -> tuple[list[int], str]:
    return [int(number[:9]) for number in _NUMBERS.findall(name)], name


def _read_page(root: Any, draft: Draft) -> None:
    """Write a page: glyphs at the same height form a line."""
    line: list[str] = []
    height = ""
    for glyphs in root.iter("{*}Glyphs") if root is not None else ():
        text = attribute(glyphs, "UnicodeString").removeprefix("{}")
        if attribute(glyphs, "OriginY") != height:
            draft.paragraph("".join(line))
            line, height = [], attribute(glyphs, "OriginY")
        line.append(text if not line or line[-1].endswith(" ") else f" {text}")
        href = attribute(glyphs, "FixedPage.NavigateUri")
        if href:
            draft.link(href, text)
    draft.paragraph("".join(line))
