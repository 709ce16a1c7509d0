"""Read the text in drawings, charts and diagrams of Office Open XML."""

from __future__ import annotations

from typing import Any

from crawler.parse.documents.draft import Draft, TextRun
from crawler.parse.documents.ooxml import Package, Relation
from crawler.parse.documents.xml_tree import attribute, first, local_name, text_of

_DRAWING_RELATIONS = ("chart", "chartEx", "diagramData", "drawing", "chartUserShapes")


def read_drawings(package: Package, part: str) -> None:
    """Read all charts, diagrams and drawings that a part refers to."""
    for kind in _DRAWING_RELATIONS:
        for target in package.related(part, kind):
            root = package.parse_part(target)
            if root is None:
                continue
            if kind.startswith("chart"):
                read_chart(root, package.draft)
            else:
                read_shapes(root, package.draft, package.relations(target))
            if kind in ("drawing", "chart"):
                read_drawings(package, target)


def read_shapes(root: Any, draft: Draft, relations: dict[str, Relation]) -> None:
    """Write the paragraphs of shapes."""
    for element in root.iter("{*}p"):
        draft.paragraph(runs_of(element, relations))


def read_chart(root: Any, draft: Draft) -> None:
    """Write the titles of a chart, then two rows per series: its name with the categories, its name with the values."""
    for element in root.iter("{*}p"):
        draft.paragraph(runs_of(element, {}))
    for series in root.iter("{*}ser"):
        name = _values(first(series, "tx"))
        for axis in ("cat", "xVal", "val", "yVal"):
            values = _values(first(series, axis))
            if values:
                draft.row([*name, *values])
    for element in root.iter("{*}pt"):  # in charts of the newer kind (chartEx)
        if not len(element):
            draft.paragraph(element.text or "")


def _values(element: Any) -> list[str]:
    return [value.text or "" for value in element.iter("{*}v")] if element is not None else []


def runs_of(paragraph: Any, relations: dict[str, Relation]) -> list[TextRun]:
    """The runs of a paragraph (a:p), with formatting and links."""
    runs = []
    for element in paragraph:
        name = local_name(element)
        if name in ("r", "fld"):
            formatting = first(element, "rPr")
            text = "".join(text_of(part) for part in element.iter("{*}t"))
            runs.append(_run(text, formatting, relations))
        elif name == "br":
            runs.append(TextRun("\n"))
        elif name in ("m", "AlternateContent"):
            part = first(element, "Choice") if name == "AlternateContent" else element
            runs.append(TextRun("".join(text_of(text) for text in part.iter("{*}t")) if part is not None else ""))
    return runs


def _run(text: str, formatting: Any, relations: dict[str, Relation]) -> TextRun:
    if formatting is None:
        return TextRun(text)
    clicked = first(formatting, "hlinkClick")
    relation = relations.get(attribute(clicked, "id")) if clicked is not None else None
    href = relation.target if relation is not None and relation.is_external else ""
    return TextRun(text, attribute(formatting, "b") in ("1", "true"), attribute(formatting, "i") in ("1", "true"), href)
