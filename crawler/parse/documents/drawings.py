"""The words in drawings, charts and diagrams of Office Open XML."""

from __future__ import annotations

from typing import Any

from crawler.parse.documents.draft import Draft, TextRun
from crawler.parse.documents.ooxml import Package, Relation
from crawler.parse.documents.xml_tree import attribute, first, local_name, text_of

_DRAWING_RELATIONS = ("chart", "chartEx", "diagramData", "drawing", "chartUserShapes")


def read_drawings(package: Package, part: str) -> None:
    """All charts, diagrams and drawings that a part refers to."""
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
    """A paragraph for each of theirs."""
    for element in root.iter("{*}p"):
        draft.paragraph(runs_of(element, relations))


def read_chart(root: Any, draft: Draft) -> None:
    """Its titles, then a row for each series: its name, its categories; its name, its values."""
    for element in root.iter("{*}p"):
        draft.paragraph(runs_of(element, {}))
    for series in root.iter("{*}ser"):
        name = _values(first(series, "tx"))
        for axis in ("cat", "xVal", "val", "yVal"):
            values = _values(first(series, axis))
            if values:
                draft.row([*name, *values])
    for element in root.iter("{*}pt"):  # of charts of the newer kind
        if not len(element):
            draft.paragraph(element.text or "")


def _values(element: Any) -> list[str]:
    return [value.text or "" for value in element.iter("{*}v")] if element is not None else []


def runs_of(paragraph: Any, relations: dict[str, Relation]) -> list[TextRun]:
    """An a:p with its looks and links."""
    runs = []
    for element in paragraph:
        name = local_name(element)
        if name in ("r", "fld"):
            look = first(element, "rPr")
            text = "".join(text_of(part) for part in element.iter("{*}t"))
            runs.append(_run(text, look, relations))
        elif name == "br":
            runs.append(TextRun("\n"))
        elif name in ("m", "AlternateContent"):
            part = first(element, "Choice") if name == "AlternateContent" else element
            runs.append(TextRun("".join(text_of(text) for text in part.iter("{*}t")) if part is not None else ""))
    return runs


def _run(text: str, look: Any, relations: dict[str, Relation]) -> TextRun:
    if look is None:
        return TextRun(text)
    clicked = first(look, "hlinkClick")
    relation = relations.get(attribute(clicked, "id")) if clicked is not None else None
    href = relation.target if relation is not None and relation.is_external else ""
    return TextRun(text, attribute(look, "b") in ("1", "true"), attribute(look, "i") in ("1", "true"), href)
