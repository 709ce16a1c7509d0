"""Documents share keys as often as the number and size of the bands predict."""

from __future__ import annotations

import doctest
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.duplicates import bands as module
from crawler.duplicates.bands import (
    RECALL_AT_THRESHOLD,
    SKETCH_DTYPE,
    Bands,
    bands_for,
    document_keys,
    estimate_similarities,
)
from crawler.duplicates.jaccard import jaccard
from crawler.duplicates.minhash import PERMUTATIONS, Sketch, similarity, sketch, sketch_of_shingles
from crawler.duplicates.simhash import simhash
from tests.duplicates.sets import band_keys, pairs, simhash_keys

PAIRS = 1_500
MINHASHES = st.lists(st.integers(0, 2**16 - 1), min_size=PERMUTATIONS, max_size=PERMUTATIONS)


def share_key(one: Sketch, other: Sketch, bands: Bands) -> bool:
    return not set(band_keys(one, bands)).isdisjoint(band_keys(other, bands))


@pytest.mark.parametrize("similarity", [0.5, 0.8, 0.9])
@pytest.mark.parametrize("threshold", [0.8, 0.9])
def test_pairs_share_keys_as_often_as_predicted(threshold: float, similarity: float) -> None:
    bands = bands_for(threshold, PERMUTATIONS)
    found = list(pairs(PAIRS, 400, similarity))
    met = sum(share_key(sketch_of_shingles(one), sketch_of_shingles(other), bands) for one, other in found)
    expected = bands.collision_probability(jaccard(*found[0]))
    assert abs(met / PAIRS - expected) < 4.5 * sqrt(expected * (1 - expected) / PAIRS) + 0.002


@pytest.mark.parametrize("threshold", [0.8, 0.9])
def test_short_documents_at_the_threshold_share_keys_nearly_as_often(threshold: float) -> None:
    bands = bands_for(threshold, PERMUTATIONS)
    found = list(pairs(PAIRS, 100, threshold))
    met = sum(share_key(sketch_of_shingles(one), sketch_of_shingles(other), bands) for one, other in found)
    assert met / PAIRS > RECALL_AT_THRESHOLD - 0.02


@given(st.floats(0.5, 0.99), st.sampled_from([64, 100, 200, 400]))
def test_bands_fit_the_sketch_and_find_pairs_at_the_threshold(threshold: float, permutations: int) -> None:
    bands = bands_for(threshold, permutations)
    assert bands.number * bands.rows <= permutations
    assert bands.collision_probability(threshold) >= RECALL_AT_THRESHOLD


@pytest.mark.parametrize(
    ("bands", "similarity", "expected"),
    [(Bands(1, 1), 0.3, 0.3), (Bands(1, 3), 0.5, 0.125), (Bands(2, 1), 0.5, 0.75), (Bands(20, 5), 0.8, 0.99964)],
)
def test_the_probability_of_sharing_a_key(bands: Bands, similarity: float, expected: float) -> None:
    assert bands.collision_probability(similarity) == pytest.approx(expected, abs=1e-5)


@given(MINHASHES, st.integers(0, PERMUTATIONS - 1))
def test_one_minhash_changes_the_key_of_its_band_alone(minhashes: list[int], place: int) -> None:
    bands = Bands(20, 10)
    other = [value ^ (number == place) for number, value in enumerate(minhashes)]
    one, two = (band_keys(Sketch(np.array(row, dtype=np.uint16)), bands) for row in (minhashes, other))
    assert [left == right for left, right in zip(one, two, strict=True)] == [n != place // 10 for n in range(20)]


@given(MINHASHES, st.integers(0, 2**64 - 1))
def test_keys_fit_databases_and_differ_between_bands(minhashes: list[int], number: int) -> None:
    row = np.zeros(1, dtype=SKETCH_DTYPE)
    row["minhashes"], row["simhash"] = minhashes, number
    (keys,) = document_keys([row.tobytes()], Bands(20, 10))
    assert all(-(1 << 63) <= key < 1 << 63 for key in keys)
    assert len(set(keys)) == len(keys) == 20 + 2


def test_equal_bands_at_different_places_have_different_keys() -> None:
    keys = band_keys(Sketch(np.zeros(PERMUTATIONS, dtype=np.uint16)), Bands(20, 10))
    assert len(set(keys)) == 20


def test_keys_of_stored_sketches_are_the_same() -> None:
    made = sketch("to be or not to be that is the question")
    assert band_keys(Sketch.from_bytes(made.to_bytes()), Bands(9, 9)) == band_keys(made, Bands(9, 9))


def test_stored_sketches_have_the_keys_of_their_parts() -> None:
    made, number = sketch("to be or not to be that is the question"), 2**63 + 5
    row = np.zeros(1, dtype=SKETCH_DTYPE)
    row["minhashes"], row["simhash"] = made.marks, number
    (keys,) = document_keys([row.tobytes()], Bands(9, 9))
    assert keys == [key - (1 << 64) * (key >= 1 << 63) for key in band_keys(made, Bands(9, 9)) + simhash_keys(number)]


def test_keys_stay_what_they_are() -> None:
    """Stores keep keys, as they keep sketches."""
    text = "To be, or not to be, that is the question: whether 'tis nobler in the mind to suffer 字 𝐀"
    assert band_keys(sketch(text), Bands(2, 3)) == [11109227121421540023, 14826298482322005885]
    assert simhash(text) == 17699759707312596325
    assert simhash_keys(simhash(text)) == [3367397773783531854, 7029044386209128661]


def test_a_document_without_words_has_no_keys() -> None:
    assert band_keys(sketch(""), Bands(9, 9)) == []


def test_one_against_many_is_one_against_each() -> None:
    made = [sketch_of_shingles(found) for pair in pairs(20, 100, 0.7) for found in pair]
    assert estimate_similarities(made[0], made) == [similarity(made[0], other) for other in made]
    assert estimate_similarities(made[0], []) == []
    assert estimate_similarities(sketch(""), made[:2]) == [0.0, 0.0]


def test_one_against_many_of_which_some_are_empty() -> None:
    made, empty = sketch("to be or not to be"), sketch("")
    assert estimate_similarities(made, [made, empty]) == [1.0, 0.0]


def test_the_examples_are_true() -> None:
    assert doctest.testmod(module).failed == 0
