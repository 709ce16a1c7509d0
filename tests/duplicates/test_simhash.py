"""Similar documents have simhashes that differ in few bits."""

from __future__ import annotations

import doctest
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.duplicates import simhash as module
from crawler.duplicates.simhash import MOST_BITS, agreeing_bits, simhash, simhash_of, simhash_of_words
from crawler.duplicates.words import word_hashes
from tests.duplicates.sets import simhash_keys

# Croft, Metzler and Strohman, Search Engines, figure 3.12: words, weights, hashes.
TEXTBOOK = {
    "tropical": (2, 0b01100001),
    "fish": (2, 0b10101011),
    "include": (1, 0b11100110),
    "found": (1, 0b00011110),
    "environments": (1, 0b00101101),
    "around": (1, 0b10001011),
    "world": (1, 0b00101010),
    "including": (1, 0b11000000),
    "both": (1, 0b10101110),
    "freshwater": (1, 0b00111111),
    "salt": (1, 0b10110101),
    "water": (1, 0b00100101),
    "species": (1, 0b11101110),
}
TEXTS = st.lists(st.sampled_from(["to", "be", "or", "not", "字", "𝐀"]), max_size=40).map(" ".join)
NUMBERS = st.integers(0, 2**64 - 1)


def test_the_worked_example_of_the_textbook() -> None:
    weights = {word: weight for word, (weight, _) in TEXTBOOK.items()}
    assert simhash_of(weights, bits=8, hashed=lambda word: TEXTBOOK[word][1]) == 0b10101111


@given(TEXTS, st.integers(1, MOST_BITS))
def test_each_bit_is_what_most_words_have(text: str, bits: int) -> None:
    words = word_hashes(text)
    ours = simhash_of_words(words, bits)
    assert ours == simhash(text, bits) < 1 << bits
    for bit in range(min(bits, 64)):
        ones = sum(int(word) >> bit & 1 for word in words)
        assert ours >> bit & 1 == (2 * ones > len(words))


@pytest.mark.parametrize("count", [254, 255, 256, 511, 2_000])
def test_no_count_overflows(count: int) -> None:
    words = np.full(count, 0xF0F0F0F0F0F0F0F0, dtype=np.uint64)
    assert simhash_of_words(words) == 0xF0F0F0F0F0F0F0F0


@given(TEXTS, st.sampled_from([32, 64, 128, 384]))
def test_more_bits_begin_with_the_fewer(text: str, bits: int) -> None:
    assert simhash(text, MOST_BITS) & ((1 << bits) - 1) == simhash(text, bits)


@given(st.dictionaries(st.text(), st.integers(1, 5), min_size=1), st.integers(1, MOST_BITS))
def test_a_weight_counts_as_that_many_repetitions(weights: dict[str, int], bits: int) -> None:
    hashes = {feature: Random(feature).getrandbits(64) for feature in weights}
    repeated = [hashes[feature] for feature, weight in weights.items() for _ in range(weight)]
    expected = simhash_of_words(np.array(repeated, dtype=np.uint64), bits)
    assert simhash_of(weights, bits, hashes.__getitem__) == expected


def test_the_feature_with_the_largest_weight_decides() -> None:
    assert simhash_of({"fish": 10.0, "tank": 0.5, "salt": 0.5}) == simhash_of({"fish": 1.0})


@pytest.mark.parametrize("bits", [64, 384])
def test_similar_texts_agree_in_more_bits_than_others(bits: int) -> None:
    chance = Random(3)
    words = [str(chance.randrange(2_000)) for _ in range(500)]
    edited = [str(chance.randrange(2_000)) if chance.random() < 0.05 else word for word in words]
    unlike = [str(chance.randrange(2_000, 4_000)) for _ in range(500)]
    own, near, far = (simhash(" ".join(text), bits) for text in (words, edited, unlike))
    assert agreeing_bits(own, own, bits) == bits
    assert agreeing_bits(own, near, bits) > 0.85 * bits
    assert 0.25 * bits < agreeing_bits(own, far, bits) < 0.75 * bits


def test_the_bits_of_384_are_independent() -> None:
    """In simhashes of single words each bit is set in about half of them, and no two bits are correlated."""
    numbers = [simhash(str(number), MOST_BITS).to_bytes(MOST_BITS // 8, "little") for number in range(600)]
    table = np.unpackbits(np.frombuffer(b"".join(numbers), dtype=np.uint8)).reshape(600, MOST_BITS)
    assert abs(table.mean(axis=0) - 0.5).max() < 0.1
    assert abs(np.corrcoef(table.T) - np.eye(MOST_BITS)).max() < 0.25


@given(st.integers(0, 2**MOST_BITS - 1), st.integers(0, 2**MOST_BITS - 1), st.integers(1, MOST_BITS))
def test_agreeing_bits_are_counted_among_those_asked_for(one: int, other: int, bits: int) -> None:
    assert agreeing_bits(one, other, bits) == sum(one >> bit & 1 == other >> bit & 1 for bit in range(bits))


@pytest.mark.parametrize("bits", [0, -1, MOST_BITS + 1])
def test_a_number_of_bits_out_of_range_is_refused(bits: int) -> None:
    with pytest.raises(ValueError, match=f"1 to {MOST_BITS} bits, not {bits}"):
        simhash("words", bits)


def test_the_simhash_of_an_empty_text_is_zero() -> None:
    assert simhash("") == simhash_of({}) == 0


@given(NUMBERS, st.integers(0, 63))
def test_numbers_that_differ_in_one_bit_share_a_key(number: int, flipped: int) -> None:
    assert set(simhash_keys(number)) & set(simhash_keys(number ^ 1 << flipped))


@pytest.mark.parametrize(("bits", "share"), [(2, 31 / 63), (3, 31 * 30 / (63 * 62))])
def test_of_numbers_that_differ_in_more_bits_some_share_a_key(bits: int, share: float) -> None:
    """Simhashes share a key if all differing bits are in one half."""
    chance = Random(5)
    shared = 0
    for _ in range(4_000):
        number, other = (chance.getrandbits(64),) * 2
        for bit in chance.sample(range(64), bits):
            other ^= 1 << bit
        shared += not set(simhash_keys(number)).isdisjoint(simhash_keys(other))
    assert shared / 4_000 == pytest.approx(share, abs=0.04)


def test_the_examples_are_true() -> None:
    assert doctest.testmod(module).failed == 0
