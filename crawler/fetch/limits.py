"""How long may a fetch take, and how big may it become?

libcurl measures time limits on its own clock and does not distinguish a slow start from a slow answer, so we check them
here.
"""

from __future__ import annotations

from dataclasses import dataclass

from crawler.items import Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchLimits:
    """Limits of time (seconds) and size (bytes) for one fetch."""

    connect_timeout: float  # TCP and TLS together
    first_byte_timeout: float  # from the request to the first line of the answer
    min_bytes_per_second: int  # on average over …
    min_rate_time: float  # … each span of this length once the answer has begun
    timeout: float
    max_body: int
    max_document: int  # the body of a format that is useless if truncated, such as PDF
    max_head: int  # interim answers included
    interim: int = 16  # answers of class 1xx before the answer


class TransferPace:
    """Records when a transfer reached each of its states, and checks their time limits.

    A transfer is *connecting* until `request_sent`, *waiting* until `answer_begun`, and *reading* from then on.
    """

    __slots__ = ("_end", "_limits", "_span_end", "_span_start", "first_byte", "sent", "started")

    def __init__(self, limits: FetchLimits, now: float) -> None:
        self.started = now
        self.sent: float | None = None
        self.first_byte: float | None = None
        self._limits = limits
        self._end = now + limits.timeout
        self._span_start = 0  # bytes received when the current span of the speed limit began
        self._span_end = 0.0

    def request_sent(self, now: float) -> None:
        self.sent = now

    def answer_begun(self, now: float) -> None:
        self.first_byte = now
        self._span_end = now + self._limits.min_rate_time

    def deadline(self) -> float:
        """Return the time at which `exceeded_limit` must be called next."""
        if self.first_byte is not None:
            return min(self._end, self._span_end)
        if self.sent is not None:
            return min(self._end, self.sent + self._limits.first_byte_timeout)
        return min(self._end, self.started + self._limits.connect_timeout)

    def exceeded_limit(self, now: float, *, received: int, has_head: bool) -> tuple[Reason, str] | None:
        """Return the time limit that is exceeded, or None; after a span of sufficient speed the next span begins."""
        if now < self.deadline():
            return None
        if now >= self._end:
            return Reason.CUT_TIME if has_head else Reason.TIMEOUT, ""
        if self.first_byte is None:
            return Reason.CONNECT_TIMEOUT if self.sent is None else Reason.FIRST_BYTE_TIMEOUT, ""
        if received - self._span_start < self._limits.min_bytes_per_second * self._limits.min_rate_time:
            return (Reason.CUT_TIME, "too slow") if has_head else (Reason.TOO_SLOW, "")
        self._span_start, self._span_end = received, now + self._limits.min_rate_time
        return None
