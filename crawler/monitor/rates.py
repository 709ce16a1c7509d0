"""How fast is the crawl, and when will it reach its limits?"""

from __future__ import annotations

from collections import deque


class RecentRate:
    """Rates of growing totals over a sliding window of seconds."""

    def __init__(self, span: float) -> None:
        self._span = span
        self._samples: deque[tuple[float, tuple[float, ...]]] = deque()

    def rates(self, now: float, *totals: float) -> tuple[float, ...]:
        """Record the totals at a time and return how much each grew per second over the window.

        >>> recent = RecentRate(span=5.0)
        >>> recent.rates(0.0, 0, 0), recent.rates(4.0, 8, 400), recent.rates(10.0, 14, 400)
        ((0.0, 0.0), (2.0, 100.0), (1.0, 0.0))
        """
        self._samples.append((now, totals))
        while len(self._samples) > 2 and self._samples[1][0] <= now - self._span:
            self._samples.popleft()
        then, before = self._samples[0]
        span = now - then
        return tuple((total - old) / span if span > 0 else 0.0 for total, old in zip(totals, before, strict=True))


def remaining(*, elapsed: float, max_seconds: float, pages: int, max_pages: int, pages_a_second: float) -> float | None:
    """Estimate the seconds until a limit ends the crawl; None if there is no limit or no rate. A limit of 0 is none.

    >>> remaining(elapsed=60, max_seconds=300, pages=100, max_pages=0, pages_a_second=2)
    240
    >>> remaining(elapsed=60, max_seconds=300, pages=100, max_pages=200, pages_a_second=2)
    50.0
    >>> remaining(elapsed=60, max_seconds=0, pages=100, max_pages=200, pages_a_second=0)
    """
    ends = []
    if max_seconds:
        ends.append(max(max_seconds - elapsed, 0))
    if max_pages and pages_a_second > 0:
        ends.append(max(max_pages - pages, 0) / pages_a_second)
    return min(ends, default=None)
