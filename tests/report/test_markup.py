"""Text from web pages stays text in a report, whatever it contains."""

from __future__ import annotations

import doctest
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.commands import report as command
from crawler.report import coverage, holdings, host_page, markup, times
from crawler.report.markup import Markup, document, element, shorten_middle, stylesheet, untrusted, url, visible


class Read(HTMLParser):
    """The tags, attributes and text that Python's HTML parser finds in markup."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)


@given(st.text())
def test_any_text_is_read_back_as_its_visible_form(text: str) -> None:
    read = Read(str(element("p", text, title=text)))
    assert (read.tags, read.text, read.attributes) == (["p"], visible(text), [("title", visible(text))])


@given(st.text())
def test_visible_text_can_be_encoded_and_hides_nothing(text: str) -> None:
    seen = visible(text)
    seen.encode()
    assert all(char.isprintable() or char.isspace() or char in "\u200c\u200d" for char in seen)
    assert visible(seen) == seen


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("a\x00b\x1b[31m\r", "a␀b␛[31m␍"),
        ("exe.\u202egpj", "exe.‹U+202E›gpj"),
        ("\u2066a\u2069\u200f", "‹U+2066›a‹U+2069›‹U+200F›"),
        ("a\u2028b\x85\x7f", "a‹U+2028›b‹U+0085›␡"),
        ("\ud800", "‹U+D800›"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("a\u00a0b", "a\u00a0b"),
    ],
)
def test_characters_that_hide_or_reverse_text_are_shown_as_symbols(text: str, expected: str) -> None:
    assert visible(text) == expected


def test_only_our_own_type_is_markup() -> None:
    assert str(element("p", Markup("<b>"), "<b>", [1, None, ["<i>"]])) == "<p><b>&lt;b&gt;1&lt;i&gt;</p>"


@pytest.mark.parametrize("name", ["script", "iframe", "img", "object", "base", "form", "p onload=x", "style", ""])
def test_elements_that_do_something_cannot_be_written(name: str) -> None:
    with pytest.raises(ValueError, match="does not occur"):
        element(name)


@pytest.mark.parametrize("name", ["onclick", "onload", "src", "style", "srcset", "a b", "x=", ""])
def test_attributes_that_do_something_cannot_be_written(name: str) -> None:
    with pytest.raises(ValueError, match="does not occur"):
        element("p", **{name: "x"})


@pytest.mark.parametrize("where", ["http://a.test/", "javascript:alert(1)", "//a.test", "#A b", "", "#a\n"])
def test_links_lead_to_places_on_the_page_only(where: str) -> None:
    with pytest.raises(ValueError, match="no links"):
        element("a", "x", href=where)


def test_a_stylesheet_cannot_contain_markup() -> None:
    with pytest.raises(ValueError, match="no markup"):
        stylesheet("</style>")


def test_a_long_url_is_shortened_with_the_whole_in_its_title() -> None:
    long = "http://a.test/" + "x" * 500 + "/end"
    read = Read(str(url(long)))
    assert dict(read.attributes)["title"] == long
    assert len(read.text) == markup.LONGEST_SHOWN
    assert read.text.startswith("http://a.test/x")
    assert read.text.endswith("x/end")


def test_an_endless_url_has_an_end() -> None:
    assert len(str(url("http://a.test/" + "x" * 100_000))) < 3_000


@given(st.text(), st.integers(5, 50))
def test_what_is_shortened_is_no_longer_than_it_may_be(text: str, longest: int) -> None:
    short = shorten_middle(text, longest)
    assert len(short) <= longest
    assert short == text or "…" in short


def test_right_to_left_text_is_isolated_from_its_neighbours() -> None:
    assert Read(str(untrusted("שלום"))).tags == ["bdi"]


def test_a_page_can_load_nothing() -> None:
    read = Read(document("</title><script>", "p{}", "x"))
    assert "script" not in read.tags
    policy = next(value for name, value in read.attributes if name == "content" and "default-src" in (value or ""))
    assert policy == (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
    )


@pytest.mark.parametrize("module", [command, coverage, holdings, host_page, markup, times])
def test_examples_are_true(module: object) -> None:
    assert doctest.testmod(module).failed == 0  # type: ignore[arg-type]
