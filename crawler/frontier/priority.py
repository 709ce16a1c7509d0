"""How important is a URL, and whose turn is it?

A URL waits in one of the levels; level 0 is visited first. What decides is kept with the URL, so that anyone can see why
it is where it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

LEVELS = 8
STEPS = 8  # inside a level, less is sooner; all URLs are at step 0 for now
MOST_INLINKS = 2**LEVELS - 1  # more change nothing
_FIRST_LINKS = 2  # levels between a seed and what it links to, for what others recommend


class PriorityInputs(NamedTuple):
    """What is known of a URL that makes it more or less important."""

    depth: int = 0  # links from a seed
    inlinks: int = 0  # sites other than its own that link to it
    hint: float | None = None  # from 0 to 1, of a sitemap or a spider; .5 says nothing
    visits: int = 0
    changes: int = 0  # how often it was found changed


def parts_of(standing: PriorityInputs) -> dict[str, int]:
    """What moves the URL, and by how many levels; less is more important.

    >>> parts_of(PriorityInputs(depth=3, inlinks=3, hint=0.8))
    {'depth': 5, 'in-links': -2, 'hint': -1, 'freshness': 0}
    """
    depth, inlinks, hint, visits, changes = standing
    return {
        "depth": _FIRST_LINKS + min(depth, LEVELS) if depth > 0 else 0,
        "in-links": 1 - (1 + min(inlinks, MOST_INLINKS)).bit_length(),  # each doubling of them is a level
        "hint": 0 if hint is None else round((0.5 - min(max(hint, 0.0), 1.0)) * 4),
        "freshness": _pressure(visits, changes),
    }


@lru_cache(maxsize=16_384)
def level_of(standing: PriorityInputs) -> int:
    """The level in which the URL waits.

    >>> [level_of(PriorityInputs(depth)) for depth in (0, 1, 4, 90)]
    [0, 3, 6, 7]
    >>> [level_of(PriorityInputs(2, inlinks)) for inlinks in (0, 1, 2, 3, 100)]
    [4, 3, 3, 2, 0]
    """
    return min(max(sum(parts_of(standing).values()), 0), LEVELS - 1)


def _pressure(visits: int, changes: int) -> int:
    """A page that has changed between most visits grows old sooner than one that never did."""
    if visits >= 2 and 2 * changes >= visits - 1:
        return -1
    return 1 if visits >= 4 and not changes else 0


Draw = Callable[[Sequence[int]], int]  # which of these levels, in ascending order, is served next


def most_important(levels: Sequence[int]) -> int:
    """Draws the first level as long as there is anything in it."""
    return levels[0]


class BiasedDraw:
    """Draws each level twice as often as the next: important hosts come first, and none waits forever.

    >>> BiasedDraw(lambda: 0.5)([0, 1, 4]), BiasedDraw(lambda: 0.99)([0, 1, 4])
    (0, 4)
    """

    def __init__(self, random: Callable[[], float]) -> None:
        self._random = random  # at least 0, less than 1

    def __call__(self, levels: Sequence[int]) -> int:
        weights = [0.5**level for level in levels]
        place = self._random() * sum(weights)
        for level, weight in zip(levels, weights, strict=True):
            place -= weight
            if place < 0:
                return level
        return levels[-1]
