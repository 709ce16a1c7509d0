"""Feeds of all formats are parsed, also truncated, malformed and hostile ones."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crawler.parse.feeds import MOST_ENTRIES, Feed, FeedEntry, looks_like_feed, median_interval, parse_feed

URL = "http://a.test/news/feed.xml"
DAY = 86_400.0

RSS = b"""<?xml version="1.0"?><rss version="2.0"><channel><title>The &lt;b&gt;news&lt;/b&gt;</title><ttl>90</ttl>
    <item><title>One</title><link>http://b.test/1</link><guid isPermaLink="false">n1</guid>
    <pubDate>Fri, 02 Jan 1970 01:00:00 +0100</pubDate>
    <description>&lt;p&gt;A  &lt;i&gt;word&lt;/i&gt;</description></item>
    </channel></rss>"""
ATOM = b"""<feed xmlns="http://www.w3.org/2005/Atom"><title>The news</title><entry>
    <title type="html">O&lt;i&gt;ne&lt;/i&gt;</title>
    <link rel="enclosure" href="http://b.test/1.mp3"/><link href="http://b.test/1"/><id>n1</id>
    <published>1970-01-02T00:00:00Z</published><updated>1970-01-03T00:00:00Z</updated>
    <content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>A word</p></div></content></entry></feed>"""
RDF = b"""<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"
    xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:sy="http://purl.org/rss/1.0/modules/syndication/">
    <channel rdf:about="http://b.test/"><title>The news</title><sy:updatePeriod>hourly</sy:updatePeriod>
    <sy:updateFrequency>2</sy:updateFrequency></channel>
    <item rdf:about="n1"><title>One</title><link>http://b.test/1</link>
    <dc:date>1970-01-03</dc:date><description>A word</description></item></rdf:RDF>"""
CDF = b"""<?XML version="1.0"?><CHANNEL HREF="http://b.test/" BASE="http://b.test/"><TITLE>The news</TITLE>
    <ITEM HREF="1" LASTMOD="1970-01-03T00:00Z"><TITLE>One</TITLE><ABSTRACT>A word</ABSTRACT></ITEM></CHANNEL>"""
JSON = b"""{"version": "https:\\/\\/jsonfeed.org\\/version\\/1.1", "title": "The news", "items": [{"id": "n1",
    "url": "http://b.test/1", "title": "One", "content_html": "<p>A <i>word</i>",
    "date_published": "1970-01-02T01:00:00+01:00", "date_modified": "1970-01-03T00:00:00Z"}]}"""


def rss(inside: str, about: str = "") -> Feed:
    return parse_feed(f"<rss version='2.0'><channel>{about}<item>{inside}</item></channel></rss>".encode(), URL)


def json_feed(**item: Any) -> FeedEntry:
    body = json.dumps({"version": "https://jsonfeed.org/version/1", "items": [item]}).encode()
    return parse_feed(body, URL, "application/feed+json").entries[0]


@pytest.mark.parametrize(
    ("body", "form", "ttl", "published", "updated"),
    [
        (RSS, "rss", 5_400.0, DAY, None),
        (ATOM, "atom", None, DAY, 2 * DAY),
        (RDF, "rdf", 1_800.0, None, 2 * DAY),
        (JSON, "json", None, DAY, 2 * DAY),
    ],
)
def test_all_formats_give_the_same_feed(
    body: bytes, form: str, ttl: float | None, published: float | None, updated: float | None
) -> None:
    entry = FeedEntry("http://b.test/1", "One", published, updated, "n1", "A word")
    assert parse_feed(body, URL) == Feed(title="The news", ttl=ttl, entries=[entry], form=form)


def test_a_cdf_channel_is_parsed() -> None:
    entry = FeedEntry("http://b.test/1", "One", None, 2 * DAY, "http://b.test/1", "A word")
    assert parse_feed(CDF, URL) == Feed(title="The news", entries=[entry], form="cdf")


@pytest.mark.parametrize(
    ("title", "codec"),
    [
        ("Добрый вечер, страна", "koi8-r"),
        ("Добрый вечер, страна", "cp1251"),
        ("今日はいい天気ですね", "euc_jp"),
        ("東京の新しいカフェで、コーヒーを飲みました", "cp932"),  # a text half as long could be Cyrillic
        ("오늘은 날씨가 좋네요", "cp949"),
        ("今天天气很好", "gb18030"),
        ("今天天氣很好", "big5"),
        ("Café fermé", "cp1252"),
    ],
)
def test_an_undeclared_encoding_is_detected(title: str, codec: str) -> None:
    coded = f"<rss><channel><item><title>{title}</title></item></channel></rss>".encode(codec)
    assert parse_feed(coded, URL).entries[0].title == title
    assert parse_feed(coded, URL, f"text/xml; charset={codec}").entries[0].title == title
    assert parse_feed(coded, URL, "text/xml; charset=utf-8").entries[0].title != title


@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("body", [RSS, ATOM, RDF, JSON])
def test_feeds_in_utf_8_and_utf_16_are_parsed(body: bytes, codec: str) -> None:
    coded = body.decode().replace("One", "Öne").encode(codec)
    assert looks_like_feed(coded, "")
    assert parse_feed(coded, URL).entries[0].guid == "n1"
    if body is not ATOM:
        assert parse_feed(coded, URL).entries[0].title == "Öne"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"\n <!-- <html> --><?xml-stylesheet href='a'?><rss version='0.91'>", True),
        (b'<!DOCTYPE rss PUBLIC "-//Netscape Communications//DTD RSS 0.91//EN" "http://a.test/rss.dtd"><rss>', True),
        (b"<atom:feed xmlns:atom='http://www.w3.org/2005/Atom'/>", True),
        (b'{"title": "t", "version" : "https://jsonfeed.org/version/1"', True),
        (b"<!DOCTYPE html><html><!-- <rss> --><p><rss>", False),
        (b"<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'><feed/>", False),
        (b"<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url>", False),
        (b"<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'><Person/>", False),
        (b"<feedback/>", False),
        (b"<Channel><Item Level='1' HRef='/a'/>", True),
        (b"<channel><title>News</title><item>\n<title>One</title>", True),
        (b"<channel/>", False),
        (b"<channel href='/channels/1'><name>One</name></channel>", False),
        (b"<channel><item id='1'><volume>3</volume></item></channel>", False),
        (b"<channel><items href='/a'><title>One</title></items></channel>", False),
        (b"<tv:channel><item href='/a'/></tv:channel>", False),
        (b"How to write <rss>", False),
        (b'{"version": "1.0", "items": []}', False),
        (b'["https://jsonfeed.org/version/1"]', False),
        (b"", False),
    ],
)
def test_looks_like_feed(body: bytes, expected: bool) -> None:
    assert looks_like_feed(body, "text/html") is expected
    if not expected:
        assert parse_feed(body, URL) == Feed(entries=[], problem="not_a_feed")


@pytest.mark.parametrize(
    ("about", "ttl"),
    [
        ("<ttl> 5 </ttl>", 300.0),
        ("<ttl>0</ttl>", None),
        ("<ttl>-5</ttl>", None),
        ("<ttl>nan</ttl>", None),
        ("<ttl>1e308</ttl>", None),
        ("<ttl>often</ttl><sy:updatePeriod>daily</sy:updatePeriod>", DAY),
        ("<ttl>5</ttl><sy:updatePeriod>daily</sy:updatePeriod>", 300.0),
        ("<sy:updatePeriod> Weekly </sy:updatePeriod><sy:updateFrequency>7</sy:updateFrequency>", DAY),
        ("<sy:updateFrequency>4</sy:updateFrequency>", DAY / 4),
        ("<sy:updatePeriod>daily</sy:updatePeriod><sy:updateFrequency>0</sy:updateFrequency>", None),
        ("<sy:updatePeriod>sometimes</sy:updatePeriod>", None),
        ("", None),
    ],
)
def test_ttl_comes_from_rss_or_the_syndication_module(about: str, ttl: float | None) -> None:
    body = f"<rss xmlns:sy='http://purl.org/rss/1.0/modules/syndication/'><channel>{about}</channel></rss>"
    assert parse_feed(body.encode(), URL).ttl == ttl


@pytest.mark.parametrize(
    ("inside", "link"),
    [
        ("<link>../b?c=1&amp;d=2</link>", "http://a.test/b?c=1&d=2"),
        ("<link> http://b.test/ö </link>", "http://b.test/%C3%B6"),
        ("<link xml:base='http://c.test/d/'>e</link>", "http://c.test/d/e"),
        ("<link>javascript:alert(1)</link>", ""),
        ("<link>file:///etc/passwd</link>", ""),
        ("<link/>", ""),
        ("<guid>http://b.test/1</guid>", "http://b.test/1"),
        ("<guid isPermaLink='false'>http://b.test/1</guid>", ""),
        ("<guid>12345</guid>", ""),
        ("<guid>/1</guid><link>/1</link>", "http://a.test/1"),
        (f"<link>http://b.test/{'a' * 10_000}</link>", ""),
    ],
)
def test_links(inside: str, link: str) -> None:
    assert rss(inside).entries[0].link == link


def test_links_of_atom_follow_every_base() -> None:
    body = b"""<feed xmlns="http://www.w3.org/2005/Atom" xml:base="/one/"><entry><link href="two"/></entry>
        <entry xml:base="http://b.test/three/"><link xml:base="four/" href="five"/></entry>
        <entry><link rel="self" href="six"/><id>tag:a.test,2005:1</id></entry></feed>"""
    assert [(entry.link, entry.guid) for entry in parse_feed(body, URL).entries] == [
        ("http://a.test/one/two", "http://a.test/one/two"),
        ("http://b.test/three/four/five", "http://b.test/three/four/five"),
        ("", "tag:a.test,2005:1"),
    ]


@pytest.mark.parametrize(
    ("title", "plain"),
    [
        ("AT&amp;T", "AT&T"),
        ("AT&amp;amp;T &amp;lt;b&amp;gt;", "AT&T <b>"),
        ("<![CDATA[a <b>bold</b>\n move]]>", "a bold move"),
        ("<![CDATA[a<br>b<script>c()</script>]]>", "a b"),
        ("<![CDATA[List<String> 1 < 2]]>", "List<String> 1 < 2"),
        ("x" * 600, "x" * 500),
    ],
)
def test_titles_are_plain(title: str, plain: str) -> None:
    assert rss(f"<title>{title}</title>").entries[0].title == plain


def test_a_description_comes_before_the_content_and_is_short() -> None:
    long = "<p>" + "word " * 1_000
    content = f"<content:encoded><![CDATA[{long}]]></content:encoded>"
    body = (
        f"<rss xmlns:content='http://purl.org/rss/1.0/modules/content/'><channel><item>{content}</item><item>{content}"
    )
    both = parse_feed(f"{body}<description>Short</description></item></channel></rss>".encode(), URL).entries
    assert len(both[0].summary) == 999
    assert both[1].summary == "Short"


@pytest.mark.parametrize("date", ["", "soon", "Fri, 99 Jan 2026 99:99:99 GMT", "0000-00-00T00:00:00Z"])
def test_bad_dates_are_none(date: str) -> None:
    assert rss(f"<pubDate>{date}</pubDate>").entries[0].published is None
    assert json_feed(id=1, date_published=date).published is None


def test_odd_values_in_json_feeds_do_no_harm() -> None:
    assert json_feed(id=7, external_url="/b") == FeedEntry("http://a.test/b", guid="7")
    assert json_feed(id=None, url="javascript:a", external_url="http://b.test/") == FeedEntry(
        "http://b.test/", guid="http://b.test/"
    )
    assert json_feed(title="1 < 2", summary="s", content_text="<t>").summary == "s"
    assert json_feed(title=["a"], content_text=" <t>\n", url=3, date_modified=4) == FeedEntry(summary="<t>")
    assert json_feed(id="\ud800").guid == "?"
    assert parse_feed(b'{"version": "https://jsonfeed.org/version/1", "items": 3}', URL).entries == []
    assert parse_feed(b'{"version": "https://jsonfeed.org/version/1", "items": [', URL).problem == "broken"
    assert parse_feed(b'{"a":' * 100_000, URL).problem == "not_a_feed"


@pytest.mark.parametrize("form", ["rss", "atom", "rdf", "cdf", "json"])
def test_entries_are_limited(form: str) -> None:
    one = {"rss": b"<item>", "atom": b"<entry>", "rdf": b"<item ", "cdf": b"<ITEM", "json": b'{"id"'}[form]
    body = {"rss": RSS, "atom": ATOM, "rdf": RDF, "cdf": CDF, "json": JSON}[form]
    start, end = (
        body.index(one),
        body.rindex({"rss": b"</channel>", "atom": b"</feed>", "cdf": b"</CHANNEL>", "json": b"]"}.get(form, b"</rdf")),
    )
    between = b"," if form == "json" else b""
    for count, problem in ((MOST_ENTRIES, ""), (MOST_ENTRIES + 1, "too_many"), (20_000, "too_many")):
        feed = parse_feed(body[:start] + between.join([body[start:end]] * count) + body[end:], URL)
        assert (len(feed.entries), feed.problem, feed.title) == (MOST_ENTRIES, problem, "The news")
        assert set(feed.entries) == set(parse_feed(body, URL).entries)


@pytest.mark.parametrize("body", [RSS, ATOM, RDF])
def test_the_readable_entries_of_a_broken_feed_are_kept(body: bytes) -> None:
    for broken in (body[: body.rindex(b"</")], body.replace(b"One", b"On&e;").replace(b"word", b"<word & ")):
        feed = parse_feed(broken, URL)
        assert (feed.problem, [entry.link for entry in feed.entries]) == ("broken", ["http://b.test/1"])


@pytest.mark.parametrize("line", ["", "\n"])
def test_entities_are_neither_expanded_nor_fetched(line: str) -> None:
    many = "".join(f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">{line}' for n in range(9))
    bomb = f'<!DOCTYPE rss [{line}<!ENTITY a "{"a" * 50_000}">{line}{many}<!ENTITY z SYSTEM "file:///etc/passwd">]>'
    inside = f"<title>{'&a;' * 1_000}&j;&z;</title><link>http://b.test/</link>"
    tracemalloc.start()
    feed = parse_feed(f"{bomb}<rss><channel><item>{inside}</item></channel></rss>".encode(), URL)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert [entry.link for entry in feed.entries] == ["http://b.test/"]
    assert "root" not in feed.entries[0].title
    assert peak < 20_000_000


def test_an_old_document_type_does_no_harm() -> None:
    for doctype in (
        b'<!DOCTYPE rss PUBLIC "-//Netscape Communications//DTD RSS 0.91//EN" "http://a.test/rss-0.91.dtd">',
        (
            b'<!DOCTYPE rss [<!ENTITY % HTMLlat1 PUBLIC "-//W3C//ENTITIES Latin 1 for XHTML//EN" "http://a.test/l">'
            b"%HTMLlat1;]>"
        ),
    ):
        feed = parse_feed(RSS.replace(b"<rss", b" " * 100_000 + doctype + b"<rss"), URL)
        assert feed == parse_feed(RSS, URL)


@pytest.mark.parametrize(
    ("days", "expected"),
    [
        ([], None),
        ([1, 2], None),
        ([1, None, 2], None),
        ([3, 1, 2], DAY),
        ([1, 1, 1], None),
        ([1, 2, 4, 8, 16], 3 * DAY),
        ([*range(1, 100, 10), *range(100, 121)], DAY),
    ],
)
def test_median_interval(days: list[int | None], expected: float | None) -> None:
    dates = [None if day is None else day * DAY for day in days]
    assert median_interval([FeedEntry(published=date) for date in dates]) == expected
    assert median_interval([FeedEntry(updated=date) for date in dates]) == expected


PARTS = [b"<", b">", b"</item>", b"<item>", b"<entry>", b"&", b"&#xD800;", b"&#99999999;", b"<![CDATA[", b"<links>",
         b"\0", b"\xff", b"<title_detail>", b"<published_parsed>", b"xml:base='http://['", b"<link>http://[</link>",
         b"<svg>", b"<!--", b"{", b"}", b'"', b"null", b"[1e999]", b"<image>", b"<source>", b"<category/>",
         b"<content>", b"<guid>", b"<updated>"]  # fmt: skip


@given(st.binary())
@example(b"\xff\xfe<\0r\0")
def test_any_bytes_give_an_answer(body: bytes) -> None:
    for before in (
        b"",
        b"<rss><channel><item>",
        b"<feed xmlns='http://www.w3.org/2005/Atom'><entry><link href='",
        b'{"version":',
    ):
        entries = parse_feed(before + body, URL, "text/xml; charset=undefined").entries
        assert all(entry.link == "" or entry.link.startswith(("http://", "https://")) for entry in entries)
        assert looks_like_feed(before + body, "") in (True, False)


@given(
    st.sampled_from([RSS, ATOM, RDF, CDF, JSON]),
    st.lists(st.tuples(st.integers(0, 999), st.integers(0, 9), st.sampled_from(PARTS))),
)
def test_any_damaged_feed_gives_valid_entries(body: bytes, changes: list[tuple[int, int, bytes]]) -> None:
    for place, length, part in changes:
        body = body[:place] + part + body[place + length :]
    for entry in parse_feed(body, URL).entries:
        assert entry.link == "" or entry.link.startswith(("http://", "https://"))
        assert len(entry.title) <= 500
        assert len(entry.summary) <= 1_000
        assert all(text == text.encode().decode() for text in (entry.link, entry.title, entry.summary, entry.guid))
