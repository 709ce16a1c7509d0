"""Office Open XML packages: parts, relationships, properties and embedded files, common to all formats."""

from __future__ import annotations

from posixpath import dirname, normpath
from typing import Any, NamedTuple
from urllib.parse import unquote

from crawler.parse.documents.conversion import embed
from crawler.parse.documents.draft import Draft
from crawler.parse.documents.xml_tree import attribute, iterate_elements, local_name, parse_xml_with_problem, text_of
from crawler.parse.documents.zip_reader import ZipArchive, base_name, open_zip

_PROPERTIES = {
    "creator": "author",
    "subject": "subject",
    "description": "description",
    "keywords": "keywords",
    "language": "language",
    "created": "created",
    "modified": "modified",
    "lastModifiedBy": "modified_by",
    "category": "category",
    "Pages": "pages",
    "Slides": "slides",
    "Company": "company",
    "Manager": "manager",
    "Application": "application",
}
_MOST_EMBEDDED = 100


class Relation(NamedTuple):
    """A relationship of a part to another part or to an external target."""

    kind: str  # the last component of its type: "hyperlink", "header" …
    target: str
    is_external: bool


class Package:
    """An Office Open XML file: access to its parts and their relationships."""

    def __init__(self, body: bytes, draft: Draft) -> None:
        self.draft = draft
        self.archive: ZipArchive = open_zip(body, draft)
        self._relations: dict[str, dict[str, Relation]] = {}

    def parse_part(self, part: str) -> Any:
        """Parse a part and return its root element; None if there is no such part."""
        if not part or part not in self.archive:
            return None
        root, problem = parse_xml_with_problem(self.archive.read(part))
        self.draft.report_problem(problem)
        return root

    def relations(self, part: str) -> dict[str, Relation]:
        """The relationships of a part, by id."""
        if part not in self._relations:
            folder, name = dirname(part), base_name(part)
            path = f"{folder}/_rels/{name}.rels" if folder else f"_rels/{name}.rels"
            self._relations[part] = {
                attribute(element, "Id"): _relation(element, folder)
                for element in iterate_elements(self.archive.read(path), "Relationship")
            }
        return self._relations[part]

    def related(self, part: str, kind: str) -> list[str]:
        """The parts that a part refers to by relationships of this kind, in their order."""
        return [found.target for found in self.relations(part).values() if found.kind == kind and not found.is_external]

    def main_part(self, fallback: str) -> str:
        """The name of the main part, which the package's relationships identify, else the fallback."""
        found = self.related("", "officeDocument")
        return found[0] if found and found[0] in self.archive else fallback

    def read_properties(self) -> None:
        for part in ("docprops/core.xml", "docprops/app.xml"):
            root = self.parse_part(part)
            for element in root.iter() if root is not None else ():
                name, text = local_name(element), (element.text or "").strip()
                if name == "title":
                    self.draft.title = self.draft.title or text
                elif name in _PROPERTIES:
                    self.draft.add_metadata(_PROPERTIES[name], text)
        for element in iterate_elements(self.archive.read("docprops/custom.xml"), "property"):
            self.draft.add_metadata(f"custom: {attribute(element, 'name')[:100]}", text_of(element))
        if self.archive.names(ending="vbaproject.bin"):
            self.draft.add_metadata("has_macro", "true")

    def read_links_and_embedded(self) -> None:
        """Add all external targets of relationships as links, and convert the embedded files."""
        for path in self.archive.names(ending=".rels"):
            for element in iterate_elements(self.archive.read(path), "Relationship"):
                found = _relation(element, "")
                if found.is_external and found.kind == "hyperlink":
                    self.draft.link(found.target)
                elif found.is_external:
                    self.draft.reference(found.target)
        inside = [name for name in self.archive.names() if "/embeddings/" in name.lower()]
        for name in inside[:_MOST_EMBEDDED]:
            embed(self.draft, base_name(name), self.archive.read(name))


def _relation(element: Any, folder: str) -> Relation:
    kind = attribute(element, "Type").rpartition("/")[2]
    target, is_external = attribute(element, "Target"), attribute(element, "TargetMode") == "External"
    if not is_external:
        target = target.lstrip("/") if target.startswith("/") else normpath(f"{folder}/{unquote(target)}").lstrip("/.")
    return Relation(kind, target, is_external)
