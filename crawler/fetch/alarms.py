"""Which transfer's time limit must be checked next? A heap of deadlines."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from itertools import count
from typing import Generic, Protocol, TypeVar


class Sleeper(Protocol):
    """Anything that can have an alarm, such as a transfer."""

    alarm: float | None  # the time of its alarm; None at first, and only `Alarms` changes it


S = TypeVar("S", bound=Sleeper)


class Alarms(Generic[S]):
    """Timers, at most one for each sleeper. A heap; an entry is valid only while its time is its sleeper's `alarm`."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, S]] = []
        self._serial = count()  # makes every entry unique before the sleeper, so sleepers are never compared
        self._compact_at = 1024

    def set(self, sleeper: S, at: float) -> None:
        """Set the sleeper's alarm to this time, unless it has an earlier one."""
        if sleeper.alarm is None or at < sleeper.alarm:
            sleeper.alarm = at
            heappush(self._heap, (at, next(self._serial), sleeper))
            if len(self._heap) > self._compact_at:
                self._compact()

    def turn_off(self, sleeper: S) -> None:
        sleeper.alarm = None

    def due(self, now: float) -> list[S]:
        """Return the sleepers whose alarm is due, and turn those alarms off."""
        due = []
        while self._heap and self._heap[0][0] <= now:
            at, _, sleeper = heappop(self._heap)
            if sleeper.alarm == at:
                sleeper.alarm = None
                due.append(sleeper)
        return due

    def next(self) -> float | None:
        """Return the time of the earliest alarm, or None."""
        heap = self._heap
        while heap:
            at, _, sleeper = heap[0]
            if sleeper.alarm == at:
                return at
            heappop(heap)
        return None

    def _compact(self) -> None:
        """Remove invalid entries: most fetches end long before their alarm, and their entries would fill the heap."""
        self._heap = [entry for entry in self._heap if entry[2].alarm == entry[0]]
        heapify(self._heap)
        self._compact_at = 2 * len(self._heap) + 1024
