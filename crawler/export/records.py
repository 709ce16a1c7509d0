"""Formats that are a plain sequence of records: JSON lines, the TREC formats, Anserini's JsonCollection."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import BinaryIO, Self

from crawler.errors import Misconfigured
from crawler.export.documents import fields_of, json_line, safe_json
from crawler.export.fields import FIELDS, with_required_fields
from crawler.items import ExportedDocument, ExportEntry, identifier


class RecordWriter:
    """Writes each entry as one record; the file needs no header and no footer."""

    def __init__(self, stream: BinaryIO, record_of: Callable[[ExportEntry], bytes]) -> None:
        self._stream = stream
        self._record_of = record_of

    def write(self, entry: ExportEntry) -> None:
        self._stream.write(self._record_of(entry))

    def finish(self) -> None:
        """Nothing to do: these formats have no footer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonLinesFormat:
    """One JSON object per line, for documents and deletions."""

    suffix: str = "jsonl"
    has_deletions: bool = True
    fields: frozenset[str] = frozenset(FIELDS)

    def with_fields(self, fields: Iterable[str]) -> Self:
        return replace(self, fields=with_required_fields(fields))

    def open(self, stream: BinaryIO) -> RecordWriter:
        return RecordWriter(stream, json_line if self.fields.issuperset(FIELDS) else self._line)

    def _line(self, entry: ExportEntry) -> bytes:
        facts = {name: fact for name, fact in fields_of(entry).items() if name in self.fields}
        return safe_json(facts).encode() + b"\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordFormat:
    """A format defined by others, with fixed fields and without deletions."""

    suffix: str
    record_of: Callable[[ExportedDocument], bytes]
    has_deletions: bool = False

    def with_fields(self, fields: Iterable[str]) -> Self:
        raise Misconfigured(
            f"{', '.join(sorted(fields))}: fields can be chosen for jsonl and parquet only; this format has its own. "
            "Nothing was exported."
        )

    def open(self, stream: BinaryIO) -> RecordWriter:
        return RecordWriter(stream, self._record)

    def _record(self, entry: ExportEntry) -> bytes:
        assert isinstance(entry, ExportedDocument), "a deletion has no place in this format"
        return self.record_of(entry)


def collection_line(document: ExportedDocument) -> bytes:
    """A line of the JsonCollection that Anserini and Pyserini read: they index the field `contents`."""
    facts = {
        "id": identifier(document.key),
        "contents": f"{document.title}\n{document.text}",
        "url": document.url,
        "title": document.title,
        "language": document.language,
    }
    return safe_json(facts).encode() + b"\n"
