"""Read PowerPoint presentations since 2007 (.pptx and variants)."""

from __future__ import annotations

from typing import Any

from crawler.parse.documents.document import Problem
from crawler.parse.documents.draft import MOST_PARTS, Draft
from crawler.parse.documents.drawings import read_drawings, runs_of
from crawler.parse.documents.ooxml import Package, Relation
from crawler.parse.documents.xml_tree import attribute, first, local_name, text_of

_TITLES = frozenset({"title", "ctrTitle"})
_SHOWN_OF_MASTERS = frozenset({"ftr", "hdr", "dt", "sldNum"})  # placeholders that are shown; others prompt the author


def read(body: bytes, draft: Draft) -> None:
    package = Package(body, draft)
    package.read_properties()
    part = package.main_part("ppt/presentation.xml")
    slides = _slides(package, part)
    draft.add_metadata("slides", len(slides))
    if len(slides) > MOST_PARTS:
        draft.report_problem(Problem.TOO_LARGE)
    seen: set[str] = set()
    for number, slide in enumerate(slides[:MOST_PARTS], 1):
        with draft.section("slide", number):
            _read_slide(package, slide, seen)
    for kind in ("slideMaster", "notesMaster", "handoutMaster"):
        for target in package.related(part, kind):
            _read_master(package, target, seen)
    package.read_links_and_embedded()


def _slides(package: Package, part: str) -> list[str]:
    """The parts of the slides in presentation order; those found in the archive if the list is lost."""
    root, relations = package.parse_part(part), package.relations(part)
    listed = [
        relations[identity].target
        for element in (root.iter("{*}sldId") if root is not None else ())
        if (identity := _relation_id(element)) in relations
    ]
    return listed or package.archive.names("ppt/slides/slide", ".xml")


def _relation_id(element: Any) -> str:
    """The relationship id of a slide; its number is called `id`, too, but without a namespace."""
    return next((str(value) for key, value in element.attrib.items() if key.endswith("}id")), "")


def _read_slide(package: Package, part: str, seen: set[str]) -> None:
    _read_shapes(package, part, is_master=False)
    read_drawings(package, part)
    for notes in package.related(part, "notesSlide"):
        with package.draft.section("part", "notes"):
            _read_shapes(package, notes, is_master=False)
            read_drawings(package, notes)
    for comments in package.related(part, "comments"):
        _read_comments(package, comments)
    for layout in package.related(part, "slideLayout"):
        _read_master(package, layout, seen)
        for master in package.related(layout, "slideMaster"):
            _read_master(package, master, seen)


def _read_master(package: Package, part: str, seen: set[str]) -> None:
    """Read a master or layout, unless it was read before."""
    if part not in seen:
        seen.add(part)
        with package.draft.section("part", "master"):
            _read_shapes(package, part, is_master=True)


def _read_comments(package: Package, part: str) -> None:
    root = package.parse_part(part)
    with package.draft.section("part", "comments"):
        for element in root.iter("{*}cm") if root is not None else ():
            package.draft.paragraph(" ".join(text_of(text) for text in element.iter("{*}text", "{*}t")))


def _read_shapes(package: Package, part: str, *, is_master: bool) -> None:
    root, relations = package.parse_part(part), package.relations(part)
    shapes = first(root, "spTree")
    if shapes is not None:
        _read_group(package, shapes, relations, is_master=is_master)


def _read_group(package: Package, group: Any, relations: dict[str, Relation], *, is_master: bool) -> None:
    for shape in group:
        name = local_name(shape)
        if package.draft.is_full:
            return
        if name in ("sp", "cxnSp"):
            _read_shape(package, shape, relations, is_master=is_master)
        elif name == "graphicFrame" and (table := first(shape, "tbl")) is not None:
            _read_table(package, table, relations)
        elif name == "AlternateContent":
            choice = first(shape, "Choice")
            _read_group(package, shape if choice is None else choice, relations, is_master=is_master)
        elif name == "grpSp":
            _read_group(package, shape, relations, is_master=is_master)


def _read_shape(package: Package, shape: Any, relations: dict[str, Relation], *, is_master: bool) -> None:
    place = first(first(shape, "nvPr"), "ph")
    kind = (attribute(place, "type") or "body") if place is not None else ""
    if is_master and kind and kind not in _SHOWN_OF_MASTERS:
        return
    paragraphs = [runs_of(paragraph, relations) for paragraph in shape.iter("{*}p")]
    for runs in paragraphs:
        if kind in _TITLES:
            package.draft.heading(2, runs)
        else:
            package.draft.paragraph(runs)


def _read_table(package: Package, table: Any, relations: dict[str, Relation]) -> None:
    for row in table.iter("{*}tr"):
        cells = []
        for cell in row.iter("{*}tc"):
            runs = [runs_of(paragraph, relations) for paragraph in cell.iter("{*}p")]
            cells.append("\n".join("".join(run.text for run in part) for part in runs))
        package.draft.row(cells)
