"""Nothing dangerous gets into the HTML, and nothing grows without end."""

import doctest
import re

import pytest

from crawler.parse.documents import conversion, convert, draft
from crawler.parse.documents.draft import MOST_LINKS, MOST_TEXT, Draft, TextRun
from tests.parse.documents.files import SAMPLES

ALLOWED = {
    *[
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "p",
        "ul",
        "li",
        "table",
        "tr",
        "td",
        "th",
        "b",
        "i",
        "pre",
        "a",
        "br",
        "blockquote",
        "section",
    ]
}
EVIL = "<script>alert(1)</script><img src=x onerror=y>\"'&"


def new() -> Draft:
    return Draft("http://site.example/docs/a.doc")


def test_everything_is_escaped():
    found = new()
    found.heading(1, EVIL)
    found.paragraph([TextRun(EVIL, bold=True, href='http://a.example/"onclick="x')])
    found.row([EVIL, [TextRun(EVIL)]])
    found.preformatted(EVIL)
    with found.section("sheet", EVIL + '" onload="x'):
        found.quote(EVIL)
    tags = re.findall(r"<\s*/?\s*(\w+)", found.html)
    assert set(tags) <= ALLOWED
    assert not re.search(r"<[^>]*\son\w+=", re.sub(r'"[^"]*"', '""', found.html))
    assert EVIL in found.text


@pytest.mark.parametrize(
    ("href", "shown", "kept"),
    [
        ("http://a.example/x", "http://a.example/x", True),
        ("../b.html", "http://site.example/b.html", True),
        ("mailto:ann@a.example", "mailto:ann@a.example", False),
        ("javascript:alert(1)", "", False),
        (" JaVaScript:alert(1)", "", False),
        ("data:text/html,x", "", False),
        ("file:///etc/passwd", "", False),
        ("http://", "", False),
        ("http://a.example/" + "x" * 10_000, "", False),
        ("", "", False),
    ],
)
def test_links_lead_to_the_web_or_to_people(href, shown, kept):
    found = new()
    found.paragraph([TextRun("here", href=href)])
    assert found.html == (f'<p><a href="{shown}">here</a></p>' if shown else "<p>here</p>")
    assert [link.anchor for link in found.links] == (["here"] if kept else [])


def test_a_url_is_kept_once_with_the_first_text_that_says_something():
    found = new()
    for anchor in ("", "first", "second"):
        found.link("http://a.example/", anchor)
    assert found.links == [("http://a.example/", "first")]


def test_links_have_an_end():
    found = new()
    for number in range(MOST_LINKS + 10):
        found.link(f"http://a.example/{number}")
    assert len(found.links) == MOST_LINKS


@pytest.mark.parametrize(
    "add",
    [
        lambda found, text: found.paragraph(text),
        lambda found, text: found.row([text, text]),
        lambda found, text: found.paragraph(
            [TextRun(character, href="http://a.example/" + "y" * 1000) for character in text[:50]]
        ),
        lambda found, text: found.row([""] * 5_000 + ["x"]),
    ],
    ids=["text", "cells", "links", "empty cells"],
)
def test_text_has_an_end_and_html_with_it(add):
    found = new()
    for _ in range(MOST_TEXT // 1_000):
        add(found, "<" * 2_000)
    assert found.is_full
    assert len(found.text) <= MOST_TEXT + 10_000
    assert len(found.html) <= 12 * MOST_TEXT


def test_a_document_with_more_text_than_we_keep_says_so():
    document = convert(b"words " * MOST_TEXT, "http://site.example/a.txt")
    assert (document.problem, len(document.text)) == ("too_large", MOST_TEXT)
    assert convert(b"words " * 1_000, "http://site.example/a.txt").problem == ""


def test_empty_things_leave_no_trace():
    found = new()
    found.paragraph(" \n")
    found.row(["", " "])
    with found.section("page", 1):
        found.heading(1, "")
    assert (found.html, found.text) == ("", "")


def test_lists_and_tables_are_closed():
    found = new()
    found.item("a")
    found.item("b")
    found.row(["c"])
    with found.section("page", 2):
        found.item("d")
    assert found.html.split("\n") == [
        "<ul>", "<li>a</li>", "<li>b</li>", "</ul>", "<table>", "<tr><td>c</td></tr>", "</table>",
        '<section data-page="2">', "<ul>", "<li>d</li>", "</ul>", "</section>",
    ]  # fmt: skip


@pytest.mark.parametrize("name", SAMPLES)
def test_each_format_becomes_safe_html(name):
    document = convert(SAMPLES[name], f"http://site.example/{name}")
    assert document.problem == ""
    assert document.text
    tags = re.findall(r"<(/?)(\w+)", document.html)
    assert {tag for _, tag in tags} <= ALLOWED
    opened: list[str] = []
    for is_end, tag in tags:
        if is_end:
            assert opened.pop() == tag
        elif tag != "br":
            opened.append(tag)
    assert opened == []


def test_the_examples_hold():
    assert doctest.testmod(draft).failed == 0
    assert doctest.testmod(conversion).failed == 0
