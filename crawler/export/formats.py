"""The file formats of exports by name, their interface, and lists of deletions for formats that have none."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import BinaryIO, Protocol, Self

from crawler.export.files import atomic_file
from crawler.export.parquet import ParquetFormat
from crawler.export.records import JsonLinesFormat, RecordFormat, collection_line
from crawler.export.trec import trectext, trecweb
from crawler.items import DeletedDocument, ExportEntry, identifier

DELETED_SUFFIX = "deleted"  # of the list of deleted ids beside a file whose format has no deletions


class FormatWriter(Protocol):
    """Writes the entries of one file to a stream that the caller opens and closes."""

    def write(self, entry: ExportEntry) -> None:
        """Write an entry, perhaps only into memory."""

    def finish(self) -> None:
        """Write buffered entries and the footer. Without this the file is incomplete."""


class FileFormat(Protocol):
    """A file format for exported entries."""

    @property
    def suffix(self) -> str:
        """The suffix of file names, without the dot."""

    @property
    def has_deletions(self) -> bool:
        """Whether deletions can be written. If not, `write` must not be given one: see `DocumentsOnlyWriter`."""

    def with_fields(self, fields: Iterable[str]) -> Self:
        """The same format with these fields only, and those of `fields.REQUIRED_FIELDS`.

        `Misconfigured` if there is no such field, or if the format has fixed fields.
        """

    def open(self, stream: BinaryIO) -> FormatWriter:
        """Start a file on this stream."""


FORMATS: Mapping[str, FileFormat] = {
    "jsonl": JsonLinesFormat(),
    "parquet": ParquetFormat(),
    "jsoncollection": RecordFormat(suffix="jsonl", record_of=collection_line),  # Anserini looks for this suffix
    "trecweb": RecordFormat(suffix="trecweb", record_of=trecweb),
    "trectext": RecordFormat(suffix="trectext", record_of=trectext),
}


class DocumentsOnlyWriter:
    """Writes entries in a format; if it has no deletions, collects their ids for a list beside the file.

    A reader takes the documents first and then leaves out those on the list, so a document that came back after its
    deletion is removed from the list.
    """

    def __init__(self, form: FileFormat, stream: BinaryIO) -> None:
        self.deleted: dict[str, None] = {}  # ids, in order
        self._writer = form.open(stream)
        self._has_deletions = form.has_deletions

    def write(self, entry: ExportEntry) -> None:
        if self._has_deletions:
            self._writer.write(entry)
        elif isinstance(entry, DeletedDocument):
            self.deleted[identifier(entry.key)] = None
        else:
            self.deleted.pop(identifier(entry.key), None)
            self._writer.write(entry)

    def finish(self) -> None:
        self._writer.finish()


def write_deleted(path: Path, ids: Collection[str]) -> None:
    """Write the list FILE.deleted beside a file, one id per line; without ids, remove a list of an earlier export.

    Must be called before the file gets its final name, so that no reader finds a file whose list is missing.
    """
    beside = path.with_name(f"{path.name}.{DELETED_SUFFIX}")
    if not ids:
        beside.unlink(missing_ok=True)
        return
    with atomic_file(beside) as file:
        file.write(deleted_lines(ids))


def deleted_lines(ids: Iterable[str]) -> bytes:
    return "".join(f"{identity}\n" for identity in ids).encode()
