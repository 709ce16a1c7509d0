"""The language of a text is identified by detection and by what its page declares."""

from __future__ import annotations

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.parse import language as module
from crawler.parse.language import Language, declared_language, identify_language, language_of

GERMAN = "Der Hafen war am Morgen still, und die Boote lagen ruhig auf dem Wasser der Bucht."
RUSSIAN = "Утром в гавани было тихо, и лодки неподвижно стояли на воде у старого причала."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The harbour was quiet in the morning, and the boats lay still upon the water.", "en"),
        (GERMAN, "de"),
        ("Le port était calme le matin, et les bateaux restaient immobiles sur l'eau de la baie.", "fr"),
        (RUSSIAN, "ru"),
        ("Το λιμάνι ήταν ήσυχο το πρωί και οι βάρκες έμεναν ακίνητες πάνω στο νερό.", "el"),
        ("朝の港は静かで、船は水の上にじっとしていた。古い桟橋には誰もいなかった。波の音だけが聞こえていた。", "ja"),
    ],
)
def test_a_sentence_is_detected_whatever_the_page_declares(text: str, expected: str) -> None:
    assert language_of(text, "tlh") == expected


@pytest.mark.parametrize(
    ("declared", "expected"), [("en-US", "en"), ("PT_br", "pt"), ("", ""), ("x", ""), ("english", ""), ("12", "")]
)
def test_a_text_too_short_to_detect_has_the_declared_language(declared: str, expected: str) -> None:
    assert language_of("1 2 3", declared) == expected


def test_declared_and_detected_language_are_both_given() -> None:
    found = identify_language(GERMAN, "en-GB")
    assert found == Language("de", "en", "de", found.confidence)
    assert found.confidence > 0.5


def test_a_short_text_does_not_overrule_a_declaration_other_than_english() -> None:
    assert language_of(GERMAN, "nl") == "nl"
    assert language_of(GERMAN * 3, "nl") == "de"
    assert language_of(GERMAN, "en") == "de"  # the default of templates


def test_a_script_overrules_every_declaration() -> None:
    assert language_of(RUSSIAN, "nl") == "ru"


def test_urls_and_latin_words_in_another_script_do_not_count() -> None:
    noise = (
        "https://example.com/some/very/english/path/about/the/weather webmaster@example.com index.html "
        "Template Toolkit "
    )
    assert language_of(noise * 5 + RUSSIAN * 3) == "ru"
    assert language_of(noise + GERMAN) == "de"


@pytest.mark.parametrize(("declared", "expected"), [("iw", "he"), ("deu", "de"), ("ger", "de"), ("zh-Hant-TW", "zh")])
def test_old_and_long_codes_are_known(declared: str, expected: str) -> None:
    assert declared_language(declared) == expected


@given(st.text(), st.text())
def test_any_text_gives_an_answer(text: str, declared: str) -> None:
    assert len(language_of(text, declared)) <= 3
    assert 0 <= identify_language(text * 50, declared).confidence <= 1


def test_the_examples_are_true() -> None:
    assert doctest.testmod(module).failed == 0
