"""Extracted text is normalized."""

import doctest
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.parse import clean_text
from crawler.parse.clean_text import nonempty_lines, normalize_text, one_line


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_is_composed_and_has_no_control_characters(text):
    for normalized in (normalize_text(text), one_line(text), nonempty_lines(text)):
        assert unicodedata.is_normalized("NFC", normalized)
        normalized.encode("utf-8")
        assert not any(
            unicodedata.category(character) in ("Cc", "Cs") for character in normalized if character not in "\t\n\r"
        )


@given(st.text(st.sampled_from("ab \t\n\u00a0\u2003\u0301\u00e9")))
def test_one_line_has_the_words_with_single_spaces(text):
    assert one_line(text) == unicodedata.normalize("NFC", " ".join(text.split()))


@given(st.text(st.characters(max_codepoint=0xFF), max_size=5), st.integers(0, 80))
def test_a_line_of_any_length_is_cleaned_word_by_word(text, length):
    written = "a" * length + text
    assert one_line(written) == normalize_text(" ".join(written.split()))


@pytest.mark.parametrize(("text", "expected"), [("", ""), (" a\n\n\tb ", "a\nb"), ("\n \n", "")])
def test_lines_are_not_empty(text, expected):
    assert nonempty_lines(text) == expected


def test_the_examples_are_true():
    assert doctest.testmod(clean_text).failed == 0
