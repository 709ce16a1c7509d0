"""Sitemaps, whole, packed, cut, broken and hostile."""

from __future__ import annotations

import gzip

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crawler.parse import sitemap
from crawler.parse.sitemap import Entry, Form, read_sitemap

URLS = [f"http://a.test/{number}" for number in range(5_000)]
LIST = "\n".join(URLS).encode()
XML = (
    b'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
    + b"".join(b"<url><loc>%s</loc></url>\n" % url.encode() for url in URLS)
    + b"</urlset>"
)


def urls(body: bytes) -> list[str]:
    return [entry.url for entry in read_sitemap(body).entries]


def test_everything_that_is_said_of_a_url() -> None:
    body = b"""<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml"
        xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">
        <url><loc>http://a.test/?a=1&amp;b=2</loc><lastmod>1970-01-02T01:00:00+01:00</lastmod><changefreq>Daily</changefreq>
        <priority>0.8</priority><xhtml:link rel="alternate" hreflang="de" href="http://a.test/de"/>
        <image:image><image:loc>http://a.test/i.png</image:loc></image:image></url></urlset>"""
    assert read_sitemap(body).entries == [
        Entry("http://a.test/?a=1&b=2", 86_400.0, "daily", 0.8, (("de", "http://a.test/de"),), ("http://a.test/i.png",))
    ]


@pytest.mark.parametrize(
    ("body", "form"),
    [
        (b"<urlset><url><loc>u</loc></url></urlset>", Form.URLS),
        (b"<anything><url><loc>u</loc></url></anything>", Form.URLS),
        (b"<sitemapindex><sitemap><loc>u</loc></sitemap></sitemapindex>", Form.INDEX),
        (b"<sitemapindex/>", Form.INDEX),
        (b"\n\n<?xml version='1.0'?><rss><channel><item><link>http://u</link></item></channel></rss>", Form.FEED),
        (b"<feed><entry><link href='http://u'/></entry></feed>", Form.FEED),
        (b"http://a.test/\n", Form.TEXT),
        (b"\xef\xbb\xbfwww.a.test/\r\n", Form.TEXT),
        (b"<html><p>Not found", None),
        (b"nothing here", None),
        (b"", None),
    ],
)
def test_forms(body: bytes, form: Form | None) -> None:
    assert read_sitemap(body).form is form


@pytest.mark.parametrize("body", [XML, LIST])
def test_packed_or_not_and_in_several_parts(body: bytes) -> None:
    middle = len(body) // 2
    assert urls(body) == urls(gzip.compress(body)) == URLS
    assert urls(gzip.compress(body[:middle]) + gzip.compress(body[middle:])) == URLS


@pytest.mark.parametrize("body", [XML, XML.replace(b"\n", b"")])
def test_of_a_cut_file_the_complete_entries_count(body: bytes) -> None:
    for end in (len(body) - 9, len(body) // 2, len(body) // 2 + 9, 100):
        complete = body[:end].count(b"</url>")
        assert urls(body[:end]) == URLS[:complete]
    packed = gzip.compress(body)
    cut = read_sitemap(packed[: len(packed) // 2])
    assert 0 < len(cut.entries) < len(URLS)
    assert [entry.url for entry in cut.entries] == URLS[: len(cut.entries)]
    assert cut.problem == "cut"


def test_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitemap, "MOST_ENTRIES", 1_000)
    assert (len(read_sitemap(XML).entries), read_sitemap(XML).problem) == (1_000, "too_many")
    assert (len(read_sitemap(LIST).entries), read_sitemap(LIST).problem) == (1_000, "too_many")
    monkeypatch.setattr(sitemap, "MOST_ENTRIES", 50_000)
    monkeypatch.setattr(sitemap, "MOST_BYTES", 70_000)
    for body in (XML, gzip.compress(XML)):
        found = read_sitemap(body)
        assert (0 < len(found.entries) < 2_000, found.problem) == (True, "too_big")


def test_entities_are_neither_swollen_nor_fetched() -> None:
    bomb = b'<!DOCTYPE u [<!ENTITY a "aaaaaaaaaa">' + b"".join(
        b'<!ENTITY %c "&%c;&%c;&%c;&%c;&%c;&%c;&%c;&%c;">' % (98 + n, *[97 + n] * 8) for n in range(20)
    )
    body = bomb + b"]><urlset><url><loc>http://a.test/&u;</loc></url><url><loc>http://a.test/b</loc></url></urlset>"
    assert set(urls(body)) <= {"http://a.test/", "http://a.test/b"}  # or the parser leaves it alone
    theft = b'<!DOCTYPE u [<!ENTITY x SYSTEM "file:///etc/passwd">]><urlset><url><loc>&x;</loc></url></urlset>'
    assert urls(theft) == []


@pytest.mark.parametrize(
    ("text", "priority"), [("1", 1.0), (" .5 ", 0.5), ("-3", 0.0), ("9", 1.0), ("nan", None), ("high", None)]
)
def test_priorities(text: str, priority: float | None) -> None:
    body = f"<urlset><url><loc>u</loc><priority>{text}</priority></url></urlset>".encode()
    assert read_sitemap(body).entries[0].priority == priority


@given(st.binary(), st.sampled_from([b"", b"<urlset><url><loc>u</loc></url>", b"\x1f\x8b\x08", b"http://a.test/\n"]))
@example(b"\xff\xfe<\0u\0", b"")
@example(b"<urlset xmlns='\xff'><url>", b"")
def test_any_bytes_give_an_answer(body: bytes, before: bytes) -> None:
    found = read_sitemap(before + body)
    assert all(entry.url for entry in found.entries)
