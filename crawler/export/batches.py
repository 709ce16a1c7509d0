"""What waits to be sent to an engine: never more than a batch, and of each document only the last word."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from crawler.export.documents import facts_of
from crawler.export.http import plain
from crawler.items import ExportEntry, RejectedDocument

ALWAYS = frozenset({"id", "url", "version"})  # what is sent of a document whatever fields were chosen
LONGEST_TERM = 8191  # characters: Lucene takes no term of more than 32,766 bytes


class BulkPiece(NamedTuple):
    """A document or a deletion as its engine reads it."""

    id: str
    url: str
    version: int
    is_deletion: bool
    data: bytes

    def rejected(self, error: str) -> RejectedDocument:
        return RejectedDocument(id=self.id, url=self.url, version=self.version, error=plain(error))


class BulkBatches:
    """Collects pieces and has them sent in batches; what could not be sent waits for the next try."""

    def __init__(
        self, send: Callable[[Sequence[BulkPiece]], Sequence[RejectedDocument]], entries: int = 500, size: int = 5 << 20
    ):
        self._send = send
        self._entries = entries
        self._most = size
        self._waiting: dict[str, BulkPiece] = {}
        self._size = 0
        self._rejected: list[RejectedDocument] = []

    def put(self, piece: BulkPiece) -> None:
        """A later piece takes the place of an earlier one of the same document."""
        if self._waiting and self._size + len(piece.data) > self._most:
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
        """Those since the last time."""
        taken, self._rejected = self._rejected, []
        return taken

    def at_most(self, size: int) -> None:
        """The engine takes no more bytes than this at once."""
        self._most = min(self._most, size)


def halves(pieces: Sequence[BulkPiece]) -> tuple[Sequence[BulkPiece], Sequence[BulkPiece]]:
    middle = len(pieces) // 2
    return pieces[:middle], pieces[middle:]


def chosen(entry: ExportEntry, fields: Collection[str] | None) -> dict[str, object]:
    """The facts of an entry that are wanted, and those that are always sent."""
    facts = facts_of(entry)
    return facts if fields is None else {name: facts[name] for name in facts if name in ALWAYS or name in fields}


def flat(facts: Mapping[str, object]) -> dict[str, object]:
    """For engines whose documents hold no objects: a list of them becomes one list for each of their names.

    >>> flat({"id": "1", "tier": None, "anchors": [{"host": "a", "text": "x"}, {"host": "b", "text": "y"}]})
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
