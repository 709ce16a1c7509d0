"""Sketches estimate the similarity of two documents without bias, and about as precisely as real permutations."""

from __future__ import annotations

import doctest
from math import sqrt
from random import Random

import numpy as np
import pytest
from datasketch import MinHash
from hypothesis import given
from hypothesis import strategies as st

from crawler.duplicates import minhash as module
from crawler.duplicates.jaccard import jaccard
from crawler.duplicates.minhash import PERMUTATIONS, Sketch, similarity, sketch, sketch_of_shingles
from crawler.duplicates.shingles import shingle_set
from tests.duplicates.sets import pairs

PAIRS = 600
SHINGLES = st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=60)


def errors(size: int, wanted: float, permutations: int = PERMUTATIONS) -> np.ndarray:
    return np.array(
        [
            similarity(sketch_of_shingles(one, permutations), sketch_of_shingles(other, permutations))
            - jaccard(one, other)
            for one, other in pairs(PAIRS, size, wanted)
        ]
    )


def spread(wanted: float, permutations: int = PERMUTATIONS) -> float:
    """The standard deviation of an estimate by independent permutations."""
    return sqrt(wanted * (1 - wanted) / permutations)


@pytest.mark.parametrize("wanted", [0.1, 0.5, 0.8, 0.9])
@pytest.mark.parametrize("size", [36, 90, 146, 400, 1_500])  # the first three are of texts of 40 to 150 words
def test_estimates_are_right_on_the_average_and_as_near_as_permutations(size: int, wanted: float) -> None:
    found = errors(size, wanted)
    assert abs(found.mean()) < 4 * spread(wanted) / sqrt(PAIRS)
    assert found.std() < 1.4 * spread(wanted)  # borrowed minima cost short documents a fifth of their precision
    assert abs(found).max() < 6 * spread(wanted)


@pytest.mark.parametrize("permutations", [16, 64, 400])
def test_more_permutations_make_better_estimates(permutations: int) -> None:
    assert errors(500, 0.8, permutations).std() == pytest.approx(spread(0.8, permutations), rel=0.25)


@pytest.mark.parametrize("size", [1, 5, 36, 1_500])
def test_documents_with_nothing_in_common_do_not_agree(size: int) -> None:
    assert (
        max(similarity(sketch_of_shingles(one), sketch_of_shingles(other)) for one, other in pairs(100, size, 0.0))
        <= 0.01
    )


@given(SHINGLES, st.randoms(), st.integers(1, 300))
def test_neither_order_nor_number_of_shingles_matters(found: list[int], chance: Random, permutations: int) -> None:
    again = [*found, *chance.choices(found, k=20)]
    chance.shuffle(again)
    one, other = (sketch_of_shingles(np.array(numbers, dtype=np.uint64), permutations) for numbers in (found, again))
    assert one == other
    assert len(one.marks) == permutations
    assert similarity(one, other) == 1.0


@given(SHINGLES, SHINGLES)
def test_similarity_is_mutual_and_a_share(one: list[int], other: list[int]) -> None:
    left, right = (sketch_of_shingles(np.array(numbers, dtype=np.uint64)) for numbers in (one, other))
    assert 0.0 <= similarity(left, right) == similarity(right, left) <= 1.0


@given(SHINGLES)
def test_a_sketch_comes_back_from_its_bytes(found: list[int]) -> None:
    made = sketch_of_shingles(np.array(found, dtype=np.uint64))
    data = made.to_bytes()
    again = Sketch.from_bytes(data)
    assert (len(data), again, hash(again)) == (2 * PERMUTATIONS, made, hash(made))
    assert similarity(again, made) == 1.0


def test_sketches_stay_what_they_are() -> None:
    """Stores keep sketches: with other values, documents that are stored would no longer be found."""
    text = "To be, or not to be, that is the question: whether 'tis nobler in the mind to suffer 字 𝐀"
    assert sketch(text, permutations=8).marks.tolist() == [35587, 15573, 12375, 55782, 24400, 11714, 40167, 30975]


def test_case_and_punctuation_make_no_difference() -> None:
    assert sketch("To be, or not to be -- that is") == sketch("to BE or not (to be) that is!")


def test_a_text_without_words_is_similar_to_nothing() -> None:
    empty, full = sketch("..."), sketch("to be or not to be")
    assert (similarity(empty, full), similarity(empty, empty), empty.to_bytes()) == (0.0, 0.0, b"")
    assert Sketch.from_bytes(b"") == empty


def test_sketches_of_different_sizes_are_not_compared() -> None:
    with pytest.raises(ValueError, match="200 and 100 permutations"):
        similarity(sketch("one"), sketch("one", permutations=100))


def test_estimates_are_as_good_as_those_of_datasketch() -> None:
    ours, theirs = [], []
    for one, other in _texts(150):
        exactly = jaccard(shingle_set(one), shingle_set(other))
        ours.append(abs(similarity(sketch(one), sketch(other)) - exactly))
        theirs.append(abs(_datasketch(one).jaccard(_datasketch(other)) - exactly))
    assert max(*ours, *theirs) < 0.15
    assert np.mean(ours) < 0.025
    assert np.mean(ours) < 1.25 * np.mean(theirs)


def _texts(number: int) -> list[tuple[str, str]]:
    """Pairs of a text and a copy in which some words are replaced; each of 40 to 600 words."""
    chance = Random(7)
    found = []
    for _ in range(number):
        words = [str(chance.randrange(10_000)) for _ in range(chance.randrange(40, 600))]
        rate = chance.uniform(0.0, 0.1)
        found.append((" ".join(words), " ".join("x" if chance.random() < rate else word for word in words)))
    return found


def _datasketch(text: str) -> MinHash:
    words = text.split()
    found = MinHash(num_perm=PERMUTATIONS)
    found.update_batch([" ".join(words[at : at + 5]).encode() for at in range(len(words) - 4)])
    return found


def test_the_examples_are_true() -> None:
    assert doctest.testmod(module).failed == 0
