"""A union-find structure: joins pairs of numbers into disjoint sets."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.int64]


class UnionFind:
    """Disjoint sets of the numbers from 0 on, at first one set for each. A set is identified by its least number."""

    def __init__(self, size: int) -> None:
        self._parents = np.arange(size, dtype=np.int64)

    def roots(self, places: Places) -> Places:
        """The set of each of these numbers, identified by its root."""
        roots = self._parents[places]
        while not np.array_equal(parents := self._parents[roots], roots):
            roots = parents
        self._parents[places] = roots
        return roots

    def join(self, ones: Places, others: Places) -> NDArray[np.bool]:
        """Join the sets of each pair, and return for each pair whether they were two different sets.

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
        self._parents[high] = low
        return low != high

    def root(self, place: int) -> int:
        """The set of one number, identified by its root."""
        parents = self._parents
        while (parent := int(parents[place])) != place:
            parents[place] = parents[parent]  # path halving: the next lookup takes half the steps
            place = parent
        return place
