"""Who hangs together with whom, if some pairs do? Numbers in sets that are joined pair by pair."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.int64]


class UnionFind:
    """The numbers from 0 on, at first each by itself. A set is known by its least number."""

    def __init__(self, size: int) -> None:
        self._above = np.arange(size, dtype=np.int64)

    def roots(self, places: Places) -> Places:
        """The sets in which these are."""
        found = self._above[places]
        while not np.array_equal(higher := self._above[found], found):
            found = higher
        self._above[places] = found
        return found

    def join(self, ones: Places, others: Places) -> NDArray[np.bool]:
        """Join the sets of each pair; which pairs joined two.

        >>> unions = UnionFind(4)
        >>> unions.join(np.array([3, 1, 3]), np.array([1, 2, 2])).tolist(), unions.roots(np.arange(4)).tolist()
        ([True, True, False], [0, 1, 1, 1])
        """
        joined = np.zeros(len(ones), dtype=np.bool)
        apart = np.flatnonzero(self.roots(ones) != self.roots(others))
        for pair, one, other in zip(apart.tolist(), ones[apart].tolist(), others[apart].tolist(), strict=True):
            joined[pair] = self._join(one, other)
        return joined

    def _join(self, one: int, other: int) -> bool:
        low, high = sorted((self.root(one), self.root(other)))
        self._above[high] = low
        return low != high

    def root(self, place: int) -> int:
        """The set in which one is."""
        above = self._above
        while (higher := int(above[place])) != place:
            above[place] = above[higher]  # next time the way is half as long
            place = higher
        return place
