"""Count the pages of a run that were judged by the topic of the crawl, and say how many were on topic."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from crawler.focus.harvest import Harvest
from crawler.items import Kind, Reason, Visited
from crawler.monitor.text import plural

_BOUNDS: Final = tuple(tenth / 10 for tenth in range(1, 11))  # of the histogram of relevance
_JUDGED: Final = frozenset({Reason.OK, Reason.OFF_TOPIC})


class JudgedPages:
    """Counts judged pages and their relevance; written by the crawl's thread, read by any."""

    def __init__(self) -> None:
        self.harvest = Harvest()
        self.relevance = 0.0  # sum
        self._by_bound: Counter[float] = Counter()

    def record_visit(self, visited: Visited) -> None:
        """Count the page of a visit, if it was judged."""
        page, reason = visited.page, visited.reason
        if page is None or page.relevance is None or reason not in _JUDGED or visited.visit.kind is not Kind.PAGE:
            return
        self.harvest.count_judged(is_on_topic=reason is Reason.OK)
        self.relevance += page.relevance
        self._by_bound[_BOUNDS[min(bisect_left(_BOUNDS, page.relevance), len(_BOUNDS) - 1)]] += 1

    def relevance_histogram(self) -> Iterator[tuple[float, int]]:
        """Yield (relevance, number of pages that have at most this)."""
        pages = 0
        for bound in _BOUNDS:
            pages += self._by_bound[bound]
            yield bound, pages

    def as_data(self) -> dict[str, int] | None:
        """Return the harvest as the summary has it; None if no page was judged."""
        found = self.harvest
        if not found.pages:
            return None
        return harvest_data(found.pages, found.on_topic, found.last_pages, found.last_on_topic)


def harvest_data(pages: int, on_topic: int, last_pages: int, last_on_topic: int) -> dict[str, int]:
    return {"pages": pages, "on_topic": on_topic, "last_pages": last_pages, "last_on_topic": last_on_topic}


def harvest_words(harvest: Mapping[str, int]) -> str:
    """Say how many pages were on topic, of all and of the last ones.

    >>> harvest_words(harvest_data(1_020, 412, 1_000, 405))
    '412 of 1,020 pages (40 %), 40 % of the last 1,000 pages'
    >>> harvest_words(harvest_data(20, 12, 20, 12))
    '12 of 20 pages (60 %)'
    """
    pages, on_topic, last = harvest["pages"], harvest["on_topic"], harvest["last_pages"]
    words = f"{on_topic:,} of {plural(pages, 'page')} ({_percent(on_topic, pages)})"
    return words if last >= pages else f"{words}, {_percent(harvest['last_on_topic'], last)} of the last {last:,} pages"


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / max(whole, 1):.0f} %"
