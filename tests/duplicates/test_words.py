"""Words are what `\\w+` matches in lower case, and each is hashed to one number."""

from __future__ import annotations

import doctest
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.duplicates import words as module
from crawler.duplicates.words import MAX_CHARACTERS, mix_bits, token_hashes, word_hashes

ODD = "aAbB_09 \n.-'ßİΣςé\u0301\u0345\u200d\u00adǅⅷ²字\U0001d400\U0001f600\U00010400\ud800\udfff\U000e0100"
TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=())),  # surrogates, too
    st.text(st.sampled_from(ODD)),
    st.text("ab ", max_size=200),
)


def words_of(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


@given(TEXTS)
def test_each_word_has_one_hash_and_no_other_word_has_it(text: str) -> None:
    words, hashes = words_of(text), word_hashes(text).tolist()
    assert len(hashes) == len(words)
    assert len(set(zip(words, hashes, strict=True))) == len(set(words)) == len(set(hashes))


@given(TEXTS, TEXTS)
def test_a_word_has_the_same_hash_in_every_text(one: str, other: str) -> None:
    hashes = {
        word: number for text in (one, other) for word, number in zip(words_of(text), word_hashes(text), strict=True)
    }
    for text in (f"{one} {other}", f"{other}, {one}"):
        assert word_hashes(text).tolist() == [hashes[word] for word in words_of(text)]


def test_which_characters_are_in_words_is_what_re_says() -> None:
    every = [chr(number) for number in range(0x110000)]
    lines = "\n".join(every)  # a character that is no letter leaves its line empty
    assert len(word_hashes(lines[:MAX_CHARACTERS])) == len(words_of(lines[:MAX_CHARACTERS]))
    for start in range(0, len(every), MAX_CHARACTERS // 4):
        part = "\n".join(every[start : start + MAX_CHARACTERS // 4])
        assert len(word_hashes(part)) == len(words_of(part))


@pytest.mark.parametrize("text", ["", " ", "...", "\ud800", "\u0301"])
def test_a_text_without_words_has_no_hashes(text: str) -> None:
    assert word_hashes(text).tolist() == []


def test_all_words_of_a_real_vocabulary_differ() -> None:
    words = [
        f"{first}{second}{number}" for first in "abcdefghij" for second in ("", "é", "字") for number in range(5_000)
    ]
    assert len(set(word_hashes(" ".join(words)[:MAX_CHARACTERS]).tolist())) == len(
        set(words_of(" ".join(words)[:MAX_CHARACTERS]))
    )


def test_of_very_long_texts_only_the_beginning_is_hashed() -> None:
    text = "word " * (MAX_CHARACTERS // 5)
    assert word_hashes(text + "more words").tolist() == word_hashes(text).tolist()
    assert len(word_hashes(text)) == MAX_CHARACTERS // 5


@given(st.lists(st.text(st.characters(exclude_categories=()))))
def test_any_strings_can_be_hashed_as_tokens(tokens: list[str]) -> None:
    hashes = token_hashes(tokens).tolist()
    assert len(hashes) == len(tokens)
    assert len(set(zip(tokens, hashes, strict=True))) == len(set(tokens)) == len(set(hashes))


def test_hashes_are_spread_evenly_over_all_bits() -> None:
    hashes = word_hashes(" ".join(map(str, range(20_000))))
    for bit in range(64):
        assert abs(int((hashes >> bit & 1).sum()) - 10_000) < 400  # more than five standard deviations


def test_mixing_keeps_different_numbers_different() -> None:
    numbers = word_hashes(" ".join(map(str, range(20_000))))
    assert len(set(mix_bits(numbers).tolist())) == 20_000


def test_the_examples_are_true() -> None:
    assert doctest.testmod(module).failed == 0
