"""How fast is it going, and when will it be over?"""

from __future__ import annotations

from collections import deque


class RecentRate:
    """How fast totals grow, over the last few seconds."""

    def __init__(self, span: float) -> None:
        self._span = span
        self._seen: deque[tuple[float, tuple[float, ...]]] = deque()

    def rates(self, now: float, *totals: float) -> tuple[float, ...]:
        """What each total grew by in a second, since it was told about so long ago as the span, or first.

        >>> pace = RecentRate(span=5.0)
        >>> pace.rates(0.0, 0, 0), pace.rates(4.0, 8, 400), pace.rates(10.0, 14, 400)
        ((0.0, 0.0), (2.0, 100.0), (1.0, 0.0))
        """
        self._seen.append((now, totals))
        while len(self._seen) > 2 and self._seen[1][0] <= now - self._span:
            self._seen.popleft()
        then, before = self._seen[0]
        span = now - then
        return tuple((total - old) / span if span > 0 else 0.0 for total, old in zip(totals, before, strict=True))


def remaining(*, elapsed: float, max_seconds: float, pages: int, max_pages: int, pages_a_second: float) -> float | None:
    """Seconds until a limit ends the crawl, as far as can be told; 0 = no limit.

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
