"""Shingles are runs of words, each hashed to one number."""

from __future__ import annotations

import doctest
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.duplicates import shingles as module
from crawler.duplicates.shingles import SHINGLE_WORDS, set_difference, shingle_set, shingles
from crawler.duplicates.words import word_hashes

TEXTS = st.lists(st.sampled_from(["a", "b", "c", "rose", "is", "字", "Rose"])).map(" ".join)
SETS = st.sets(st.integers(0, 30))


def runs_of(text: str, size: int) -> list[tuple[str, ...]]:
    words = re.findall(r"\w+", text.lower())
    return [tuple(words[at : at + size]) for at in range(max(len(words) - size + 1, 1))] if words else []


@given(TEXTS, st.integers(1, 7))
def test_each_run_of_words_is_one_number_and_no_other_run_is(text: str, size: int) -> None:
    runs, numbers = runs_of(text, size), shingles(word_hashes(text), size).tolist()
    assert len(numbers) == len(runs)
    assert len(set(zip(runs, numbers, strict=True))) == len(set(runs)) == len(set(numbers))


@given(TEXTS, TEXTS, st.integers(1, 7))
def test_texts_share_as_many_shingles_as_runs(one: str, other: str, size: int) -> None:
    shared = set(runs_of(one, size)) & set(runs_of(other, size))
    assert len(set(shingle_set(one, size).tolist()) & set(shingle_set(other, size).tolist())) == len(shared)


@given(TEXTS)
def test_a_set_is_sorted_and_has_each_once(text: str) -> None:
    found = shingle_set(text).tolist()
    assert found == sorted(set(shingles(word_hashes(text), SHINGLE_WORDS).tolist()))


@pytest.mark.parametrize(("text", "number"), [("", 0), ("one", 1), ("one two three four", 1), ("a b c d e f", 2)])
def test_a_text_with_few_words_is_one_run(text: str, number: int) -> None:
    assert len(shingles(word_hashes(text))) == number


def test_the_order_of_words_matters() -> None:
    assert shingle_set("a b c d e").tolist() != shingle_set("a b c e d").tolist()


@given(SETS, SETS)
def test_the_difference_of_sets_has_what_only_the_first_has(own: set[int], others: set[int]) -> None:
    everything = shingle_set(" ".join(map(str, range(31))), 1)
    left = set_difference(everything[sorted(own)], everything[sorted(others)])
    assert left.tolist() == everything[sorted(own - others)].tolist()


def test_the_examples_are_true() -> None:
    assert doctest.testmod(module).failed == 0
