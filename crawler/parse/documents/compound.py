"""OLE2 compound files, the container of the older Office formats: streams, properties and embedded files."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import olefile

from crawler.parse.documents.conversion import embed
from crawler.parse.documents.document import Problem
from crawler.parse.documents.draft import Draft
from crawler.parse.documents.ole_file import OLEFILE_ERRORS, SMALLEST, open_ole, salvage_main_stream
from crawler.parse.documents.properties import property_sets
from crawler.parse.documents.zip_reader import MOST_MEMBER, base_name

MAGIC = olefile.MAGIC
_TITLE = 2
_SUMMARY = {
    3: "subject",
    4: "author",
    5: "keywords",
    6: "description",
    8: "modified_by",
    12: "created",
    13: "modified",
    14: "pages",
    18: "application",
}
_DOCUMENT_SUMMARY = {2: "category", 7: "slides", 14: "manager", 15: "company"}
_NATIVE, _PACKED, _CONTENTS = "\x01ole10native", "package", "contents"
_MOST_EMBEDDED = 100
_LAST_SECTOR = 0xFFFFFFFA  # numbers from here on mean that there is no sector
_MAIN = {
    "worddocument": "ole_word",
    "powerpoint document": "ole_slides",
    "workbook": "ole_sheets",
    "book": "ole_sheets",
}
_MACROS = frozenset({"_vba_project", "macros", "vba", "_vba_project_cur"})


class Compound:
    """An OLE2 file: access to its streams by path, regardless of case."""

    def __init__(self, body: bytes, draft: Draft) -> None:
        self.draft = draft
        if len(body) < SMALLEST:
            draft.report_problem(Problem.TRUNCATED)
            body = body.ljust(SMALLEST, b"\0")
        if _is_truncated(body):
            draft.report_problem(Problem.TRUNCATED)
        self._longest = 4 * len(body)  # bytes of a stream; in a truncated file streams may claim more than is there
        self._salvaged: dict[tuple[str, ...], bytes] = {}
        self._file: Any = None
        try:
            self._file = open_ole(body)
            self.paths: list[tuple[str, ...]] = [tuple(path) for path in self._file.listdir()]
        except OLEFILE_ERRORS:
            draft.report_problem(Problem.CORRUPT)
            self._salvaged = {(name,): stream for name, stream in salvage_main_stream(body).items()}
            self.paths = list(self._salvaged)
        self._by_name = {tuple(part.lower() for part in path): path for path in self.paths}
        self._folders: dict[tuple[str, ...], dict[str, None]] = {}
        for path in self._by_name:
            for depth in range(1, len(path)):
                self._folders.setdefault(path[: depth - 1], {})[path[depth - 1]] = None
        if self._file is not None and self._file.parsing_issues:
            draft.report_problem(Problem.CORRUPT)

    def __contains__(self, path: tuple[str, ...]) -> bool:
        return path in self._by_name

    def folders(self, path: tuple[str, ...]) -> list[str]:
        """The names of the storages in a storage, in lower case."""
        return list(self._folders.get(path, ()))

    def read(self, *path: str) -> bytes:
        """The data of a stream; empty if there is none at this path or it cannot be read."""
        real = self._by_name.get(tuple(part.lower() for part in path))
        if real is None or real in self._salvaged:
            return self._salvaged.get(real or (), b"")
        try:
            if self._file.get_size(list(real)) > self._longest:
                raise ValueError("a stream that is longer than the file")
            data: bytes = self._file.openstream(list(real)).read(min(MOST_MEMBER, max(self.draft.budget.unpacked, 0)))
        except OLEFILE_ERRORS:
            self.draft.report_problem(Problem.CORRUPT)
            return b""
        self.draft.budget.unpacked -= len(data)
        return data

    def read_all(self, read_storage: Callable[[Compound, Draft], None]) -> None:
        """Read a whole file: its properties, its main document, and its embedded files."""
        self.read_properties()
        read_storage(self, self.draft)
        self.read_embedded()

    def read_properties(self) -> None:
        summary = next(property_sets(self.read("\x05summaryinformation")), {})
        self.draft.title = self.draft.title or str(summary.get(_TITLE, ""))
        for number, key in _SUMMARY.items():
            self.draft.add_metadata(key, summary.get(number) or "")
        for sets, properties in enumerate(property_sets(self.read("\x05documentsummaryinformation"))):
            for name, value in properties.items():
                if isinstance(name, str):
                    self.draft.add_metadata(f"custom: {name[:100]}", value)
                elif name in _DOCUMENT_SUMMARY and not sets:
                    self.draft.add_metadata(_DOCUMENT_SUMMARY[name], value or "")
        if any(part in _MACROS for path in self._by_name for part in path):
            self.draft.add_metadata("has_macro", "true")

    def read_embedded(self) -> None:
        """Convert embedded files: those in streams, and documents in storages of their own."""
        for path in [path for path in self.paths if _is_object(path)][:_MOST_EMBEDDED]:
            if self.draft.is_full:
                break
            last, data = path[-1].lower(), self.read(*path)
            if last == _NATIVE:
                read_package(data[4:], self.draft)
            else:
                embed(self.draft, "/".join(path[-2:]), data)
        for path in [path for path in self.paths if len(path) > 1 and path[-1].lower() in _MAIN][:_MOST_EMBEDDED]:
            read_storage(self, path)


def _is_object(path: tuple[str, ...]) -> bool:
    last = path[-1].lower()
    return last == _NATIVE or (last in (_PACKED, _CONTENTS) and (len(path) > 1 or last == _PACKED))


def _is_truncated(body: bytes) -> bool:
    """Whether the header refers to a sector beyond the end of the file."""
    size = 1 << min(int.from_bytes(body[30:32], "little"), 12)
    named = [int.from_bytes(body[at : at + 4], "little") for at in (48, *range(76, 512, 4))]
    return any((sector + 1) * size >= len(body) for sector in named if sector < _LAST_SECTOR)


def read_storage(compound: Compound, path: tuple[str, ...]) -> None:
    """Read a document that is embedded in a storage of its own."""
    module = import_module(f"crawler.parse.documents.{_MAIN[path[-1].lower()]}")
    inner = compound.draft.inner_draft(path[-2])
    with compound.draft.section("file", path[-2]):
        module.read_storage(compound, inner, *path[:-1])


def read(body: bytes, draft: Draft) -> None:
    """Read an OLE2 file of an unknown program: its properties and embedded files."""
    compound = Compound(body, draft)
    if ("encryptedpackage",) in compound:
        draft.add_metadata("encrypted", "true")
        draft.report_problem(Problem.ENCRYPTED)
        return
    compound.read_properties()
    compound.read_embedded()
    if ("contents",) in compound:
        embed(draft, "CONTENTS", compound.read("contents"))


def read_package(data: bytes, draft: Draft) -> None:
    """Read a file wrapped by the Windows Packager (Ole10Native): its names and path, then its data."""
    at = 2
    names = []
    for _ in range(2):
        end = data.find(b"\0", at, at + 1_024)
        if end < 0:
            return
        names.append(data[at:end].decode("cp1252", "replace"))
        at = end + 1
    at += 4  # flags
    size = int.from_bytes(data[at : at + 4], "little")
    path = data[at + 4 : at + 4 + min(size, 1_024)].rstrip(b"\0").decode("cp1252", "replace")
    at += 4 + size
    size = int.from_bytes(data[at : at + 4], "little")
    for name in (*names[1:], path):
        if name:
            draft.paragraph(name)
    embed(draft, names[0] or base_name(path), data[at + 4 : at + 4 + size])
