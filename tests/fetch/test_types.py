"""Which answers are read, by their media type and the extension of the URL."""

from __future__ import annotations

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler import settings
from crawler.fetch import types
from crawler.fetch.types import READABLE_EXTENSIONS, SkippedTypes, essence_of, extension_of
from crawler.options import Options

TYPES = SkippedTypes(("image/", "video/", "application/zip", "application/octet-stream"))
URL = "http://a.test/page"


def head(*headers: str) -> bytes:
    return "\r\n".join(["HTTP/1.1 200 OK", *headers, "", ""]).encode("latin-1")


@pytest.mark.parametrize(
    ("headers", "essence"),
    [
        (["Content-Type: text/html"], "text/html"),
        (["content-type:TEXT/HTML;charset=utf-8"], "text/html"),
        (["Content-Type: \t text/html ; charset=x"], "text/html"),
        (["Server: x", "Content-Type: image/png", "Content-Type: text/html"], "image/png"),
        (["Content-Type: text/html, image/png"], "text/html"),
        (["X-Content-Type: image/png"], ""),
        (["X-Note: content-type: image/png"], ""),
        (["Content-Type:"], ""),
        (["Content-Type:", "Server: x"], ""),
        (["Content-Type: ;charset=utf-8"], ""),
        ([], ""),
    ],
)
def test_the_type_that_a_head_names(headers: list[str], essence: str) -> None:
    assert essence_of(head(*headers)) == essence


def test_lines_may_end_in_a_bare_line_feed() -> None:
    assert essence_of(b"HTTP/1.0 200 OK\nContent-Type: image/png\n\n") == "image/png"


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [
        ("text/html", True),
        ("text/html; image/png", True),
        ("IMAGE/PNG", False),
        ("image/svg+xml", False),
        ("imagery/png", True),
        ("video/mp4;codecs=x", False),
        ("application/zip", False),
        ("application/zipper", True),  # a type is all of it, unless a kind is meant
        ("application/octet-stream", False),
        ("application/pdf", True),
        ("nonsense", True),
        ("", True),
    ],
)
def test_what_is_worth_reading(kind: str, wanted: bool) -> None:
    assert TYPES.wants(head(f"Content-Type: {kind}"), URL) is wanted


@pytest.mark.parametrize(
    ("url", "wanted"),
    [
        ("http://a.test/report.pdf", True),
        ("http://a.test/report.PDF?download=1", True),
        ("http://a.test/index.html", True),
        ("http://a.test/report.bin", False),
        ("http://a.test/report?file=report.pdf", False),
        ("http://a.test/", False),
        ("http://report.pdf", False),
    ],
)
def test_where_the_type_says_nothing_the_url_may(url: str, wanted: bool) -> None:
    assert TYPES.wants(head("Content-Type: application/octet-stream"), url) is wanted
    assert TYPES.wants(head("Content-Type: application/zip"), url) is False


def test_without_skipped_types_everything_is_read() -> None:
    assert SkippedTypes(()).wants(head("Content-Type: application/octet-stream"), URL)


@pytest.mark.parametrize(
    ("url", "ending"),
    [
        ("http://a.test/b/c.HTML", "html"),
        ("http://a.test/b/c.tar.gz", "gz"),
        ("http://a.test/b.pdf/c", ""),
        ("http://a.test/.htaccess", ""),  # a name, not an ending
        ("http://a.test/b.", ""),
        ("http://a.test/b.toolong", ""),
        ("http://a.test/b.c-d", ""),
        ("http://a.test/b?c=d.pdf", ""),
        ("http://a.test/b.php?c=/d.pdf", "php"),
        ("http://a.test/b.php?c=http://d.test/e.pdf", "php"),
        ("http://a.zip/", ""),
        ("http://a.zip", ""),
    ],
)
def test_the_extension_of_a_url(url: str, ending: str) -> None:
    assert extension_of(url) == ending


def test_the_default_settings_skip_no_readable_type() -> None:
    """No extension of a readable document is among those whose URLs the settings refuse."""
    skipped = set(settings.URL_SKIP_TYPES.split(","))
    assert skipped.isdisjoint(READABLE_EXTENSIONS)
    delivered = Options.of(vars(settings)).fetch.skip_types
    for kind, wanted in [("text/html", True), ("application/pdf", True), ("image/png", False), ("video/mp4", False)]:
        assert delivered.wants(head(f"Content-Type: {kind}"), URL) is wanted


@given(st.binary(max_size=100), st.text(max_size=60))
def test_any_head_and_any_url_is_accepted(data: bytes, url: str) -> None:
    found = b"HTTP/1.1 200 OK\r\nContent-Type: " + data + b"\r\n\r\n"
    assert TYPES.wants(found, url) in (True, False)
    assert extension_of(url) == extension_of(url).lower()


def test_the_examples_are_true() -> None:
    assert doctest.testmod(types).failed == 0
