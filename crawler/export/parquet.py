"""The format Parquet: documents and deletions as rows of a columnar table, for analysis of a whole collection."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, BinaryIO, Final, Self

from crawler.errors import Misconfigured
from crawler.export.characters import encode_utf8
from crawler.export.documents import fields_of
from crawler.export.fields import FIELDS, with_required_fields
from crawler.items import DeletedDocument, ExportEntry

_MAX_ROWS: Final = 4_096  # of a row group
_MAX_BYTES: Final = 64_000_000  # of text in a row group, about
_DICTIONARY_COLUMNS: Final = ("host", "content_type", "language", "format", "problem", "tier", "event", "evidence")
_STATISTICS_COLUMNS: Final = ("id", "url", "host", "fetched_at", "status", "version")  # queried by ranges


@dataclass(frozen=True, slots=True, kw_only=True)
class ParquetFormat:
    """Parquet, compressed with zstd. A deletion is a row in which `deleted` is true."""

    suffix: str = "parquet"
    has_deletions: bool = True
    fields: frozenset[str] = frozenset(FIELDS)

    def with_fields(self, fields: Iterable[str]) -> Self:
        return replace(self, fields=with_required_fields(fields))

    def open(self, stream: BinaryIO) -> ParquetWriter:
        return ParquetWriter(stream, self.fields)


class ParquetWriter:
    """Buffers rows, and writes them as row groups."""

    def __init__(self, stream: BinaryIO, fields: frozenset[str] = frozenset(FIELDS)) -> None:
        self._arrow, parquet = _libraries()
        self._schema = _schema(self._arrow, fields)
        self._columns: dict[str, list[object]] = {name: [] for name in self._schema.names}
        self._size = 0
        self._guarded = _GuardedStream(stream)
        with self._guarded.allowing_writes():
            self._writer = parquet.ParquetWriter(
                self._guarded,
                self._schema,
                compression="zstd",
                use_dictionary=[name for name in _DICTIONARY_COLUMNS if name in fields],
                write_statistics=[name for name in _STATISTICS_COLUMNS if name in fields],
            )

    def write(self, entry: ExportEntry) -> None:
        row = _row(entry)
        for name, column in self._columns.items():
            column.append(row.get(name))
        self._size += _text_bytes(row)
        if self._size >= _MAX_BYTES or len(self._columns["id"]) >= _MAX_ROWS:
            self._flush()

    def finish(self) -> None:
        self._flush()
        with self._guarded.allowing_writes():
            self._writer.close()

    def _flush(self) -> None:
        """Write the buffered rows as a row group."""
        if not self._columns["id"]:
            return
        arrays = []
        for field in self._schema:
            arrays.append(self._arrow.array(self._columns[field.name], field.type))
            self._columns[field.name].clear()  # at once: the texts are in memory twice already
        self._size = 0
        with self._guarded.allowing_writes():
            self._writer.write_batch(self._arrow.record_batch(arrays, schema=self._schema))


class _GuardedStream:
    """A stream that passes on only what is written inside an `allowing_writes` block.

    The library writes the footer of an abandoned file, too, when it is garbage-collected: the file would look complete.
    """

    closed = False  # read by the library

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._is_open = False

    @contextmanager
    def allowing_writes(self) -> Iterator[None]:
        self._is_open = True
        try:
            yield
        finally:
            self._is_open = False

    def write(self, data: bytes) -> int:
        return self._stream.write(data) if self._is_open else len(data)

    def flush(self) -> None:
        if self._is_open:
            self._stream.flush()


def _libraries() -> tuple[Any, Any]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise Misconfigured(
            "The format parquet needs pyarrow, which is not installed. Nothing was exported: "
            "pip install 'orbweaver[parquet]'."
        ) from error
    return pa, pq


def _schema(arrow: Any, fields: frozenset[str]) -> Any:
    """The schema for these fields; it does not depend on the documents."""
    text = arrow.string()

    def rows(**columns: Any) -> Any:
        return arrow.list_(arrow.struct(list(columns.items())))

    types = {
        "fetched_at": arrow.timestamp("us", tz="UTC"),
        "status": arrow.int32(),
        "blocks": rows(text=text, tag=text, importance=arrow.float64()),
        "similarity": arrow.float64(),
        "relevance": arrow.float64(),
        "anchors": rows(host=text, text=text),
        "links": rows(id=text, url=text, anchor=text, rel=text),
        "noarchive": arrow.bool_(),
        "deleted": arrow.bool_(),
        "version": arrow.int64(),
    }
    return arrow.schema(
        arrow.field(name, types.get(name, text), nullable=name not in ("id", "url", "deleted", "version"))
        for name in FIELDS
        if name in fields
    )


def _row(entry: ExportEntry) -> dict[str, object]:
    """The fields as in JSON, except that texts are UTF-8 bytes and the time is a number."""
    facts = {name: _encode_texts(fact) for name, fact in fields_of(entry).items()}
    if isinstance(entry, DeletedDocument):
        return facts
    return facts | {"fetched_at": round(entry.fetched * 1e6), "deleted": False}


def _encode_texts(fact: object) -> object:
    if isinstance(fact, str):
        return encode_utf8(fact)
    if isinstance(fact, Mapping):
        return {name: _encode_texts(inner) for name, inner in fact.items()}
    if isinstance(fact, list):
        return [_encode_texts(inner) for inner in fact]
    return fact


def _text_bytes(fact: object) -> int:
    """The number of text bytes in a value, nested ones included."""
    if isinstance(fact, bytes):
        return len(fact)
    if isinstance(fact, Mapping):
        return sum(map(_text_bytes, fact.values()))
    return sum(map(_text_bytes, fact)) if isinstance(fact, list) else 0
