"""Collect entries into bulk requests for a search engine: at most one batch waits, with one entry per document."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from crawler.export.documents import fields_of
from crawler.export.http import excerpt
from crawler.items import ExportEntry, RejectedDocument

ALWAYS_SENT = frozenset({"id", "url", "version"})  # fields of a document that are sent with every selection
MAX_TERM_LENGTH = 8191  # characters: Lucene takes no term of more than 32,766 bytes


class BulkPiece(NamedTuple):
    """A document or a deletion, encoded for its search engine."""

    id: str
    url: str
    version: int
    is_deletion: bool
    data: bytes

    def rejected(self, error: str) -> RejectedDocument:
        """The record of this document's refusal, for the list of rejected documents."""
        return RejectedDocument(id=self.id, url=self.url, version=self.version, error=excerpt(error))


class BulkBatches:
    """Collects pieces and sends them in batches; a batch that could not be sent stays for the next attempt."""

    def __init__(
        self, send: Callable[[Sequence[BulkPiece]], Sequence[RejectedDocument]], entries: int = 500, size: int = 5 << 20
    ):
        self._send = send
        self._entries = entries
        self._max_bytes = size
        self._waiting: dict[str, BulkPiece] = {}
        self._size = 0
        self._rejected: list[RejectedDocument] = []

    def put(self, piece: BulkPiece) -> None:
        """Add a piece; it replaces an earlier one of the same document."""
        if self._waiting and self._size + len(piece.data) > self._max_bytes:
            self.flush()
        earlier = self._waiting.pop(piece.id, None)
        self._size += len(piece.data) - (len(earlier.data) if earlier else 0)
        self._waiting[piece.id] = piece
        if len(self._waiting) >= self._entries:
            self.flush()

    def flush(self) -> None:
        if self._waiting:
            self._rejected += self._send(list(self._waiting.values()))
            self._waiting.clear()
            self._size = 0

    def take_rejected(self) -> Sequence[RejectedDocument]:
        """The documents refused since the last call."""
        taken, self._rejected = self._rejected, []
        return taken

    def limit_bytes(self, size: int) -> None:
        """Lower the size of a batch: the engine refuses larger requests."""
        self._max_bytes = min(self._max_bytes, size)


def halves(pieces: Sequence[BulkPiece]) -> tuple[Sequence[BulkPiece], Sequence[BulkPiece]]:
    middle = len(pieces) // 2
    return pieces[:middle], pieces[middle:]


def selected_fields(entry: ExportEntry, fields: Collection[str] | None) -> dict[str, object]:
    """The chosen fields of an entry and those that are always sent; all fields if none were chosen."""
    facts = fields_of(entry)
    return facts if fields is None else {name: facts[name] for name in facts if name in ALWAYS_SENT or name in fields}


def flatten(facts: Mapping[str, object]) -> dict[str, object]:
    """Flatten fields for engines without nested objects: a list of objects becomes one list per key of the objects.

    >>> flatten({"id": "1", "tier": None, "anchors": [{"host": "a", "text": "x"}, {"host": "b", "text": "y"}]})
    {'id': '1', 'anchors_host': ['a', 'b'], 'anchors_text': ['x', 'y']}
    """
    flattened: dict[str, object] = {}
    for name, value in facts.items():
        if isinstance(value, list):
            for each in value:
                for inner, part in each.items():
                    values = flattened.setdefault(f"{name}_{inner}", [])
                    assert isinstance(values, list)
                    values.append(part)
        elif value is not None:
            flattened[name] = value
    return flattened
