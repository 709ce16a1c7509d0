"""Which URLs of a focused crawl are worth a visit while better ones wait, and how many of the others are visited?

A link is followed freely if its score is not far below the relevance of the pages that were fetched lately: in a rich
neighbourhood more is demanded than in a poor one. A share of the visits goes to the other URLs, for what is unknown.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from crawler.frontier.priority import LEVELS, place_of

_MOST_SAVED = 4.0  # visits that may be made up for at once


class LevelLimit(NamedTuple):
    """How deep URLs may be loaded freely, and how many beyond that."""

    deepest: int  # level
    beyond: int  # URLs of deeper levels


def deepest_level(follow: float, relevance: float) -> int:
    """Return the deepest level of links that are followed freely, by the mean relevance of the last pages.

    >>> [deepest_level(0.5, relevance) for relevance in (0.9, 0.2, 0.01)], deepest_level(0.0, 0.9)
    ([3, 4, 7], 7)
    """
    return place_of(follow * relevance).level if follow else LEVELS - 1


class Exploration:
    """The limit of a focused crawl for URLs that are worth less than others.

    >>> exploration = Exploration(share=0.25, follow=0.5, mean_relevance=lambda: 0.9)
    >>> exploration.limit
    LevelLimit(deepest=3, beyond=0)
    >>> for _ in range(8):
    ...     exploration.visit_released()
    >>> exploration.limit.beyond
    2
    """

    def __init__(self, share: float, follow: float, mean_relevance: Callable[[], float]) -> None:
        self._share, self._follow = share, follow
        self._mean_relevance = mean_relevance  # of the pages that were fetched lately
        self._saved = 0.0  # visits that are allowed and not used

    @property
    def limit(self) -> LevelLimit:
        """What may be loaded now."""
        return LevelLimit(deepest_level(self._follow, self._mean_relevance()), max(int(self._saved), 0))

    def visit_released(self) -> None:
        """Note that a visit, to whatever URL, was released."""
        self._saved = min(self._saved + self._share, _MOST_SAVED)

    def urls_loaded(self, count: int) -> None:
        """Note that URLs beyond the deepest level were loaded, to be visited."""
        self._saved = max(self._saved - count, -_MOST_SAVED)
