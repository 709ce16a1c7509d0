"""Formats that are one record after another, with nothing before the first and nothing behind the last."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import BinaryIO, Self

from crawler.errors import Misconfigured
from crawler.export.documents import facts_of, json_line, safe_json
from crawler.export.fields import FIELDS, chosen
from crawler.items import ExportedDocument, ExportEntry, identifier


class RecordWriter:
    """Turns each entry into its bytes."""

    def __init__(self, stream: BinaryIO, record_of: Callable[[ExportEntry], bytes]) -> None:
        self._stream = stream
        self._record_of = record_of

    def write(self, entry: ExportEntry) -> None:
        self._stream.write(self._record_of(entry))

    def finish(self) -> None:
        """There is nothing to end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonLinesFormat:
    """One JSON object a line, deletions too."""

    suffix: str = "jsonl"
    has_deletions: bool = True
    fields: frozenset[str] = frozenset(FIELDS)

    def keeping(self, fields: Iterable[str]) -> Self:
        return replace(self, fields=chosen(fields))

    def open(self, stream: BinaryIO) -> RecordWriter:
        return RecordWriter(stream, json_line if self.fields.issuperset(FIELDS) else self._line)

    def _line(self, entry: ExportEntry) -> bytes:
        facts = {name: fact for name, fact in facts_of(entry).items() if name in self.fields}
        return safe_json(facts).encode() + b"\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordFormat:
    """Documents in a form that somebody else has laid down, in which nothing can be said of one that is no more."""

    suffix: str
    record_of: Callable[[ExportedDocument], bytes]
    has_deletions: bool = False

    def keeping(self, fields: Iterable[str]) -> Self:
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
    """As the JsonCollection of Anserini and Pyserini has it: what is searched is in `contents`."""
    facts = {
        "id": identifier(document.key),
        "contents": f"{document.title}\n{document.text}",
        "url": document.url,
        "title": document.title,
        "language": document.language,
    }
    return safe_json(facts).encode() + b"\n"
