"""Read Visio drawings since 2013 (.vsdx): the text in their shapes."""

from __future__ import annotations

from crawler.parse.documents.document import Problem
from crawler.parse.documents.draft import MOST_PARTS, Draft
from crawler.parse.documents.ooxml import Package
from crawler.parse.documents.xml_tree import attribute, first, text_of


def read(body: bytes, draft: Draft) -> None:
    package = Package(body, draft)
    package.read_properties()
    listing = "visio/pages/pages.xml"
    root, relations = package.parse_part(listing), package.relations(listing)
    pages = list(root.iter("{*}Page")) if root is not None else []
    draft.add_metadata("pages", len(pages))
    if len(pages) > MOST_PARTS:
        draft.report_problem(Problem.TOO_LARGE)
    for page in pages[:MOST_PARTS]:
        name, link = attribute(page, "Name"), first(page, "Rel")
        relation = relations.get(attribute(link, "id")) if link is not None else None
        with draft.section("page", name):
            draft.heading(2, name, is_title=False)
            shapes = package.parse_part(relation.target) if relation is not None else None
            for text in shapes.iter("{*}Text") if shapes is not None else ():
                draft.paragraph(text_of(text).strip())
    package.read_links_and_embedded()
