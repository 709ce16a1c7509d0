"""Limits how many bytes a second the whole crawl receives, its workers together."""

from __future__ import annotations

from crawler.items import Key

_BURST = 0.5  # seconds' worth of bytes that may come at once
_FIRST_GUESS = 20_000.0  # bytes of an answer, before any has been received
_WEIGHT = 0.05  # of one answer in the running mean


class Bandwidth:
    """A token bucket that fills at the rate of the limit; each answer takes out its bytes.

    The length of an answer is unknown when its request is sent, so the mean length is taken out then, and corrected
    when the answer has been received. No request is sent while the bucket is empty: over any period no more arrives
    than the limit allows, apart from half a second's worth and from requests that were already in flight.

    Each of several workers has a bucket with an equal part of the limit.
    """

    def __init__(self, limit: float) -> None:
        self._whole = limit  # bytes a second of all workers; 0 = none
        self._limit = limit  # of this one
        self._level = 0.0
        self._filled = 0.0  # when, or later: until when nothing flows in
        self._mean_size = _FIRST_GUESS
        self._expected: dict[Key, float] = {}

    def divide(self, workers: int, now: float) -> None:
        """Take the part of one of so many workers from now on."""
        self._fill(now)
        self._limit = self._whole / max(workers, 1)
        self._level = min(self._level, self._limit * _BURST)

    def pause(self, until: float) -> None:
        """Send nothing before this time: the other workers do not know yet that they must share with us."""
        self._level = min(self._level, 0.0)
        self._filled = max(self._filled, until)

    def available_at(self, now: float) -> float:
        """Return the earliest time at which a request may be sent."""
        if not self._limit:
            return now
        self._fill(now)
        if self._level > 0 or (self._level == 0 and self._filled <= now):
            return now
        return max(now, self._filled) - self._level / self._limit

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
