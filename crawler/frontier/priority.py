"""The priority of a URL, and the choice of the priority level that is served next.

A URL waits in one of the levels; level 0 is visited first. The inputs of the decision are stored with the URL, so that
`scrapy why` can explain its level.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

LEVELS = 8
STEPS = 8  # inside a level, less is sooner; only focused crawls use others than 0
MOST_INLINKS = 2**LEVELS - 1  # more do not change the level
_LEAST_SCORE = 1e-6
_FIRST_LOG_ODDS = 4.0  # of a link in the first place; those of the last place begin at -5.8
_LOG_ODDS_OF_STEP = 10 / (LEVELS * STEPS)
_FIRST_LINK_LEVEL = 2  # levels left free between a seed and what it links to, for URLs that other sites link to


class Order(StrEnum):
    """The order in which the URLs of a crawl are visited; fixed when it is created."""

    PRIORITY = "priority"  # by level, as computed here
    FIFO = "fifo"  # all in one level, by the time when they were found: to compare with


class PriorityInputs(NamedTuple):
    """The facts about a URL from which its priority level is computed."""

    depth: int = 0  # links from a seed
    inlinks: int = 0  # sites other than its own that link to it
    hint: float | None = None  # from 0 to 1, of a sitemap or a spider; .5 is neutral
    visits: int = 0
    changes: int = 0  # visits that found it changed


def level_parts(inputs: PriorityInputs) -> dict[str, int]:
    """Return the contribution of each fact to the level of a URL; lower is more important.

    >>> level_parts(PriorityInputs(depth=3, inlinks=3, hint=0.8))
    {'depth': 5, 'in-links': -2, 'hint': -1, 'freshness': 0}
    """
    depth, inlinks, hint, visits, changes = inputs
    return {
        "depth": _FIRST_LINK_LEVEL + min(depth, LEVELS) if depth > 0 else 0,
        "in-links": 1 - (1 + min(inlinks, MOST_INLINKS)).bit_length(),  # each doubling of them is a level
        "hint": 0 if hint is None else round((0.5 - min(max(hint, 0.0), 1.0)) * 4),
        "freshness": _freshness_part(visits, changes),
    }


@lru_cache(maxsize=16_384)
def level_of(inputs: PriorityInputs) -> int:
    """Return the priority level in which a URL waits.

    >>> [level_of(PriorityInputs(depth)) for depth in (0, 1, 4, 90)]
    [0, 3, 6, 7]
    >>> [level_of(PriorityInputs(2, inlinks)) for inlinks in (0, 1, 2, 3, 100)]
    [4, 3, 3, 2, 0]
    """
    return min(max(sum(level_parts(inputs).values()), 0), LEVELS - 1)


def _freshness_part(visits: int, changes: int) -> int:
    """Return the level change for freshness: pages that change often come earlier, those that never do come later."""
    if visits >= 2 and 2 * changes >= visits - 1:
        return -1
    return 1 if visits >= 4 and not changes else 0


class Place(NamedTuple):
    """Where a URL waits in a focused crawl: its level, and its step inside it."""

    level: int
    step: int


def places_of(scores: NDArray[np.floating]) -> NDArray[np.int64]:
    """Return the number of the place, level × STEPS + step, of URLs by the scores of the links to them, from 0 to 1.

    Places are equal steps of the log-odds: most links are worth little, and differ by them as much as good ones do.

    >>> places_of(np.array([1.0, 0.5, np.nan])).tolist()
    [0, 25, 63]
    """
    inside = np.minimum(np.fmax(scores, _LEAST_SCORE), 1 - _LEAST_SCORE)  # NaN becomes the least
    steps = (_FIRST_LOG_ODDS - np.log(inside / (1 - inside))) / _LOG_ODDS_OF_STEP
    places: NDArray[np.int64] = np.minimum(np.maximum(steps.astype(np.int64), 0), LEVELS * STEPS - 1)
    return places


def place_of(score: float) -> Place:
    """Return the place of a URL by the score of the best link to it.

    >>> [tuple(place_of(score)) for score in (1.0, 0.5, 0.1, 0.01, 0.0)]
    [(0, 0), (3, 1), (4, 7), (6, 7), (7, 7)]
    """
    return Place(*divmod(int(places_of(np.array([score]))[0]), STEPS))


Draw = Callable[[Sequence[int]], int]  # chooses which of these levels, in ascending order, is served next


def most_important(levels: Sequence[int]) -> int:
    """Always draw the most important level that is not empty."""
    return levels[0]


class BiasedDraw:
    """Draws each level twice as often as the next one: important hosts come first, and none waits forever.

    >>> BiasedDraw(lambda: 0.5)([0, 1, 4]), BiasedDraw(lambda: 0.99)([0, 1, 4])
    (0, 4)
    """

    def __init__(self, random: Callable[[], float]) -> None:
        self._random = random  # returns at least 0, less than 1

    def __call__(self, levels: Sequence[int]) -> int:
        weights = [0.5**level for level in levels]
        place = self._random() * sum(weights)
        for level, weight in zip(levels, weights, strict=True):
            place -= weight
            if place < 0:
                return level
        return levels[-1]
