"""Sitemaps of all forms are parsed, also gzipped, truncated, malformed and hostile ones."""

from __future__ import annotations

import gzip

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crawler.parse import sitemaps
from crawler.parse.sitemap_entries import match_simple_entry
from crawler.parse.sitemaps import Sitemap, SitemapForm, parse_sitemap

URLS = [f"http://a.test/{number}" for number in range(5_000)]
LIST = "\n".join(URLS).encode()
XML = (
    b'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
    + b"".join(b"<url><loc>%s</loc></url>\n" % url.encode() for url in URLS)
    + b"</urlset>"
)


def read(body: bytes) -> Sitemap:
    return parse_sitemap(body, "http://a.test/maps/1.xml")


def urls(body: bytes) -> list[str]:
    return [entry.loc for entry in read(body).entries]


def test_all_fields_of_an_entry_are_parsed() -> None:
    body = b"""<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml"
        xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">
        <url><loc>http://a.test/?a=1&amp;b=2</loc><lastmod>1970-01-02T01:00:00+01:00</lastmod>
        <changefreq>Daily</changefreq><priority>0.8</priority>
        <xhtml:link rel="alternate" hreflang="de" href="http://a.test/de"/>
        <image:image><image:loc>http://a.test/i.png</image:loc></image:image></url></urlset>"""
    (entry,) = read(body).entries
    assert entry[:4] == ("http://a.test/?a=1&b=2", 86_400.0, "daily", 0.8)
    assert entry.alternates == (("de", "http://a.test/de"),)
    assert entry.media == ("http://a.test/i.png",)


USUAL = (
    "<url><loc>http://a.test/</loc></url>",
    "<url>\n\t<loc> http://a.test/?a&amp;b&apos;c </loc>\n</url>",
    "<url>\r\n<loc>\r\nhttp://a.test/\r\n</loc>\r\n<priority>0.5</priority>\r\n</url>",
    "<sitemap><loc>http://a.test/</loc><lastmod>2020-01-02T03:04:05Z</lastmod></sitemap>",
    "<url><loc>/b</loc><priority> .5 </priority><lastmod>\n2020-01</lastmod><changefreq>Daily </changefreq></url>",
    '<url><loc>/b</loc><x:link rel="alternate" hreflang="de" href="http://a.test/?a&amp;b"/></url>',
    (
        '<url><loc>/b</loc><x:link rel="alternate" href=" /de " hreflang="de" /> '
        '<x:link rel="alternate" hreflang="" href=""/></url>'
    ),
    (
        "<url><loc>/b</loc><image:image><image:loc>/i&gt;</image:loc>"
        "<image:title>A > &quot;B&quot;</image:title></image:image></url>"
    ),
    (
        "<url><loc>/b</loc><v:video> <v:thumbnail_loc>/t</v:thumbnail_loc><v:content_loc>/v</v:content_loc>"
        "</v:video></url>"
    ),
    "<url><loc>/Zürich-日本-\U0001f600</loc></url>",
)
UNUSUAL = (
    "<url><loc><![CDATA[http://a.test/?a&b]]></loc></url>",
    "<!-- <url><loc>/no</loc></url> --><url><loc>/b</loc></url><!-- <url><loc>/no</loc></url>-->",
    "<url ><loc>/b</loc></url >\n<!-- </url> <url><loc>/no</loc></url> -->",
    "<url><loc>/b&#x26;c</loc></url>",
    "<url><loc>/b</loc><lastmod>2020</lastmod><lastmod>2021</lastmod></url>",
    "<url><loc>/b</loc><loc>/c</loc></url>",
    "<url>text<loc>/b<!-- c --></loc>text</url>",
    "<x:url><x:loc>/b</x:loc></x:url>",
    "<url><loc>/b</loc><x:link rel='alternate' hreflang='de' href='/de'/></url>",
    '<url><loc>/b</loc><x:link hreflang="de" rel="alternate" href="/d\ne"/></url>',
    '<url><loc>/b</loc><x:link rel="alternate" hreflang="de" href="/d\ne"/></url>',
    (
        "<url><loc>/b</loc><n:news><n:publication><n:name>N</n:name></n:publication></n:news>"
        "<x:priority>1</x:priority></url>"
    ),
    "<url/><url></url><url><loc/></url>",
    "<group><url><loc>/b</loc></url></group>",
    "<url><loc>/b\rc</loc></url>",
)
MALFORMED = (
    "<url><loc>/b]]></loc></url>",
    "<url><loc>/b\x01</loc></url>",
    "<url><loc>/b\uffff</loc></url>",
    "<url><loc>/b&c</loc></url>",
    '<url><loc>/b</loc><x:link rel="alternate" hreflang="de" href="/<"/></url>',
    "<url><loc>/b</url>",
)


