"""The words of a text in any language, and their counts."""

from __future__ import annotations

import doctest

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.focus import words as module
from crawler.focus.words import (
    MAX_CHARACTERS,
    WordCounts,
    count_words,
    numbers_of_text,
    runs_of_short_texts,
    runs_of_text,
    word_number,
    words_of_text,
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The Great Auk (Pinguinus)", ["the", "great", "auk", "pinguinus"]),
        ("snake_case x-ray", ["snake", "case", "x", "ray"]),
        ("RTCPeerConnection", ["rtcpeerconnection", "rtc", "peer", "connection"]),
        ("HTML css3", ["html", "css3"]),
        ("“Straße” — Ärger…", ["straße", "ärger"]),
        ("e\u0301te\u0301 été", ["été", "été"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("Птицы и гнёзда", ["птицы", "и", "гнёзда"]),
        ("鳥の巣", ["鳥の", "の巣"]),
        ("鳥", ["鳥"]),
        ("안녕하세요", ["안녕", "녕하", "하세", "세요"]),
        ("นกในรัง", ["นก", "กใ", "ใน", "นร", "รั", "ัง"]),
        ("\x00\ud800 \x07word\x1f", ["word"]),
        ("", []),
    ],
)
def test_words_of_a_text(text: str, words: list[str]) -> None:
    assert list(words_of_text(text)) == words


def test_words_are_counted_by_their_numbers() -> None:
    counted = count_words("red gull, red bill 鳥の巣 red")
    expected = {"red": 3, "gull": 1, "bill": 1, "鳥の": 1, "の巣": 1}
    assert dict(zip(counted.numbers.tolist(), counted.counts.tolist(), strict=True)) == {
        word_number(word): count for word, count in expected.items()
    }


@given(st.text())
def test_counts_are_those_of_the_words_and_survive_as_bytes(text: str) -> None:
    counted = count_words(text)
    assert set(counted.numbers.tolist()) == {word_number(word) for word in words_of_text(text)}
    again = WordCounts.from_bytes(counted.to_bytes())
    assert np.array_equal(again.numbers, counted.numbers)
    assert np.array_equal(again.counts, counted.counts)


def test_of_a_long_text_the_beginning_is_counted() -> None:
    assert count_words("x " * MAX_CHARACTERS + "y").numbers.tolist() == [word_number("x")]
    assert count_words("x " * (MAX_CHARACTERS // 2 - 1) + "y").numbers.tolist() == [word_number("x"), word_number("y")]
    assert list(words_of_text("x" * 10**6)) == ["x" * 40]
    assert len(list(words_of_text("鳥" * 10**6))) == MAX_CHARACTERS - 1


def test_the_most_frequent_words_are_kept_in_their_order() -> None:
    counted = count_words("a b c b d d e").most_frequent(3)
    assert counted.numbers.tolist() == [word_number(word) for word in "abd"]
    assert counted.counts.tolist() == [1, 2, 2]


def test_incomplete_bytes_are_ignored() -> None:
    counted = count_words("red gull").to_bytes()
    assert len(WordCounts.from_bytes(counted[:-1]).numbers) == 1
    assert len(WordCounts.from_bytes(b"").numbers) == 0


def test_the_examples_are_true() -> None:
    assert doctest.testmod(module).failed == 0


@given(st.lists(st.text(max_size=30), max_size=5))
def test_many_texts_are_split_as_one_is(texts: list[str]) -> None:
    assert runs_of_short_texts(texts, 20) == [runs_of_text(text[:20]) for text in texts]


@given(st.text())
def test_numbers_are_those_of_the_words(text: str) -> None:
    assert numbers_of_text(text) == [word_number(word) for word in words_of_text(text)]


def test_long_words_have_numbers() -> None:
    text = "x" * 200 + " \ud800" + "鳥の巣" * 50
    assert numbers_of_text(text) == [word_number(word) for word in words_of_text(text)]
