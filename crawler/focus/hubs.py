"""Which pages, and which sections, lead to pages on topic? Rankings by name, for reports.

A ranking is bounded: when it holds twice as many names as it may, the half with the lowest yields is dropped. A name
that comes back later begins anew, so counts are a lower bound.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple, Self

import msgspec

MOST_NAMES: Final = 512
LONGEST_NAME: Final = 500  # characters; longer ones are not ranked
PRIOR_PAGES: Final = 3.0  # of the mean relevance, that are added to those of each name: few pages say little


class RankedSource(NamedTuple):
    """A page or a section with what was fetched from it."""

    name: str
    pages: int  # fetched, of those that it links to, or that are in it
    relevance: float  # their sum
    shrunk_yield: float  # mean relevance, shrunk towards that of all names


class SourceRanking:
    """Ranks sources (pages that link, or sections) by the relevance of the pages fetched from them."""

    def __init__(self) -> None:
        self._counts: dict[str, tuple[int, float]] = {}
        self._pages, self._relevance = 0, 0.0

    def count(self, name: str, relevance: float) -> None:
        """Count a page that was fetched from this source."""
        if not name or len(name) > LONGEST_NAME:
            return
        self._pages, self._relevance = self._pages + 1, self._relevance + relevance
        pages, total = self._counts.get(name, (0, 0.0))
        self._counts[name] = pages + 1, total + relevance
        if len(self._counts) > 2 * MOST_NAMES:
            self._drop_lowest()

    def best(self, number: int = 10) -> list[RankedSource]:
        """Return the sources with the highest yields, the best first."""
        ranked = [
            RankedSource(name, pages, total, self._shrunk_yield(pages, total))
            for name, (pages, total) in self._counts.items()
        ]
        return sorted(ranked, key=lambda one: (-one.shrunk_yield, -one.pages, one.name))[:number]

    def merge(self, others: Iterable[Self]) -> None:
        """Add what other workers counted."""
        for other in others:
            self._pages, self._relevance = self._pages + other._pages, self._relevance + other._relevance
            for name, (pages, total) in other._counts.items():
                mine = self._counts.get(name, (0, 0.0))
                self._counts[name] = mine[0] + pages, mine[1] + total
        if len(self._counts) > 2 * MOST_NAMES:
            self._drop_lowest()

    def to_bytes(self) -> bytes:
        """Return the best names with their counts."""
        best = [(one.name, one.pages, one.relevance) for one in self.best(MOST_NAMES)]
        return msgspec.msgpack.encode((self._pages, self._relevance, best))

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Read what `to_bytes` wrote; raises ValueError if it is damaged."""
        ranking = cls()
        ranking._pages, ranking._relevance, best = _DECODER.decode(data)
        ranking._counts = {name: (pages, total) for name, pages, total in best}
        return ranking

    def _shrunk_yield(self, pages: int, total: float) -> float:
        expected = self._relevance / max(self._pages, 1)
        return (total + PRIOR_PAGES * expected) / (pages + PRIOR_PAGES)

    def _drop_lowest(self) -> None:
        self._counts = {one.name: (one.pages, one.relevance) for one in self.best(MOST_NAMES)}


_DECODER: Final = msgspec.msgpack.Decoder(tuple[int, float, list[tuple[str, int, float]]])
