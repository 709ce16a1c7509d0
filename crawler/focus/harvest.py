"""How well does a focused crawl stay on topic? Pages on topic among those fetched: all, the last thousand, the curve."""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, Self

import msgspec

ON_TOPIC: Final = 0.5  # relevance from which a page counts as on topic
LAST_PAGES: Final = 1_000
MOST_POINTS: Final = 256  # of the curve: with more, every second one is dropped


class HarvestPoint(NamedTuple):
    """A point of the harvest curve."""

    pages: int  # fetched until then
    on_topic: int


class Harvest:
    """Counts the pages fetched and those of them that are on topic.

    >>> harvest = Harvest()
    >>> for relevance in (0.9, 0.2, 0.7, 0.1):
    ...     harvest.count(relevance)
    >>> harvest.pages, harvest.on_topic, harvest.share, list(harvest.curve())[-1]
    (4, 2, 0.5, HarvestPoint(pages=4, on_topic=2))
    """

    def __init__(self) -> None:
        self.pages = 0
        self.on_topic = 0
        self._last: deque[bool] = deque(maxlen=LAST_PAGES)
        self._step = 1  # pages between two points of the curve
        self._curve = [0]  # pages on topic after each step

    @property
    def share(self) -> float:
        """The share of all pages that are on topic."""
        return self.on_topic / max(self.pages, 1)

    @property
    def last_pages(self) -> int:
        """The number of pages fetched last that are looked at apart from all: a thousand, when there are as many."""
        return len(self._last)

    @property
    def last_on_topic(self) -> int:
        """The number of those that are on topic."""
        return sum(self._last)

    @property
    def last_share(self) -> float:
        """The share of the last thousand pages that are on topic."""
        return self.last_on_topic / max(self.last_pages, 1)

    def count(self, relevance: float) -> None:
        """Count a fetched page by its relevance."""
        self.count_judged(is_on_topic=relevance >= ON_TOPIC)

    def count_judged(self, *, is_on_topic: bool) -> None:
        """Count a fetched page of which it is decided whether it is on topic."""
        self.pages += 1
        self.on_topic += is_on_topic
        self._last.append(is_on_topic)
        if self.pages % self._step == 0:
            self._curve.append(self.on_topic)
        if len(self._curve) > MOST_POINTS:
            self._step, self._curve = self._step * 2, self._curve[::2]

    def curve(self) -> Iterator[HarvestPoint]:
        """Yield the harvest curve, from the first page to the last."""
        for number, on_topic in enumerate(self._curve):
            yield HarvestPoint(number * self._step, on_topic)
        if self.pages % self._step:
            yield HarvestPoint(self.pages, self.on_topic)

    def to_bytes(self) -> bytes:
        return msgspec.msgpack.encode((self.pages, self.on_topic, list(self._last), self._step, self._curve))

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Read what `to_bytes` wrote; raises ValueError if it is damaged."""
        harvest = cls()
        harvest.pages, harvest.on_topic, last, harvest._step, harvest._curve = _DECODER.decode(data)
        harvest._last.extend(last)
        if harvest._step < 1 or not harvest._curve:
            raise ValueError("a damaged harvest")
        return harvest

    @classmethod
    def of_workers(cls, workers: Sequence[Self]) -> Self:
        """Add up the harvests of workers that crawl at the same time, as if each had been as steady as the others."""
        together = cls()
        together.pages = sum(worker.pages for worker in workers)
        together.on_topic = sum(worker.on_topic for worker in workers)
        together._step = max(-(-together.pages // (MOST_POINTS - 1)), 1)
        points = range(0, together.pages + 1, together._step)
        curves = [list(worker.curve()) for worker in workers if worker.pages]
        together._curve = [
            round(sum(_at(curve, pages / max(together.pages, 1)) for curve in curves)) for pages in points
        ]
        together._last.extend(_interleaved([worker._last for worker in workers]))
        return together


def _at(curve: Sequence[HarvestPoint], share: float) -> float:
    """Return the pages on topic after this share of a worker's pages, between its points."""
    pages = share * curve[-1].pages
    right = max(bisect_left(curve, (pages,)), 1)
    before, after = curve[right - 1], curve[min(right, len(curve) - 1)]
    part = (pages - before.pages) / max(after.pages - before.pages, 1)
    return before.on_topic + part * (after.on_topic - before.on_topic)


def _interleaved(rows: Sequence[deque[bool]]) -> list[bool]:
    """Merge rows so that the last ones of each are the last ones together."""
    numbered = sorted(
        ((number - len(row)) / max(len(row), 1), at, value)
        for at, row in enumerate(rows)
        for number, value in enumerate(row)
    )
    return [value for _, _, value in numbered]


_DECODER: Final = msgspec.msgpack.Decoder(tuple[int, int, list[bool], int, list[int]])
