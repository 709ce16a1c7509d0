"""Sets that are joined pair by pair are the connected components of the graph of these pairs."""

from __future__ import annotations

import doctest

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from crawler.duplicates import union_find
from crawler.duplicates.union_find import UnionFind

PAIRS = st.lists(st.tuples(st.integers(0, 19), st.integers(0, 19)), max_size=40)


def test_the_examples() -> None:
    assert doctest.testmod(union_find).failed == 0


@given(PAIRS, st.integers(1, 40))
def test_joined_sets_are_the_connected_components(pairs: list[tuple[int, int]], batch: int) -> None:
    sets = UnionFind(20)
    joined = 0
    for at in range(0, len(pairs), batch):
        ones, others = np.array(pairs[at : at + batch], dtype=np.int64).T
        joined += int(sets.join(ones, others).sum())
    least = list(range(20))
    for _ in range(20):  # the slow way: every number takes over the least number of its neighbours
        for one, other in pairs:
            least[one] = least[other] = min(least[one], least[other])
    roots = sets.roots(np.arange(20)).tolist()
    assert roots == least
    assert roots == [sets.root(place) for place in range(20)]
    assert joined == 20 - len(set(roots))
