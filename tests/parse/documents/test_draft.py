"""Drafts give safe HTML and keep to the limits on text and links."""

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


def new_draft() -> Draft:
    return Draft("http://site.example/docs/a.doc")


def test_everything_is_escaped():
    document = new_draft()
    document.heading(1, EVIL)
    document.paragraph([TextRun(EVIL, bold=True, href='http://a.example/"onclick="x')])
    document.row([EVIL, [TextRun(EVIL)]])
    document.preformatted(EVIL)
    with document.section("sheet", EVIL + '" onload="x'):
        document.quote(EVIL)
    tags = re.findall(r"<\s*/?\s*(\w+)", document.html)
    assert set(tags) <= ALLOWED
    assert not re.search(r"<[^>]*\son\w+=", re.sub(r'"[^"]*"', '""', document.html))
    assert EVIL in document.text


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
def test_only_web_and_mail_links_are_shown(href, shown, kept):
    document = new_draft()
    document.paragraph([TextRun("here", href=href)])
    assert document.html == (f'<p><a href="{shown}">here</a></p>' if shown else "<p>here</p>")
    assert [link.anchor for link in document.links] == (["here"] if kept else [])


def test_a_url_is_kept_once_with_its_first_anchor_that_is_not_empty():
    document = new_draft()
    for anchor in ("", "first", "second"):
        document.link("http://a.example/", anchor)
    assert document.links == [("http://a.example/", "first")]


def test_links_are_limited():
    document = new_draft()
    for number in range(MOST_LINKS + 10):
        document.link(f"http://a.example/{number}")
    assert len(document.links) == MOST_LINKS


@pytest.mark.parametrize(
    "add",
    [
        lambda document, text: document.paragraph(text),
        lambda document, text: document.row([text, text]),
        lambda document, text: document.paragraph(
            [TextRun(character, href="http://a.example/" + "y" * 1000) for character in text[:50]]
        ),
        lambda document, text: document.row([""] * 5_000 + ["x"]),
    ],
    ids=["text", "cells", "links", "empty cells"],
)
def test_text_and_html_are_limited(add):
    document = new_draft()
    for _ in range(MOST_TEXT // 1_000):
        add(document, "<" * 2_000)
    assert document.is_full
    assert len(document.text) <= MOST_TEXT + 10_000
    assert len(document.html) <= 12 * MOST_TEXT


def test_a_document_with_too_much_text_is_reported_as_too_large():
    document = convert(b"words " * MOST_TEXT, "http://site.example/a.txt")
    assert (document.problem, len(document.text)) == ("too_large", MOST_TEXT)
    assert convert(b"words " * 1_000, "http://site.example/a.txt").problem == ""


def test_empty_blocks_are_not_written():
    document = new_draft()
    document.paragraph(" \n")
    document.row(["", " "])
    with document.section("page", 1):
        document.heading(1, "")
    assert (document.html, document.text) == ("", "")


def test_lists_and_tables_are_closed():
    document = new_draft()
    document.item("a")
    document.item("b")
    document.row(["c"])
    with document.section("page", 2):
        document.item("d")
    assert document.html.split("\n") == [
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
    open_tags: list[str] = []
    for is_end, tag in tags:
        if is_end:
            assert open_tags.pop() == tag
        elif tag != "br":
            open_tags.append(tag)
    assert open_tags == []


def test_the_examples_hold():
    assert doctest.testmod(draft).failed == 0
    assert doctest.testmod(conversion).failed == 0
