"""Whose time limit is to be checked next?"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from itertools import count
from typing import Generic, Protocol, TypeVar


class Sleeper(Protocol):
    """What can have an alarm."""

    alarm: float | None  # when it goes off; None at first, and only `Alarms` changes it


S = TypeVar("S", bound=Sleeper)


class Alarms(Generic[S]):
    """At most one alarm for each sleeper. A heap; an entry counts only while its sleeper still waits for it."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, S]] = []
        self._serial = count()  # no two entries are equal up to here, so sleepers are never compared
        self._tidy_at = 1024

    def set(self, sleeper: S, at: float) -> None:
        """Go off at this time, unless the alarm goes off earlier anyway."""
        if sleeper.alarm is None or at < sleeper.alarm:
            sleeper.alarm = at
            heappush(self._heap, (at, next(self._serial), sleeper))
            if len(self._heap) > self._tidy_at:
                self._tidy()

    def turn_off(self, sleeper: S) -> None:
        sleeper.alarm = None

    def due(self, now: float) -> list[S]:
        """The sleepers whose time has come; their alarms are off."""
        due = []
        while self._heap and self._heap[0][0] <= now:
            at, _, sleeper = heappop(self._heap)
            if sleeper.alarm == at:
                sleeper.alarm = None
                due.append(sleeper)
        return due

    def next(self) -> float | None:
        """When the next alarm goes off."""
        heap = self._heap
        while heap:
            at, _, sleeper = heap[0]
            if sleeper.alarm == at:
                return at
            heappop(heap)
        return None

    def _tidy(self) -> None:
        """Most fetches end long before their alarm: drop what they leave before it fills the heap."""
        self._heap = [entry for entry in self._heap if entry[2].alarm == entry[0]]
        heapify(self._heap)
        self._tidy_at = 2 * len(self._heap) + 1024
