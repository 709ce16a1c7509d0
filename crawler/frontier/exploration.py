"""Which hosts of a focused crawl have shown that they have little, and how many of their URLs are visited all the same?

A host of which many pages were fetched, and that is far less relevant than the crawl as a whole, gets a share of the
visits for links that promise little. All other hosts are visited as their rests allow: they take nothing from the good
ones.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import NamedTuple

from crawler.frontier.priority import LEVELS, place_of

_ENOUGH_PAGES = 100  # of a host, by which it is judged
_LAST_PAGES = 400  # of a host, whose mean counts
_MOST_HOSTS = 100_000
_MOST_SAVED = 4.0  # visits that may be made up for at once


class LevelLimit(NamedTuple):
    """How deep URLs of some hosts may be loaded freely, and how many beyond that."""

    hosts: Collection[int]
    deepest: int  # level
    beyond: int  # URLs of deeper levels


def deepest_level(follow: float, relevance: float) -> int:
    """Return the deepest level of links that are followed freely on any host, by the mean relevance of the last pages.

    >>> [deepest_level(0.5, relevance) for relevance in (0.9, 0.2, 0.01)], deepest_level(0.0, 0.9)
    ([3, 4, 7], 7)
    """
    return place_of(follow * relevance).level if follow else LEVELS - 1


class Exploration:
    """The limit of a focused crawl for hosts that have shown that they have little.

    >>> exploration = Exploration(share=0.25, follow=0.5, mean_relevance=lambda: 0.9)
    >>> for _ in range(100):
    ...     exploration.page_judged(7, 0.1)
    ...     exploration.page_judged(8, 0.8)
    >>> exploration.limit
    LevelLimit(hosts={7}, deepest=3, beyond=0)
    >>> for _ in range(8):
    ...     exploration.visit_released()
    >>> exploration.limit.beyond
    2
    """

    def __init__(self, share: float, follow: float, mean_relevance: Callable[[], float]) -> None:
        self._share, self._follow = share, follow
        self._mean_relevance = mean_relevance  # of the pages that were fetched lately, on all hosts
        self._hosts: dict[int, tuple[int, float]] = {}  # pages judged in this run, their mean relevance
        self._poor: set[int] = set()
        self._saved = 0.0  # visits that are allowed and not used

    @property
    def limit(self) -> LevelLimit | None:
        """What may be loaded now; None if no host is limited."""
        if not self._poor:
            return None
        deepest = deepest_level(self._follow, self._mean_relevance())
        return LevelLimit(self._poor.copy(), deepest, max(int(self._saved), 0))

    def page_judged(self, host: int, relevance: float) -> None:
        """Note the relevance of a page that was fetched."""
        pages, mean = self._hosts.pop(host, (0, 0.0))
        pages = min(pages + 1, _LAST_PAGES)
        mean += (relevance - mean) / pages
        self._hosts[host] = pages, mean
        if pages >= _ENOUGH_PAGES and mean < self._follow * self._mean_relevance():
            self._poor.add(host)
        else:
            self._poor.discard(host)
        if len(self._hosts) > _MOST_HOSTS:
            oldest = next(iter(self._hosts))
            del self._hosts[oldest]
            self._poor.discard(oldest)

    def visit_released(self) -> None:
        """Note that a visit, to whatever URL, was released."""
        self._saved = min(self._saved + self._share, _MOST_SAVED)

    def urls_loaded(self, count: int) -> None:
        """Note that URLs beyond the limit were loaded, to be visited."""
        self._saved = max(self._saved - count, -_MOST_SAVED)
