"""Read XML other than office documents: the text of its elements, a line each."""

from __future__ import annotations

from typing import Any

from crawler.parse.documents.draft import Draft
from crawler.parse.documents.xml_tree import attribute, local_name, parse_xml_with_problem
from crawler.urls.schemes import WEB_SCHEMES

_TITLES = ("title", "Title", "book-title", "entry_title")


def read(body: bytes, draft: Draft) -> None:
    root, problem = parse_xml_with_problem(body)
    draft.report_problem(problem)
    if root is None:
        return
    draft.add_metadata("root", local_name(root))
    for element in root.iter():
        if draft.is_full:
            break
        _add(element, draft)


def _add(element: Any, draft: Draft) -> None:
    """Write the text of an element and its tail; its descendants are written by themselves."""
    name = local_name(element)
    if name:
        text = (element.text or "").strip()
        if name in _TITLES:
            draft.title = draft.title or text
        draft.paragraph(text)
        href = attribute(element, "href")
        if href.startswith(WEB_SCHEMES):
            draft.link(href, text)
    draft.paragraph((element.tail or "").strip())
