"""Sketches estimate how similar two pages are."""

from __future__ import annotations

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.parse import soft404_sketch as module
from crawler.parse.soft404_sketch import SIZE, soft404_similarity, soft404_sketch

URL = "http://shop.test/garden/tools"
SORRY = (
    "We are very sorry, but the page that you have asked for cannot be found here. Please try our search or go home."
)
HARBOUR = "The harbour was quiet in the morning, and boats with red sails lay still upon the dark water of our bay."


def similarity_of_texts(one: str, other: str, one_url: str = URL, other_url: str = URL) -> float:
    return soft404_similarity(soft404_sketch(one, one_url), soft404_sketch(other, other_url))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("garden/tools", "kitchen/knives"),
        ("x7q", "d41d8cd98f00b204"),
        ("Grüße", "größe"),
    ],
)
def test_a_page_that_only_repeats_its_url_is_the_same_page(one: str, other: str) -> None:
    texts = [f"Not found: {path} {SORRY} You asked for {path}." for path in (one, other)]
    assert similarity_of_texts(*texts, f"http://shop.test/{one}", f"http://shop.test/{other}") == 1.0
    assert similarity_of_texts(*texts, "http://shop.test/", "http://shop.test/") < 1.0


def test_different_pages_have_next_to_nothing_in_common() -> None:
    assert similarity_of_texts(SORRY, HARBOUR) == 0.0


def test_case_numbers_and_signs_do_not_count() -> None:
    assert similarity_of_texts(SORRY, f"404 – {SORRY.upper().replace(',', ';')} 12_345 #9") == 1.0


def test_the_more_two_pages_share_the_more_alike_they_are() -> None:
    words = [f"{first}{second}" for first in "abcdefghij" for second in "klmnopqrstuvwxyz"]
    whole = " ".join(words)
    shares = [similarity_of_texts(whole, " ".join(words[: len(words) * tenth // 10])) for tenth in range(11)]
    assert shares[0] == 0.0
    assert shares[10] == 1.0
    assert all(abs(share - tenth / 10) < 0.25 for tenth, share in enumerate(shares))


@pytest.mark.parametrize("text", ["", " \n", "404 12.5 ___", "garden tools", "http"])
def test_a_text_without_words_has_an_empty_sketch_and_no_similarity(text: str) -> None:
    assert soft404_sketch(text, URL) == b""
    assert similarity_of_texts(text, text) == 0.0
    assert similarity_of_texts(text, SORRY) == similarity_of_texts(SORRY, text) == 0.0


@pytest.mark.parametrize("text", ["nothing", "nothing here"])
def test_one_word_is_enough(text: str) -> None:
    assert similarity_of_texts(text, text) == 1.0
    assert similarity_of_texts(text, "elsewhere") == 0.0


def test_the_order_of_words_counts() -> None:
    assert similarity_of_texts("the dog bites a man", "a man bites the dog") < 0.5


def test_a_sketch_is_short_and_always_the_same() -> None:
    long = " ".join(f"{first}{second}" for first in "abcdefghij" for second in "klmnopqrstuvwxyz")
    assert len(soft404_sketch(long, URL)) == 8 * SIZE
    assert len(soft404_sketch("one two three four", URL)) == 8 * 2
    assert (
        soft404_sketch("one two three", URL).hex() == GOLDEN
    )  # sketches are stored: with another algorithm they could not be compared


GOLDEN = "b292c07e6d421564"

texts = st.text(max_size=200) | st.lists(st.sampled_from(["alpha", "beta", "gamma", "delta"]), max_size=90).map(
    " ".join
)


@given(one=texts, other=texts)
def test_similarity_is_a_share_whichever_page_comes_first(one: str, other: str) -> None:
    found = similarity_of_texts(one, other)
    assert 0.0 <= found <= 1.0
    assert found == similarity_of_texts(other, one)


@given(text=texts | st.text(st.characters(codec=None), max_size=50))
def test_every_page_is_like_itself(text: str) -> None:
    assert similarity_of_texts(text, text) == (1.0 if soft404_sketch(text, URL) else 0.0)


def test_the_examples_are_true() -> None:
    assert doctest.testmod(module).failed == 0
