"""What can a file of documents look like?"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import BinaryIO, Protocol, Self

from crawler.export.files import whole_file
from crawler.export.parquet import ParquetFormat
from crawler.export.records import JsonLinesFormat, RecordFormat, collection_line
from crawler.export.trec import trectext, trecweb
from crawler.items import DeletedDocument, ExportEntry, identifier

DELETED = "deleted"  # suffix of a list of ids beside a file that cannot say of a document that it is no more


class FormatWriter(Protocol):
    """Writes one file into a stream that others open and close."""

    def write(self, entry: ExportEntry) -> None:
        """Take one, perhaps only into memory."""

    def finish(self) -> None:
        """Write what ends the file. Without this it is not whole."""


class FileFormat(Protocol):
    """How entries become a file."""

    @property
    def suffix(self) -> str:
        """Of file names, without the dot."""

    @property
    def has_deletions(self) -> bool:
        """Whether a deletion can be written into the stream. If not, `write` must not get one: see `DocumentsOnlyWriter`."""

    def keeping(self, fields: Iterable[str]) -> Self:
        """The same with these fields only, and those that `fields.ALWAYS` names.

        `Misconfigured` if there is no such field, or if fields cannot be chosen.
        """

    def open(self, stream: BinaryIO) -> FormatWriter:
        """Begin a file."""


FORMATS: Mapping[str, FileFormat] = {
    "jsonl": JsonLinesFormat(),
    "parquet": ParquetFormat(),
    "jsoncollection": RecordFormat(suffix="jsonl", record_of=collection_line),  # by other names it is not found
    "trecweb": RecordFormat(suffix="trecweb", record_of=trecweb),
    "trectext": RecordFormat(suffix="trectext", record_of=trectext),
}


class DocumentsOnlyWriter:
    """Writes the documents, and remembers the deletions if the format has none.

    Who reads takes the documents first, then leaves out those that were deleted: a document that came back after its
    deletion is not among them any more.
    """

    def __init__(self, form: FileFormat, stream: BinaryIO) -> None:
        self.deleted: dict[str, None] = {}  # ids in their order
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
    """FILE.deleted beside a file, one id a line; a list that was there before goes if there is nothing to say.

    To be written before the file has its name, so that nobody finds a file whose list is missing.
    """
    beside = path.with_name(f"{path.name}.{DELETED}")
    if not ids:
        beside.unlink(missing_ok=True)
        return
    with whole_file(beside) as file:
        file.write(deleted_lines(ids))


def deleted_lines(ids: Iterable[str]) -> bytes:
    return "".join(f"{identity}\n" for identity in ids).encode()
