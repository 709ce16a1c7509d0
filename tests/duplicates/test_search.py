"""A scan over all sketches finds the candidates for near-duplicates of a document."""

from __future__ import annotations

import doctest
import random

import numpy as np
import pytest

from crawler.duplicates import search
from crawler.duplicates.bands import SKETCH_DTYPE
from crawler.duplicates.cascade import DuplicateRule
from crawler.duplicates.minhash import PERMUTATIONS
from crawler.duplicates.page_sketch import page_sketch
from crawler.duplicates.search import SearchCandidate, find_nearest_sketches, lowest_estimate

RULE = DuplicateRule()
OWN = np.zeros(1, dtype=SKETCH_DTYPE)
OWN["minhashes"] = np.arange(PERMUTATIONS)


def sketch_sharing(agreeing: int) -> bytes:
    """A sketch that agrees with `OWN` in this many minhashes."""
    other = OWN.copy()
    other["minhashes"][0, agreeing:] += 1
    return other.tobytes()


BLOCKS = [
    [(1, 11, sketch_sharing(200)), (2, 12, sketch_sharing(100)), (3, 13, b"")],
    [],
    [(4, 14, sketch_sharing(180)), (5, 15, sketch_sharing(160)), (6, 16, sketch_sharing(180))],
]


def test_the_examples() -> None:
    assert doctest.testmod(search).failed == 0


@pytest.mark.parametrize(
    ("floor", "most", "numbers", "more"),
    [(0.0, 10, [1, 4, 6, 5, 2], 0), (0.85, 10, [1, 4, 6], 0), (0.8, 2, [1, 4], 2), (1.0, 1, [1], 0)],
)
def test_the_most_similar_come_first(floor: float, most: int, numbers: list[int], more: int) -> None:
    found = find_nearest_sketches(OWN.tobytes(), BLOCKS, floor, most)
    assert [candidate.number for candidate in found.candidates] == numbers
    assert found.more == more
    assert found.candidates[0] == SearchCandidate(1, 11, 1.0)


def test_an_empty_collection_has_no_candidates() -> None:
    assert find_nearest_sketches(OWN.tobytes(), [], 0.0, 10) == ([], 0)


@pytest.mark.parametrize("threshold", [0.3, 0.6, 0.8, 0.9])
def test_few_estimates_are_below_the_floor(threshold: float) -> None:
    chance = random.Random(1)
    missed = 0
    for _ in range(100):
        words = [str(chance.random()) for _ in range(800)]
        common = round(800 * 2 * threshold / (1 + threshold))
        other = words[:common] + [str(chance.random()) for _ in range(800 - common)]
        one, two = (page_sketch(" ".join(text), b"", RULE) for text in (words, other))
        missed += not find_nearest_sketches(one, [[(1, 1, two)]], lowest_estimate(threshold), 1).candidates
    assert missed <= 3
