"""Read PowerPoint presentations of 97 to 2003 (.ppt)."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

from crawler.parse.documents.binary_records import SlideRecord, slide_records
from crawler.parse.documents.compound import Compound
from crawler.parse.documents.conversion import embed
from crawler.parse.documents.document import Problem
from crawler.parse.documents.draft import MOST_PARTS, Draft

_DOCUMENT, _SLIDE, _NOTES, _MASTER, _HANDOUT = 0x03E8, 0x03EE, 0x03F0, 0x03F8, 0x0FC9
_SLIDE_PERSIST, _LIST_WITH_TEXT = 0x03F3, 0x0FF0
_TEXT_HEADER, _CHARACTERS, _BYTES, _STRING = 0x0F9F, 0x0FA0, 0x0FA8, 0x0FBA
_SHAPE, _PLACEHOLDER, _HEADERS = 0xF004, 0x0BC3, 0x0FD9
_USER_EDIT, _PERSIST_DIRECTORY = 0x0FF5, 0x1772
_HYPERLINK, _OBJECT_LIST, _OBJECT, _COMMENT = 0x0FD7, 0x0409, 0x1011, 0x2EE0
_ENCRYPTED = 0xF3D1C4DF
_TITLES = frozenset({0, 6})
_SHOWN_OF_MASTERS = frozenset({7, 8, 9, 10})  # date, number, footer, header; the others only prompt the author
_MOST_EDITS = 1_000
_MOST_OBJECTS = 100
_MOST_UNPACKED = 32 << 20
_DEEPEST = 50
_MOST_RECORDS = 500_000  # about a second; slides may overlap in a hostile file


def read(body: bytes, draft: Draft) -> None:
    Compound(body, draft).read_all(read_storage)


def read_storage(compound: Compound, draft: Draft, *folder: str) -> None:
    """Read the presentation in a storage of an OLE2 file."""
    data, user = compound.read(*folder, "powerpoint document"), compound.read(*folder, "current user")
    if len(user) >= 16 and int.from_bytes(user[12:16], "little") == _ENCRYPTED:
        draft.add_metadata("encrypted", "true")
        draft.report_problem(Problem.ENCRYPTED)
        return
    _Presentation(data, user, draft).read()


class _Presentation:
    """Reads the records of a presentation and writes its slides, notes and masters to the draft."""

    def __init__(self, data: bytes, user: bytes, draft: Draft) -> None:
        self._data, self._draft = data, draft
        self._persisted = dict(
            _persist_directory(data, int.from_bytes(user[16:20], "little") if len(user) >= 20 else 0)
        )
        self._kind = 1  # of the next text: 0 and 6 are titles
        self._objects = self._visited = 0

    def read(self) -> None:
        """Read the current objects by the persist directory; all records if that is lost."""
        live = [found for at in dict.fromkeys(self._persisted.values()) for found in self._first_record(at)]
        records = live or list(slide_records(self._data, 0, len(self._data)))
        if not any(record.kind == _DOCUMENT for record in records):
            self._draft.report_problem(Problem.CORRUPT)
        listed = self._read_document([record for record in records if record.kind == _DOCUMENT][-1:])
        slides = [record for record in records if record.kind == _SLIDE and record.start not in listed]
        self._draft.add_metadata("slides", len(slides) + len(listed))
        for record in slides[:MOST_PARTS]:
            with self._draft.section("part", "slide"):
                self._write_texts(record)
        for kind, name in ((_NOTES, "notes"), (_MASTER, "master"), (_HANDOUT, "handout")):
            for record in [record for record in records if record.kind == kind][:MOST_PARTS]:
                with self._draft.section("part", name):
                    self._write_texts(record, is_master=kind != _NOTES)
        for record in records:
            if record.kind == _OBJECT:
                self._read_object(record)

    def _first_record(self, at: int) -> Iterator[SlideRecord]:
        for record in slide_records(self._data, at, len(self._data)):
            yield record
            return

    def _read_document(self, documents: list[SlideRecord]) -> set[int]:
        """Read the slides that the document lists, its links and headers; return the offsets of those slides."""
        listed: set[int] = set()
        for document in documents:
            for record in slide_records(self._data, document.start, document.end):
                if record.kind == _LIST_WITH_TEXT and record.instance == 0:
                    listed |= self._read_list(record)
                elif record.kind == _OBJECT_LIST:
                    self._read_links(record)
                elif record.kind == _HEADERS:
                    self._write_texts(record, with_strings=True)
        return listed

    def _read_list(self, listing: SlideRecord) -> set[int]:
        listed: set[int] = set()
        texts: list[SlideRecord] = []
        number = slide = 0
        for record in [
            *slide_records(self._data, listing.start, listing.end),
            SlideRecord(_SLIDE_PERSIST, 0, 0, 0, is_container=False),
        ]:
            if record.kind != _SLIDE_PERSIST:
                texts.append(record)
                continue
            if number and number <= MOST_PARTS:
                with self._draft.section("slide", number):
                    for text in texts:
                        self._write_text(text)
                    for found in self._first_record(self._persisted[slide]) if slide in self._persisted else ():
                        listed.add(found.start)
                        self._write_texts(found)
            texts, number = [], number + 1
            slide = int.from_bytes(self._data[record.start : record.start + 4], "little")
        if number > MOST_PARTS + 1:
            self._draft.report_problem(Problem.TOO_LARGE)
        return listed

    def _write_texts(
        self, parent: SlideRecord, *, is_master: bool = False, with_strings: bool = False, depth: int = 0
    ) -> None:
        for record in slide_records(self._data, parent.start, parent.end):
            self._visited += 1
            if self._draft.is_full or depth > _DEEPEST or self._visited > _MOST_RECORDS:
                self._draft.report_problem(Problem.TOO_LARGE)
                return
            if is_master and record.kind == _SHAPE and self._is_empty_placeholder(record):
                continue
            if record.is_container:
                strings = with_strings or record.kind in (_HEADERS, _COMMENT)
                self._write_texts(record, is_master=is_master, with_strings=strings, depth=depth + 1)
            elif record.kind == _STRING:
                if with_strings:
                    self._write_text(record)
            else:
                self._write_text(record)

    def _is_empty_placeholder(self, shape: SlideRecord) -> bool:
        for record in slide_records(self._data, shape.start, shape.end):
            for inner in slide_records(self._data, record.start, record.end) if record.is_container else ():
                if inner.kind == _PLACEHOLDER and inner.start + 4 < len(self._data):
                    return self._data[inner.start + 4] not in _SHOWN_OF_MASTERS
        return False

    def _write_text(self, record: SlideRecord) -> None:
        raw = self._data[record.start : record.end]
        if record.kind == _TEXT_HEADER:
            self._kind = int.from_bytes(raw[:4], "little")
        elif record.kind in (_CHARACTERS, _STRING, _BYTES):
            text = raw.decode("cp1252" if record.kind == _BYTES else "utf-16-le", "replace").replace("\x0b", "\n")
            for paragraph in text.split("\r"):
                if self._kind in _TITLES and record.kind != _STRING:
                    self._draft.heading(2, paragraph.replace("\n", " "))
                elif paragraph.strip() != "*":  # a placeholder for a date or a number
                    self._draft.paragraph(paragraph)

    def _read_links(self, listing: SlideRecord) -> None:
        for record in slide_records(self._data, listing.start, listing.end):
            if record.kind != _HYPERLINK:
                continue
            strings = {
                inner.instance: self._data[inner.start : inner.end].decode("utf-16-le", "replace")
                for inner in slide_records(self._data, record.start, record.end)
                if inner.kind == _STRING
            }
            self._draft.link(strings.get(1, ""), strings.get(0, ""))

    def _read_object(self, record: SlideRecord) -> None:
        self._objects += 1
        data = self._data[record.start : record.end]
        if self._objects > _MOST_OBJECTS:
            return
        if record.instance == 1:
            try:
                data = zlib.decompressobj().decompress(
                    data[4:], min(_MOST_UNPACKED, max(self._draft.budget.unpacked, 1))
                )
            except zlib.error:
                return
            self._draft.budget.unpacked -= len(data)
        embed(self._draft, f"object {self._objects}", data)


def _persist_directory(data: bytes, edit: int) -> Iterator[tuple[int, int]]:
    """The ids and offsets of the current objects; those of later edits come last."""
    edits = []
    for _ in range(_MOST_EDITS):
        if not 0 < edit <= len(data) - 32 or struct.unpack_from("<H", data, edit + 2)[0] != _USER_EDIT or edit in edits:
            break
        edits.append(edit)
        edit = struct.unpack_from("<I", data, edit + 16)[0]
    for at in reversed(edits):
        directory = struct.unpack_from("<I", data, at + 20)[0]
        for record in slide_records(data, directory, len(data)):
            if record.kind == _PERSIST_DIRECTORY:
                yield from _directory_entries(data[record.start : record.end])
            break


def _directory_entries(entries: bytes) -> Iterator[tuple[int, int]]:
    at = 0
    while at + 4 <= len(entries):
        head = struct.unpack_from("<I", entries, at)[0]
        first, count = head & 0xFFFFF, head >> 20
        at += 4
        for number in range(min(count, (len(entries) - at) // 4)):
            yield first + number, struct.unpack_from("<I", entries, at + 4 * number)[0]
        at += 4 * count