@pytest.mark.parametrize("entry", USUAL)
def test_entries_in_the_usual_form_are_matched_without_a_parser(entry: str) -> None:
    text = entry.replace("\r\n", "\n")
    fields_and_end = match_simple_entry(text, 0)
    assert fields_and_end is not None
    assert fields_and_end[1] == len(text)


@pytest.mark.parametrize("entry", [*USUAL, *UNUSUAL, *MALFORMED])
def test_with_and_without_a_parser_entries_are_the_same(entry: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before, after = "<url><loc>http://a.test/0</loc></url>\n", "\n<url><loc>http://a.test/9</loc></url>"
    body = f"<urlset>{before}{entry}{after}{entry}{after}</urlset>".encode()
    found = read(body)
    monkeypatch.setattr(sitemaps, "match_simple_entry", lambda text, start: None)
    assert comparable(found) == comparable(read(body))
    assert (found.problem == "broken") is (entry in MALFORMED)
    assert entry in MALFORMED or [urls(body)[0], urls(body)[-1]] == ["http://a.test/0", "http://a.test/9"]


@given(
    st.lists(st.sampled_from([*USUAL, *UNUSUAL, "<!--", "-->", " ", "<![CDATA[", "]]>", "</url>", "<url>", "&", "\r"]))
)
@example(["<url>", "<x:url><x:loc>/b</x:loc></x:url>"])
def test_in_any_order_entries_are_the_same_with_and_without_a_parser(parts: list[str]) -> None:
    body = f"<urlset>{''.join(parts)}</urlset>".encode()
    found = read(body)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sitemaps, "match_simple_entry", lambda text, start: None)
        assert comparable(found) == comparable(read(body))


def comparable(found: Sitemap) -> tuple[object, ...]:
    entries = [(*entry[:4], entry.alternates, entry.media) for entry in found.entries + found.sitemaps]
    return (found.kind, found.problem, entries)


@pytest.mark.parametrize(
    ("body", "form"),
    [
        (b"<urlset><url><loc>u</loc></url></urlset>", SitemapForm.URLSET),
        (b"<anything><url><loc>u</loc></url></anything>", SitemapForm.URLSET),
        (b"<sitemapindex><sitemap><loc>u</loc></sitemap></sitemapindex>", SitemapForm.INDEX),
        (b"<sitemapindex/>", SitemapForm.INDEX),
        (
            b"\n\n<?xml version='1.0'?><rss><channel><item><link>http://u</link></item></channel></rss>",
            SitemapForm.FEED,
        ),
        (b"<feed><entry><link href='http://u'/></entry></feed>", SitemapForm.FEED),
        (b"http://a.test/\n", SitemapForm.TEXT),
        (b"\xef\xbb\xbfwww.a.test/\r\n", SitemapForm.TEXT),
        (b"<html><p>Not found", SitemapForm.NONE),
        (b"nothing here", SitemapForm.NONE),
        (b"", SitemapForm.NONE),
    ],
)
def test_forms(body: bytes, form: SitemapForm) -> None:
    assert read(body).kind is form


@pytest.mark.parametrize("body", [XML, LIST])
def test_gzip_with_one_or_several_members_is_decompressed(body: bytes) -> None:
    middle = len(body) // 2
    assert urls(body) == urls(gzip.compress(body)) == URLS
    assert urls(gzip.compress(body[:middle]) + gzip.compress(body[middle:])) == URLS


