"""OLE2, the file system in a file of the older Office programs: its streams, properties, and things embedded."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from io import BytesIO
from typing import Any

import olefile

from crawler.parse.documents.conversion import embed
from crawler.parse.documents.document import Problem
from crawler.parse.documents.draft import Draft
from crawler.parse.documents.packed import MOST_MEMBER, base_name

MAGIC = olefile.MAGIC
_SMALLEST = olefile.MINIMAL_OLEFILE_SIZE
_PROPERTIES = {
    "author": "author",
    "subject": "subject",
    "keywords": "keywords",
    "comments": "description",
    "last_saved_by": "modified_by",
    "creating_application": "application",
    "num_pages": "pages",
    "slides": "slides",
    "company": "company",
    "manager": "manager",
    "category": "category",
}
_NATIVE, _PACKED, _CONTENTS = "\x01ole10native", "package", "contents"
_MOST_EMBEDDED = 100
_MACROS = frozenset({"_vba_project", "macros", "vba", "_vba_project_cur"})


class Compound:
    """The streams of a file, by paths without regard to case."""

    def __init__(self, body: bytes, draft: Draft) -> None:
        self.draft = draft
        if len(body) < _SMALLEST:
            draft.trouble(Problem.TRUNCATED)
            body = body.ljust(_SMALLEST, b"\0")
        self.file = olefile.OleFileIO(BytesIO(body), raise_defects=olefile.DEFECT_FATAL)
        self.paths: list[tuple[str, ...]] = [tuple(path) for path in self.file.listdir()]
        self._by_name = {tuple(part.lower() for part in path): path for path in self.paths}
        if self.file.parsing_issues:
            draft.trouble(Problem.TRUNCATED if len(body) < _expected(body) else Problem.CORRUPT)

    def __contains__(self, path: tuple[str, ...]) -> bool:
        return path in self._by_name

    def read(self, *path: str) -> bytes:
        """Nothing if there is no such stream, or if it cannot be read."""
        real = self._by_name.get(tuple(part.lower() for part in path))
        if real is None:
            return b""
        try:
            data: bytes = self.file.openstream(list(real)).read(min(MOST_MEMBER, max(self.draft.budget.unpacked, 0)))
        except (OSError, ValueError, IndexError, struct.error):
            self.draft.trouble(Problem.CORRUPT)
            return b""
        self.draft.budget.unpacked -= len(data)
        return data

    def read_properties(self) -> None:
        try:
            found: Any = self.file.get_metadata()
        except (OSError, ValueError, IndexError, KeyError, TypeError, struct.error, OverflowError, AttributeError):
            return
        self.draft.title = self.draft.title or _text(found.title, found.codepage)
        for name, key in _PROPERTIES.items():
            self.draft.note(key, _text(getattr(found, name, None), found.codepage))
        for name, key in (("create_time", "created"), ("last_saved_time", "modified")):
            moment = getattr(found, name, None)
            if isinstance(moment, datetime) and moment.year > 1601:
                self.draft.note(key, moment.replace(microsecond=0).isoformat())
        if any(part.lower() in _MACROS for path in self.paths for part in path):
            self.draft.note("has_macro", "true")

    def read_embedded(self) -> None:
        """Files in streams; other storages that hold a document are read as if they were files."""
        for count, path in enumerate(path for path in self.paths if _is_object(path)):
            if count >= _MOST_EMBEDDED or self.draft.is_full:
                break
            last, data = path[-1].lower(), self.read(*path)
            if last == _NATIVE:
                read_package(data[4:], self.draft)
            else:
                embed(self.draft, "/".join(path[-2:]), data)


def _is_object(path: tuple[str, ...]) -> bool:
    last = path[-1].lower()
    return last == _NATIVE or (last in (_PACKED, _CONTENTS) and (len(path) > 1 or last == _PACKED))


def _expected(body: bytes) -> int:
    """How long the file should be, as far as its tables of sectors tell."""
    sectors, shift = struct.unpack_from("<I", body, 44)[0], struct.unpack_from("<H", body, 30)[0]
    return int(sectors) << min(shift, 12)


def read(body: bytes, draft: Draft) -> None:
    """A file of no program that we know: its properties, and what is embedded."""
    compound = Compound(body, draft)
    if ("encryptedpackage",) in compound:
        draft.note("encrypted", "true")
        draft.trouble(Problem.ENCRYPTED)
        return
    compound.read_properties()
    compound.read_embedded()
    if ("contents",) in compound:
        embed(draft, "CONTENTS", compound.read("contents"))


def read_package(data: bytes, draft: Draft) -> None:
    """A file as the packager of Windows wraps it: its name, its path, where it came from, its data."""
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


def top_names(body: bytes) -> frozenset[str]:
    """The names of the streams and storages at the top, in lower case."""
    with suppress(OSError, ValueError, IndexError, struct.error):
        with olefile.OleFileIO(BytesIO(body.ljust(_SMALLEST, b"\0"))) as file:
            return frozenset(path[0].lower() for path in file.listdir())
    return frozenset(_names(body))


def _names(body: bytes) -> Iterator[str]:
    """All that look like a name in a directory, for want of a directory."""
    for name in ("WordDocument", "PowerPoint Document", "Workbook", "__properties_version1.0", "Quill"):
        if name.encode("utf-16-le") + b"\0\0" in body:
            yield name.lower()


def _text(value: object, code_page: object) -> str:
    if isinstance(value, bytes):
        number = code_page % 65_536 if isinstance(code_page, int) else 1252
        encoding = "utf-8" if number == 65_001 else f"cp{number}"
        try:
            return value.rstrip(b"\0").decode(encoding, "replace").strip("\0")
        except LookupError:
            return value.rstrip(b"\0").decode("cp1252", "replace")
    return str(value) if isinstance(value, str) or (isinstance(value, int) and value > 0) else ""
