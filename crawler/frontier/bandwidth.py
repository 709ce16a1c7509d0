"""How many bytes a second may all hosts together send us?"""

from __future__ import annotations

from crawler.items import Key

_BURST = 1.0  # seconds' worth of bytes that may come at once
_FIRST_GUESS = 20_000.0  # bytes of an answer, before any has come
_WEIGHT = 0.05  # of one answer in the mean


class Bandwidth:
    """A bucket that fills at the limit's rate; an answer takes out its bytes.

    How long an answer will be is not known when it is asked for, so the usual length is taken out then, and the rest, or
    what was too much, when it has come. Nothing is asked for while the bucket is empty: over any time no more comes than the
    limit allows, but for what a second allows and for what was on its way.
    """

    def __init__(self, limit: float) -> None:
        self._limit = limit  # bytes a second; 0 = none
        self._level = limit * _BURST
        self._filled = 0.0  # when
        self._usual = _FIRST_GUESS
        self._expected: dict[Key, float] = {}

    def open_at(self, now: float) -> float:
        """When something may be asked for."""
        if not self._limit:
            return now
        self._fill(now)
        return now if self._level > 0 else now - self._level / self._limit

    def asked(self, key: Key, now: float) -> None:
        if self._limit:
            self._fill(now)
            self._expected[key] = self._usual
            self._level -= self._usual

    def came(self, key: Key, size: int | None) -> None:
        """An answer of a size; None = nothing was asked for after all."""
        if self._limit:
            self._level += self._expected.pop(key, 0.0) - (size or 0)
            if size is not None:
                self._usual += _WEIGHT * (size - self._usual)

    def _fill(self, now: float) -> None:
        gained = max(0.0, now - self._filled) * self._limit
        self._level = min(self._level + gained, self._limit * _BURST)
        self._filled = max(now, self._filled)
