"""Read EPUB books: their chapters in reading order."""

from __future__ import annotations

from posixpath import dirname, normpath
from typing import Any
from urllib.parse import unquote

from crawler.parse.documents.document import Problem
from crawler.parse.documents.draft import MOST_PARTS, Draft
from crawler.parse.documents.html import read as read_page
from crawler.parse.documents.xml_tree import attribute, first, local_name, parse_xml, text_of
from crawler.parse.documents.zip_reader import ZipArchive, open_zip

_PROPERTIES = {
    "creator": "author",
    "language": "language",
    "publisher": "publisher",
    "description": "description",
    "subject": "subject",
    "date": "created",
    "identifier": "identifier",
    "rights": "rights",
}
_PAGES = (".xhtml", ".html", ".htm", ".xml")


def read(body: bytes, draft: Draft) -> None:
    archive = open_zip(body, draft)
    if "META-INF/encryption.xml" in archive and "META-INF/rights.xml" in archive:
        draft.add_metadata("encrypted", "true")
        draft.report_problem(Problem.ENCRYPTED)
    chapters = _chapters(archive, draft)
    draft.add_metadata("chapters", len(chapters))
    if len(chapters) > MOST_PARTS:
        draft.report_problem(Problem.TOO_LARGE)
    for name in chapters[:MOST_PARTS]:
        if draft.is_full:
            break
        chapter = draft.inner_draft(name)
        with draft.section("chapter", name):
            read_page(archive.read(name), chapter)


def _chapters(archive: ZipArchive, draft: Draft) -> list[str]:
    """The chapters that the book's spine lists; all its pages if the list is lost."""
    path = _package(archive)
    root = parse_xml(archive.read(path))
    listed = _spine(root, dirname(path)) if root is not None else []
    if root is not None:
        _read_properties(root, draft)
    listed = [name for name in listed if name in archive]
    return listed or [name for name in archive.names() if name.lower().endswith(_PAGES) and "META-INF" not in name]


def _package(archive: ZipArchive) -> str:
    found = first(parse_xml(archive.read("META-INF/container.xml")), "rootfile")
    if found is not None:
        return attribute(found, "full-path")
    return next(iter(archive.names(ending=".opf")), "")


def _spine(root: Any, folder: str) -> list[str]:
    files = {attribute(item, "id"): attribute(item, "href") for item in root.iter("{*}item")}
    names = [files.get(attribute(item, "idref"), "") for item in root.iter("{*}itemref")]
    return [normpath(f"{folder}/{unquote(name)}").lstrip("/.") for name in dict.fromkeys(names) if name]


def _read_properties(root: Any, draft: Draft) -> None:
    metadata = first(root, "metadata")
    for element in metadata.iter() if metadata is not None else ():
        name, text = local_name(element), text_of(element).strip()
        if name == "title":
            draft.title = draft.title or text
        elif name in _PROPERTIES:
            draft.add_metadata(_PROPERTIES[name], text)
