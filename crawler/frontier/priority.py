"""How important is a URL before anything is known of it?"""

from __future__ import annotations

from collections.abc import Callable, Sequence

LEVELS = 5  # priority levels; 0 is visited first


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


def level_of(depth: int) -> int:
    """Near a seed is important; what is far away waits in the last level.

    >>> [level_of(depth) for depth in (0, 1, 4, 90)]
    [0, 1, 4, 4]
    """
    return min(max(depth, 0), LEVELS - 1)