@pytest.mark.parametrize("body", [XML, XML.replace(b"\n", b"")])
def test_the_complete_entries_of_a_truncated_file_are_kept(body: bytes) -> None:
    for end in (len(body) - 9, len(body) // 2, len(body) // 2 + 9, 100):
        complete = body[:end].count(b"</url>")
        assert urls(body[:end]) == URLS[:complete]
    packed = gzip.compress(body)
    cut = read(packed[: len(packed) // 2])
    assert 0 < len(cut.entries) < len(URLS)
    assert [entry.loc for entry in cut.entries] == URLS[: len(cut.entries)]
    assert cut.problem == "cut"


def test_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitemaps, "MOST_ENTRIES", 1_000)
    assert (len(read(XML).entries), read(XML).problem) == (1_000, "too_many")
    assert (len(read(LIST).entries), read(LIST).problem) == (1_000, "too_many")
    monkeypatch.setattr(sitemaps, "MOST_ENTRIES", 50_000)
    monkeypatch.setattr(sitemaps, "MOST_BYTES", 70_000)
    for body in (XML, gzip.compress(XML)):
        found = read(body)
        assert (0 < len(found.entries) < 2_000, found.problem) == (True, "too_big")


BOMB = b'<!DOCTYPE u [<!ENTITY a "aaaaaaaaaa">' + b"".join(
    b'<!ENTITY %c "&%c;&%c;&%c;&%c;&%c;&%c;&%c;&%c;">' % (98 + n, *[97 + n] * 8) for n in range(20)
) + b"]>"  # fmt: skip
THEFT = b'<!DOCTYPE u [<!ENTITY x SYSTEM "file:///etc/passwd">]>'


@pytest.mark.parametrize("document_type", [BOMB, THEFT, b"<!DOCTYPE u [<!ENTITY % x SYSTEM 'http://b.test/'>%x;]>"])
@pytest.mark.parametrize(
    "before", [b"", b"<?xml version='1.0'?>", b"<?xml version='1.0' encoding='no-such'?>", b"<!-- a -- b -->"]
)
@pytest.mark.parametrize("loc", [b"http://a.test/&u;&x;", b"http://a.test/"])
def test_a_file_with_dtd_declarations_is_refused(document_type: bytes, before: bytes, loc: bytes) -> None:
    entries = b"<url><loc>%s</loc></url><url><loc>http://a.test/b</loc></url>" % loc
    for after in (b"</urlset>", b"</wrong>"):
        found = read(before + document_type + b"<urlset>" + entries + after)
        assert found == Sitemap(kind=SitemapForm.NONE, entries=[], sitemaps=[], problem="dtd")


def test_a_document_type_without_declarations_is_accepted() -> None:
    name = b'<!DOCTYPE urlset SYSTEM "http://b.test/sitemap.dtd">'
    assert urls(name + b"<urlset><url><loc>http://a.test/b</loc></url></urlset>") == ["http://a.test/b"]


@pytest.mark.parametrize(
    ("loc", "url"),
    [
        ("http://b.test/A?b#c", "http://b.test/A?b#c"),
        ("HTTPS://B.test", "https://b.test/"),
        ("/b", "http://a.test/b"),
        ("2.xml", "http://a.test/maps/2.xml"),
        ("//b.test/", "http://b.test/"),
        ("javascript:alert(1)", None),
        ("file:///etc/passwd", None),
        ("mailto:a@a.test", None),
        ("", None),
        ("http://a.test/" + "b" * 9_000, None),
    ],
)
def test_only_web_urls_are_kept_and_made_absolute(loc: str, url: str | None) -> None:
    expected = [url] if url else []
    first = "<url><loc>http://c.test/</loc></url>"  # the parser reads the first entry, expressions the next
    for body in (f"<urlset><url><loc>{loc}</loc></url>", f"<urlset>{first}<url><loc>{loc}</loc></url>"):
        assert urls(body.encode())[body.count(first) :] == expected
    index = read(f"<sitemapindex><sitemap><loc>{loc}</loc></sitemap></sitemapindex>".encode())
    assert ([entry.loc for entry in index.sitemaps], index.entries) == (expected, [])


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "body",
    [
        b"<!--" + b"</url>" * 3_000_000,
        b"<url><loc>http://a.test/1</loc>" + b"<i:image><i:loc>/a</i:loc></i:image>" * 200_000,
        b"<url>" * 1_000_000,
        b"<url a='" + b"b" * 10_000_000,
    ],
    ids=["comment", "images", "open", "attribute"],
)
def test_hostile_files_take_linear_time(body: bytes) -> None:
    assert urls(b"<urlset><url><loc>http://a.test/0</loc></url>" + body)[:1] == ["http://a.test/0"]


@pytest.mark.parametrize(
    ("text", "priority"), [("1", 1.0), (" .5 ", 0.5), ("-3", 0.0), ("9", 1.0), ("nan", None), ("high", None)]
)
def test_priorities(text: str, priority: float | None) -> None:
    body = f"<urlset><url><loc>u</loc><priority>{text}</priority></url></urlset>".encode()
    assert read(body).entries[0].priority == priority


@given(st.binary(), st.sampled_from([b"", b"<urlset><url><loc>u</loc></url>", b"\x1f\x8b\x08", b"http://a.test/\n"]))
@example(b"\xff\xfe<\0u\0", b"")
@example(b"<urlset xmlns='\xff'><url>", b"")
def test_any_bytes_give_an_answer(body: bytes, before: bytes) -> None:
    found = read(before + body)
    assert all(entry.loc.startswith("http") for entry in found.entries + found.sitemaps)
