"""The words in which two texts differ are listed for people."""

from __future__ import annotations

import doctest
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.duplicates import differences as module
from crawler.duplicates.differences import MAX_WORD_LENGTH, Differences, differences

TEXTS = st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=12)


def test_the_examples() -> None:
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize(
    ("one", "other", "added", "removed"),
    [
        ("open from 9 to 5", "open from 10 to 5", ["10"], ["9"]),
        ("the same", "The SAME!", [], []),
        ("one two", "two one", [], []),  # only moved
        ("again", "again again", ["again"], []),
        ("", "new words", ["new", "words"], []),
        ("", "", [], []),
    ],
)
def test_differences(one: str, other: str, added: list[str], removed: list[str]) -> None:
    found = differences(one, other)
    assert (found.added, found.removed) == (added, removed)
    assert bool(found) is bool(added or removed)


@given(TEXTS, TEXTS)
def test_every_differing_word_is_listed(one: list[str], other: list[str]) -> None:
    found = differences(" ".join(one), " ".join(other), most=100)
    assert set(found.added) == {word for word in other if Counter(other)[word] > Counter(one)[word]}
    assert set(found.removed) == {word for word in one if Counter(one)[word] > Counter(other)[word]}


def test_many_words_are_counted_and_long_ones_cut() -> None:
    found = differences("", " ".join(f"word{number}" for number in range(1_000)) + " " + "x" * 10_000, most=3)
    assert (found.added, found.more_added) == (["word0", "word1", "word2"], 998)
    assert str(found) == "+ word0 word1 word2 and 998 more"
    (word,) = differences("", "x" * 10_000).added
    assert len(word) == MAX_WORD_LENGTH


def test_the_listing_has_no_control_characters() -> None:
    found = differences("", "\x1b[2Jcleared \u202egnorw \x9b31m \x07 \u2028line")
    assert str(found).isprintable()
    assert "cleared" in str(found)


def test_what_does_not_differ_is_not_mentioned() -> None:
    assert str(Differences([], ["gone"])) == "− gone"
    assert str(Differences([], [])) == ""


def test_hostile_texts_are_compared_in_one_pass() -> None:
    # Aligned, these would take four billion steps.
    one, other = "a b " * 100_000, "b a a " * 60_000
    assert differences(one, other).added == ["a"]
