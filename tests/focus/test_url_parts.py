"""A URL tells words, and the sections that its page is in."""

from __future__ import annotations

import doctest

import pytest

from crawler.focus import url_parts
from crawler.focus.evidence import SECTIONS
from crawler.focus.url_parts import key_of, section_of, split_url


def test_the_examples_are_true() -> None:
    assert doctest.testmod(url_parts).failed == 0


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("https://a.example/", ""),
        ("https://a.example/birds/Sea_eagle.html", "birds/Sea_eagle"),
        ("https://a.example/%E9%B3%A5/x", "鳥/x"),
        ("https://a.example/a?topic=birds#top", "a/topic=birds"),
        ("https://a.example/%ff", "\ufffd"),
        ("no URL", ""),
        ("mailto:a@b.example", ""),
    ],
)
def test_words_are_those_of_path_and_query(url: str, words: str) -> None:
    assert split_url(url).words == words


def test_pages_of_a_folder_share_their_sections() -> None:
    one, two, other = (split_url(f"https://a.example/{path}").sections for path in ("x/y/1", "x/y/2", "x/z/1"))
    assert one == two
    assert one[:2] == other[:2]
    assert one[2] != other[2]
    assert len(one) == SECTIONS


def test_of_many_folders_the_nearest_count() -> None:
    deep = split_url("https://a.example/" + "/".join(map(str, range(100))) + "/page").sections
    host = split_url("https://a.example/").sections
    assert deep[0] == host[0]
    assert len(set(deep)) == SECTIONS
    assert deep[1:-1] == split_url("https://a.example/" + "/".join(map(str, range(99))) + "/page").sections[2:]


def test_what_a_script_lists_is_a_section() -> None:
    one, two = split_url("https://a.example/list?page=1"), split_url("https://a.example/list?page=2")
    assert one.sections == two.sections
    assert one.sections[1]
    assert section_of("https://a.example/list?page=1") == "a.example/list"


@pytest.mark.parametrize(("url", "section"), [("https://a.example/", "a.example/"), ("no URL", ""), ("", "")])
def test_sections_have_names(url: str, section: str) -> None:
    assert section_of(url) == section


def test_no_key_is_zero() -> None:
    assert all(0 < key_of(str(number)) < 2**32 for number in range(1_000))
    assert key_of("\ud800") > 0
