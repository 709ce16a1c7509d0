"""Limits how many bytes a second the whole crawl receives."""

from __future__ import annotations

from crawler.items import Key

_BURST = 1.0  # seconds' worth of bytes that may come at once
_FIRST_GUESS = 20_000.0  # bytes of an answer, before any has been received
_WEIGHT = 0.05  # of one answer in the running mean


class Bandwidth:
    """A token bucket that fills at the rate of the limit; each answer takes out its bytes.

    The length of an answer is unknown when its request is sent, so the mean length is taken out then, and corrected
    when the answer has been received. No request is sent while the bucket is empty: over any period no more arrives
    than the limit allows, apart from one second's worth and from requests that were already in flight.
    """

    def __init__(self, limit: float) -> None:
        self._limit = limit  # bytes a second; 0 = none
        self._level = limit * _BURST
        self._filled = 0.0  # when
        self._mean_size = _FIRST_GUESS
        self._expected: dict[Key, float] = {}

    def available_at(self, now: float) -> float:
        """Return the earliest time at which a request may be sent."""
        if not self._limit:
            return now
        self._fill(now)
        return now if self._level > 0 else now - self._level / self._limit

    def request_sent(self, key: Key, now: float) -> None:
        if self._limit:
            self._fill(now)
            self._expected[key] = self._mean_size
            self._level -= self._mean_size

    def answer_received(self, key: Key, size: int | None) -> None:
        """Correct the bucket by the actual size of an answer; None = the request was not sent after all."""
        if self._limit:
            self._level += self._expected.pop(key, 0.0) - (size or 0)
            if size is not None:
                self._mean_size += _WEIGHT * (size - self._mean_size)

    def _fill(self, now: float) -> None:
        gained = max(0.0, now - self._filled) * self._limit
        self._level = min(self._level + gained, self._limit * _BURST)
        self._filled = max(now, self._filled)
