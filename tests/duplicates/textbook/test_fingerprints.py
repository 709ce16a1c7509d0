"""N-grams, and the rules that select a document's fingerprints from them."""

from __future__ import annotations

import doctest
import re
from collections.abc import Iterable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.duplicates.textbook import fingerprints, rabin
from crawler.duplicates.textbook.fingerprints import (
    hashes,
    modulo,
    ngrams,
    winnowed,
    winnowed_places,
    with_prefix,
)

# Croft, Metzler and Strohman, chapter 3.7: a sentence, and hashes that they made up for its trigrams.
SENTENCE = (
    "Tropical fish include fish found in tropical environments around the world, "
    "including both freshwater and salt water species."
)
FISH = re.findall(r"\w+", SENTENCE.lower())
FISH_HASHES = [938, 664, 463, 822, 492, 798, 78, 969, 143, 236, 913, 908, 694, 553, 870, 779]
ROSES = "a rose is a rose is a rose"

numbers = st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 9))
texts = st.lists(st.sampled_from("abcd"))


def is_in_order(some: Iterable[object], of_all: Iterable[object]) -> bool:
    remaining = iter(of_all)
    return all(one in remaining for one in some)


def test_the_trigrams_of_the_textbook() -> None:
    grams = ngrams(FISH, 3)
    assert grams[:3] == ["tropical fish include", "fish include fish", "include fish found"]
    assert grams[-2:] == ["and salt water", "salt water species"]
    assert len(grams) == len(FISH_HASHES)


def test_the_selection_of_the_textbook() -> None:
    made_up = dict(zip((gram.encode() for gram in ngrams(FISH, 3)), FISH_HASHES, strict=True))
    assert modulo(hashes(ngrams(FISH, 3), made_up.__getitem__), 4) == [664, 492, 236, 908]


def test_roses_have_three_different_shingles() -> None:
    grams = ngrams(ROSES.split(), 4)
    assert len(grams) == 5
    assert set(grams) == {"a rose is a", "rose is a rose", "is a rose is"}


@pytest.mark.parametrize(
    ("n", "overlapping", "expected"),
    [
        (1, True, ["a", "b", "c", "d", "e"]),
        (2, False, ["a b", "c d"]),
        (5, True, ["a b c d e"]),
        (5, False, ["a b c d e"]),
        (6, True, ["a b c d e"]),
        (9, False, ["a b c d e"]),
    ],
)
def test_ngrams(n: int, overlapping: bool, expected: list[str]) -> None:
    assert ngrams(list("abcde"), n, overlapping=overlapping) == expected
    assert ngrams([], n, overlapping=overlapping) == []


@given(texts, st.integers(1, 9))
def test_ngrams_that_do_not_overlap_are_every_nth_of_those_that_do(words: list[str], n: int) -> None:
    assert ngrams(words, n, overlapping=False) == ngrams(words, n)[::n]


def test_the_hash_may_be_rabins() -> None:
    assert hashes(["tropical fish"], rabin.fingerprint) == [rabin.fingerprint(b"tropical fish")]


@given(st.lists(st.text()))
def test_any_text_has_hashes_of_64_bits(grams: list[str]) -> None:
    assert all(0 <= number < 2**64 for number in hashes([*grams, "\ud800"]))


def test_ngrams_with_a_prefix() -> None:
    grams = ngrams(FISH, 2)
    assert with_prefix(grams, "fi") == ["fish include", "fish found"]
    assert with_prefix(grams, ("wa", "fo")) == ["found in", "water species"]
    assert with_prefix(grams, ()) == []


@given(numbers, st.integers(1, 30))
def test_what_is_selected_was_there_and_in_that_order(all_of_them: list[int], p: int) -> None:
    for some in (modulo(all_of_them, p), winnowed(all_of_them, p)):
        assert is_in_order(some, all_of_them)
    assert modulo(all_of_them, 1) == winnowed(all_of_them, 1) == all_of_them
    assert with_prefix(map(str, all_of_them), str(p)) == [
        str(one) for one in all_of_them if str(one).startswith(str(p))
    ]


# The example of the paper on winnowing: the hashes of "adorunrunrunadorunrun" in windows of four.
def test_the_example_of_the_paper() -> None:
    run = [77, 74, 42, 17, 98, 50, 17, 98, 8, 88, 67, 39, 77, 74, 42, 17, 98]
    assert winnowed(run, 4) == [17, 17, 8, 39, 17]
    assert winnowed_places(run, 4) == [3, 6, 8, 11, 15]


def by_definition(all_of_them: Sequence[int], window: int) -> list[int]:
    """The position of the last minimum of each window."""
    chosen: list[int] = []
    for start in range(max(len(all_of_them) - window, 0) + 1):
        places = range(start, min(start + window, len(all_of_them)))
        if places:
            least = min(places, key=lambda place: (all_of_them[place], -place))
            chosen += [least] if least not in chosen else []
    return chosen


@given(numbers, st.integers(1, 12))
def test_winnowing_keeps_the_least_of_each_window(all_of_them: list[int], window: int) -> None:
    assert winnowed_places(all_of_them, window) == by_definition(all_of_them, window)


@given(texts, texts, texts, texts, st.lists(st.sampled_from("abcd"), min_size=8, max_size=20))
def test_no_passage_that_is_long_enough_is_missed(
    one: list[str], two: list[str], three: list[str], four: list[str], passage: list[str]
) -> None:
    n, window = 3, 6  # so that 8 words are enough
    copied = set(hashes(ngrams(passage, n)))
    mine = set(winnowed(hashes(ngrams([*one, *passage, *two], n)), window))
    yours = set(winnowed(hashes(ngrams([*three, *passage, *four], n)), window))
    assert mine & yours & copied


def test_the_density_of_winnowing() -> None:
    run = hashes(map(str, range(20_000)))
    assert len(winnowed(run, 9)) / len(run) == pytest.approx(2 / 10, rel=0.05)
    assert len(modulo(run, 5)) / len(run) == pytest.approx(1 / 5, rel=0.1)


def test_the_examples_are_true() -> None:
    assert doctest.testmod(fingerprints).failed == 0
