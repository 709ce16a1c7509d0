"""UTF-16 and UTF-32 are detected without a byte order mark; other text with zero bytes is not mistaken for them."""

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.parse.encodings import utf16 as module
from crawler.parse.encodings.utf16 import detect_utf16_or_utf32

ENGLISH = "It was a bright cold day in April, and the clocks were striking.\n"
RUSSIAN = "Все счастливые семьи похожи друг на друга.\n"
CHINESE = "道可道，非常道。名可名，非常名。一二三\n"


@pytest.mark.parametrize("text", [ENGLISH, RUSSIAN, CHINESE, CHINESE * 400, "<p>" + RUSSIAN, "𝒜 b " + ENGLISH])
@pytest.mark.parametrize("name", ["UTF-16LE", "UTF-16BE", "UTF-32LE", "UTF-32BE"])
def test_utf_16_and_utf_32_are_detected(text, name):
    assert detect_utf16_or_utf32(text.encode(name)) == name


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\0",
        b"\0\0\0\0" + ENGLISH.encode(),
        ENGLISH.encode() + b"\0",
        ENGLISH.encode().replace(b"cold", b"c\0ld"),
        ENGLISH.encode() * 10 + b"a\0b",
        CHINESE.encode() * 10 + b"\0",
        CHINESE.encode("gbk") * 10 + b"\0\0",
        bytes(range(256)) * 4,
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\0\0\0\1\0\x08\6\0\0\0",
    ],
)
def test_zero_bytes_alone_are_not_utf_16(body):
    assert detect_utf16_or_utf32(body) is None


@pytest.mark.parametrize("name", ["UTF-16LE", "UTF-16BE", "UTF-32LE", "UTF-32BE"])
@pytest.mark.parametrize("text", [RUSSIAN, RUSSIAN * 100])
def test_a_cut_inside_a_character_does_not_prevent_detection(text, name):
    assert detect_utf16_or_utf32(text.encode(name)[:-1]) == name


@given(st.binary())
def test_any_bytes_have_an_answer(body):
    assert detect_utf16_or_utf32(body) in (None, "UTF-16LE", "UTF-16BE", "UTF-32LE", "UTF-32BE")


def test_the_examples_are_true():
    assert doctest.testmod(module).failed == 0
