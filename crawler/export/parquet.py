"""Documents and deletions as rows of one table, column by column: for those who ask questions of a whole collection."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, BinaryIO, Final, Self

from crawler.errors import Misconfigured
from crawler.export.characters import encoded
from crawler.export.documents import facts_of
from crawler.export.fields import FIELDS, chosen
from crawler.items import DeletedDocument, ExportEntry

_ROWS: Final = 4_096  # of a row group, at most
_BYTES: Final = 64_000_000  # of its text, about
_OF_FEW_VALUES: Final = ("host", "content_type", "language", "format", "problem", "tier", "event", "evidence")
_ASKED_FOR: Final = ("id", "url", "host", "fetched_at", "status", "version")  # by ranges: these get statistics


@dataclass(frozen=True, slots=True, kw_only=True)
class ParquetFormat:
    """Compressed with zstd. A deletion is a row in which `deleted` is true."""

    suffix: str = "parquet"
    has_deletions: bool = True
    fields: frozenset[str] = frozenset(FIELDS)

    def keeping(self, fields: Iterable[str]) -> Self:
        return replace(self, fields=chosen(fields))

    def open(self, stream: BinaryIO) -> ParquetWriter:
        return ParquetWriter(stream, self.fields)


class ParquetWriter:
    """Holds the rows of one row group."""

    def __init__(self, stream: BinaryIO, fields: frozenset[str] = frozenset(FIELDS)) -> None:
        self._arrow, parquet = _libraries()
        self._schema = _schema(self._arrow, fields)
        self._columns: dict[str, list[object]] = {name: [] for name in self._schema.names}
        self._size = 0
        self._outlet = _Outlet(stream)
        with self._outlet.opened():
            self._writer = parquet.ParquetWriter(
                self._outlet,
                self._schema,
                compression="zstd",
                use_dictionary=[name for name in _OF_FEW_VALUES if name in fields],
                write_statistics=[name for name in _ASKED_FOR if name in fields],
            )

    def write(self, entry: ExportEntry) -> None:
        row = _row(entry)
        for name, column in self._columns.items():
            column.append(row.get(name))
        self._size += _size(row)
        if self._size >= _BYTES or len(self._columns["id"]) >= _ROWS:
            self._flush()

    def finish(self) -> None:
        self._flush()
        with self._outlet.opened():
            self._writer.close()

    def _flush(self) -> None:
        """End a row group."""
        if not self._columns["id"]:
            return
        arrays = []
        for field in self._schema:
            arrays.append(self._arrow.array(self._columns[field.name], field.type))
            self._columns[field.name].clear()  # at once: the texts are in memory twice as it is
        self._size = 0
        with self._outlet.opened():
            self._writer.write_batch(self._arrow.record_batch(arrays, schema=self._schema))


class _Outlet:
    """Lets through what is written at our request.

    Of a file that is given up the library would write the end too, when it forgets it: it would pass for a whole one.
    """

    closed = False  # the library asks

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._is_open = False

    @contextmanager
    def opened(self) -> Iterator[None]:
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
    """The same for every file with these fields, whatever is in it."""
    text = arrow.string()

    def rows(**columns: Any) -> Any:
        return arrow.list_(arrow.struct(list(columns.items())))

    types = {
        "fetched_at": arrow.timestamp("us", tz="UTC"),
        "status": arrow.int32(),
        "blocks": rows(text=text, tag=text, importance=arrow.float64()),
        "similarity": arrow.float64(),
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
    """What JSON has, but for texts, which are encoded here, and the time, which is a number."""
    facts = {name: _encoded(fact) for name, fact in facts_of(entry).items()}
    if isinstance(entry, DeletedDocument):
        return facts
    return facts | {"fetched_at": round(entry.fetched * 1e6), "deleted": False}


def _encoded(fact: object) -> object:
    if isinstance(fact, str):
        return encoded(fact)
    if isinstance(fact, Mapping):
        return {name: _encoded(inner) for name, inner in fact.items()}
    if isinstance(fact, list):
        return [_encoded(inner) for inner in fact]
    return fact


def _size(fact: object) -> int:
    """Bytes of text in it."""
    if isinstance(fact, bytes):
        return len(fact)
    if isinstance(fact, Mapping):
        return sum(map(_size, fact.values()))
    return sum(map(_size, fact)) if isinstance(fact, list) else 0
