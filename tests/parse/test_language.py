"""In which language a text is written."""

from __future__ import annotations

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.parse import language
from crawler.parse.language import language_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The harbour was quiet in the morning, and the boats lay still upon the water.", "en"),
        ("Der Hafen war am Morgen still, und die Boote lagen ruhig auf dem Wasser der Bucht.", "de"),
        ("Le port était calme le matin, et les bateaux restaient immobiles sur l'eau de la baie.", "fr"),
        ("Утром в гавани было тихо, и лодки неподвижно стояли на воде у старого причала.", "ru"),
        ("Το λιμάνι ήταν ήσυχο το πρωί και οι βάρκες έμεναν ακίνητες πάνω στο νερό.", "el"),
        ("朝の港は静かで、船は水の上にじっとしていた。古い桟橋には誰もいなかった。波の音だけが聞こえていた。", "ja"),
    ],
)
def test_a_sentence_tells_its_language_whatever_the_page_declares(text: str, expected: str) -> None:
    assert language_of(text, "tlh") == expected


@pytest.mark.parametrize(
    ("declared", "expected"), [("en-US", "en"), ("PT_br", "pt"), ("", ""), ("x", ""), ("english", ""), ("12", "")]
)
def test_a_text_that_does_not_tell_has_the_language_it_declares(declared: str, expected: str) -> None:
    assert language_of("1 2 3", declared) == expected


@given(st.text(), st.text())
def test_any_text_gives_an_answer(text: str, declared: str) -> None:
    assert len(language_of(text, declared)) <= 3


def test_the_examples_are_true() -> None:
    assert doctest.testmod(language).failed == 0
