"""Read documents of Pages, Keynote and Numbers up to 2009, which are XML in a ZIP file."""

from __future__ import annotations

from typing import Any

from crawler.parse.coding import plain_body
from crawler.parse.documents.draft import Draft
from crawler.parse.documents.xml_tree import attribute, first, local_name, parse_xml_with_problem
from crawler.parse.documents.zip_reader import MOST_MEMBER, open_zip

_INDEXES = ("index.xml", "index.apxl", "index.xml.gz", "index.apxl.gz")
_PROPERTIES = {"authors": "author", "keywords": "keywords", "comment": "description", "copyright": "rights"}
_PLACEHOLDERS = ("{*}title-placeholder", "{*}body-placeholder")  # of masters: their text only prompts the author
_BREAKS = frozenset({"br", "lnbr", "crbr", "pgbr", "intratopicbr"})


def read(body: bytes, draft: Draft) -> None:
    archive = open_zip(body, draft)
    name = next((name for name in _INDEXES if name in archive), "")
    data = archive.read(name)
    if name.endswith(".gz"):
        data = plain_body(data, [("content-encoding", "gzip")], limit=min(MOST_MEMBER, draft.budget.unpacked)).data
    root, problem = parse_xml_with_problem(data)
    draft.report_problem(problem)
    if root is None:
        return
    _read_properties(root, draft)
    for element in root.iter():
        if draft.is_full:
            break
        _add(element, draft)


def _read_properties(root: Any, draft: Draft) -> None:
    for metadata in root.iter("{*}metadata"):
        for element in metadata:
            text = ", ".join(filter(None, (attribute(part, "string") for part in element.iter("{*}string"))))
            if local_name(element) == "title":
                draft.title = draft.title or text
            elif local_name(element) in _PROPERTIES:
                draft.add_metadata(_PROPERTIES[local_name(element)], text)
    language = first(root, "language")
    draft.add_metadata(
        "language", attribute(first(language, "string"), "string") if first(language, "string") is not None else ""
    )


def _add(element: Any, draft: Draft) -> None:
    name = local_name(element)
    if name == "p":
        hint = next(element.iterancestors(*_PLACEHOLDERS), None)
        if hint is None or next(hint.iterancestors("{*}master-slide"), None) is None:
            draft.paragraph("".join(_texts(element)))
    elif name == "ct":  # the text of a cell
        draft.paragraph(attribute(element, "s"))
    elif name in ("n", "rn"):  # its number
        draft.paragraph(attribute(element, "v"))
    elif name == "d":
        draft.paragraph(attribute(element, "cell-date"))


def _texts(paragraph: Any) -> list[str]:
    texts = [paragraph.text or ""]
    for element in paragraph.iter():
        if element is not paragraph:
            name = local_name(element)
            texts.append("\n" if name in _BREAKS else "\t" if name == "tab" else element.text or "")
            texts.append(element.tail or "")
    return texts
