"""How important is a URL before anything is known of it?"""

from __future__ import annotations

LEVELS = 5  # priority levels; 0 is visited first


def level_of(depth: int) -> int:
    """Near a seed is important; what is far away waits in the last level.

    >>> [level_of(depth) for depth in (0, 1, 4, 90)]
    [0, 1, 4, 4]
    """
    return min(max(depth, 0), LEVELS - 1)
