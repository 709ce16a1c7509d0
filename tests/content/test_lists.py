"""What sitemaps and feeds list, which hosts they may list, and which of their dates and priorities count."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from crawler.content.examine import examine
from crawler.content.lists import DEEPEST_INDEX, MOST_SITEMAPS, list_link, list_refusal, read_feed, read_sitemap
from crawler.items import Kind, ListedUrl, Outcome, Page, Reason, Refusal
from crawler.urls.keys import key_of
from tests.defaults import DEFAULTS, urls_with
from tests.samples import answer, visit_to, visited

NOW = 1_700_000_000.0
DAY = 86_400.0
HOME = "http://www.a.test"
SITEMAP, FEED = f"{HOME}/sitemap.xml", f"{HOME}/feed"
SCOPE = urls_with(exclude=("exclude.txt", f"{HOME}/secret")).new_scope()


def date(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()


def urlset(*urls: str, **facts: str) -> bytes:
    more = "".join(f"<{name}>{value}</{name}>" for name, value in facts.items())
    return f"<urlset>{''.join(f'<url><loc>{url}</loc>{more}</url>' for url in urls)}</urlset>".encode()


def index(*urls: str) -> bytes:
    return f"<sitemapindex>{''.join(f'<sitemap><loc>{url}</loc></sitemap>' for url in urls)}</sitemapindex>".encode()


def sitemap_of(body: bytes, *, url: str = SITEMAP, scope: Any = SCOPE, **facts: Any) -> Page:
    page = read_sitemap(Page(), body, visit_to(url, kind=Kind.SITEMAP, **facts), scope, NOW)
    assert page is not None
    assert page.kind is Kind.SITEMAP
    return page


def listed_in(body: bytes, **facts: Any) -> Sequence[ListedUrl]:
    return sitemap_of(body, **facts).listed


def only_entry(**facts: str) -> ListedUrl:
    (listed,) = listed_in(urlset(f"{HOME}/a", **facts))
    return listed


# ── sitemaps: which hosts they may list ──


@pytest.mark.parametrize(
    ("url", "vouchers", "is_listed"),
    [
        (f"{HOME}/a", (), True),
        ("https://www.a.test/a", (), True),
        ("http://a.test/", (), True),
        ("http://shop.eu.a.test/", (), True),
        ("http://b.test/", (), False),
        ("http://www.a.test.b.test/", (), False),
        ("http://b.test/", ("b.test",), True),
        ("http://www.b.test/", ("b.test",), True),
        ("http://b.test/", ("c.test",), False),
        ("http://c.test/", ("b.test", "c.test"), True),
        ("http://other.co.uk/", ("mine.co.uk",), False),  # they share only a public suffix
        ("http://10.0.0.1/", ("10.0.0.2",), False),  # addresses have no registered domain
    ],
)
def test_a_sitemap_may_list_its_own_site_and_sites_that_vouch_for_it(
    url: str, vouchers: Sequence[str], is_listed: bool
) -> None:
    assert [entry.url for entry in listed_in(urlset(url), vouchers=vouchers)] == [url] * is_listed
    children = sitemap_of(index(url), vouchers=vouchers).sitemaps
    assert [link.url for link in children] == [url] * is_listed


def test_a_sitemap_on_an_address_may_list_that_address() -> None:
    url = "http://10.0.0.1/a"
    assert [entry.url for entry in listed_in(urlset(url), url="http://10.0.0.1/sitemap.xml")] == [url]


def test_each_url_is_listed_once_in_its_canonical_form_with_its_key() -> None:
    body = urlset("/b", f"{HOME}:80/b#x", "HTTP://WWW.A.TEST/b", f"{HOME}/%7Ec")
    listed = listed_in(body)
    assert [entry.url for entry in listed] == [f"{HOME}/b", f"{HOME}/~c"]
    assert [entry.key for entry in listed] == [key_of(entry.url) for entry in listed]
    assert all(entry.refused is None for entry in listed)


def test_the_first_of_two_entries_for_a_url_counts() -> None:
    body = b"<urlset><url><loc>/a</loc><changefreq>daily</changefreq></url><url><loc>/a</loc></url></urlset>"
    assert [entry.interval for entry in listed_in(body)] == [DAY]


def test_a_refused_url_is_listed_with_the_reason() -> None:
    scope = urls_with(mode="hosts", skip_types=("zip",), max_depth=1, exclude=("x", f"{HOME}/secret")).new_scope([HOME])
    urls = [f"{HOME}/a", f"{HOME}/secret", f"{HOME}/b.zip", "http://a.test/"]
    reasons = [entry.refused and entry.refused.reason for entry in listed_in(urlset(*urls), scope=scope)]
    assert reasons == [None, Reason.EXCLUDED, Reason.FILE_TYPE, Reason.OUT_OF_SCOPE]
    (far,) = listed_in(urlset(urls[0]), scope=scope, depth=1)
    assert far.refused is not None
    assert far.refused.reason is Reason.TOO_FAR


# ── sitemaps: priorities, dates, frequencies ──


@pytest.mark.parametrize(
    ("priorities", "hints"),
    [
        (["1.0", "1.0", "1.0"], [0.5, 0.5, 0.5]),  # if all are equal, none is more important
        (["0.1", "0.1"], [0.5, 0.5]),
        (["1.0", "0.5", "0.0"], [1.0, 0.5, 0.0]),
        (["0.8", "0.4"], [0.7, 0.3]),
        (["1.0", "0.0", "0.0", "0.0", "0.0"], [1.0, 0.3, 0.3, 0.3, 0.3]),
        (["0.9", "", "0.7"], [0.6, None, 0.4]),
        (["", ""], [None, None]),
    ],
)
def test_priorities_are_relative_to_their_mean(priorities: list[str], hints: list[float | None]) -> None:
    entries = "".join(f"<url><loc>/{n}</loc><priority>{given}</priority></url>" for n, given in enumerate(priorities))
    listed = listed_in(f"<urlset>{entries}</urlset>".encode())
    assert [entry.hint if entry.hint is None else round(entry.hint, 3) for entry in listed] == hints


@pytest.mark.parametrize(
    ("seconds", "is_plausible"),
    [(NOW - 1_000, True), (NOW, True), (NOW + DAY, True), (NOW + DAY + 1, False), (NOW + 400 * DAY, False)],
)
def test_a_date_in_the_future_is_ignored(seconds: float, is_plausible: bool) -> None:
    assert only_entry(lastmod=date(seconds)).modified == (seconds if is_plausible else None)


@pytest.mark.parametrize("text", ["", "yesterday", "0000-00-00", "1969-12-31", "1970-01-01T00:00:00Z"])
def test_an_invalid_date_is_ignored(text: str) -> None:
    assert only_entry(lastmod=text).modified is None


@pytest.mark.parametrize(
    ("frequency", "interval"),
    [
        ("always", 3_600.0),
        ("hourly", 3_600.0),
        ("Daily ", DAY),
        ("weekly", 7 * DAY),
        ("monthly", 30 * DAY),
        ("yearly", 365 * DAY),
        ("never", None),
        ("often", None),
        ("", None),
    ],
)
def test_change_frequencies_become_seconds(frequency: str, interval: float | None) -> None:
    assert only_entry(changefreq=frequency).interval == interval


# ── indexes ──


def test_an_index_names_sitemaps_and_lists_no_urls() -> None:
    page = sitemap_of(index(f"{HOME}/1.xml", "/2.xml.gz", f"{HOME}/1.xml"))
    assert [(link.url, link.refused) for link in page.sitemaps] == [(f"{HOME}/1.xml", None), (f"{HOME}/2.xml.gz", None)]
    assert [link.key for link in page.sitemaps] == [key_of(link.url) for link in page.sitemaps]
    assert page.listed == ()


def test_an_index_that_names_itself_is_not_read_again() -> None:
    assert [link.url for link in sitemap_of(index(SITEMAP, "/1.xml", "sitemap.xml")).sitemaps] == [f"{HOME}/1.xml"]


@pytest.mark.parametrize(("depth", "children"), [(0, 1), (DEEPEST_INDEX - 1, 1), (DEEPEST_INDEX, 0), (99, 0)])
def test_the_depth_of_indexes_in_indexes_is_limited(depth: int, children: int) -> None:
    assert len(sitemap_of(index("/1.xml"), depth=depth).sitemaps) == children
    assert len(listed_in(urlset("/a"), depth=depth)) == 1  # a sitemap that is no index is read at any depth


def test_the_number_of_sitemaps_of_an_index_is_limited() -> None:
    assert MOST_SITEMAPS == 5_000
    links = sitemap_of(index(*(f"/{n}.xml" for n in range(MOST_SITEMAPS + 7)))).sitemaps
    assert len(links) == MOST_SITEMAPS
    assert links[-1].url == f"{HOME}/{MOST_SITEMAPS - 1}.xml"


def test_sitemaps_that_an_index_may_not_list_do_not_count_against_the_limit() -> None:
    strangers = (f"http://b.test/{n}.xml" for n in range(MOST_SITEMAPS))
    assert [link.url for link in sitemap_of(index(*strangers, "/own.xml")).sitemaps] == [f"{HOME}/own.xml"]


# ── which lists are read ──

NARROW = urls_with(
    mode="hosts",
    skip_types=("gz",),
    include=("include.txt", f"{HOME}/news/"),
    exclude=("exclude.txt", f"{HOME}/secret"),
    ports=(80,),
).new_scope([HOME])


@pytest.mark.parametrize(
    ("url", "vouched", "reason"),
    [
        (f"{HOME}/sitemap.xml", False, None),  # not included, as a page
        (f"{HOME}/sitemap.xml.gz", False, None),
        (f"{HOME}/api/v1/sitemap", False, None),
        (f"{HOME}/secret.xml", False, Reason.EXCLUDED),
        ("http://cdn.test/sitemap.xml", False, Reason.OUT_OF_SCOPE),
        ("http://cdn.test/sitemap.xml", True, None),
        (f"{HOME}:22/sitemap.xml", True, Reason.PORT_DENIED),
        (f"{HOME}/secret.xml", True, Reason.EXCLUDED),
    ],
)
def test_some_reasons_to_refuse_a_page_do_not_apply_to_lists(url: str, vouched: bool, reason: Reason | None) -> None:
    refused = list_refusal(NARROW, url, vouched=vouched)
    assert (refused and refused.reason) == reason
    assert list_link(NARROW, url, vouched=vouched) == (key_of(url), url, "", refused, 0)


def test_sitemaps_on_vouching_hosts_may_be_out_of_scope() -> None:
    body = index("http://cdn.test/1.xml", "http://other.cdn.test/2.xml", "/3.xml")
    links = sitemap_of(body, scope=NARROW, vouchers=("cdn.test",)).sitemaps
    assert [(link.url, link.refused and link.refused.reason) for link in links] == [
        ("http://cdn.test/1.xml", None),
        ("http://other.cdn.test/2.xml", Reason.OUT_OF_SCOPE),
        (f"{HOME}/3.xml", None),
    ]


# ── broken sitemaps ──


def test_a_truncated_sitemap_lists_its_complete_entries() -> None:
    page = sitemap_of(b"<urlset><url><loc>http://www.a.test/a</loc></url><url><loc>http://www.a.te")
    assert [entry.url for entry in page.listed] == [f"{HOME}/a"]
    assert page.problem == "cut"


@pytest.mark.parametrize("body", [b"", b"\0\1", b"<html><p>Not found</html>", b"<urlset", b"hello"])
def test_other_content_is_not_read_as_a_sitemap(body: bytes) -> None:
    assert read_sitemap(Page(), body, visit_to(SITEMAP, kind=Kind.SITEMAP), SCOPE, NOW) is None


# ── feeds ──


def rss(*items: str, **channel: str) -> bytes:
    about = "".join(f"<{name}>{value}</{name}>" for name, value in channel.items())
    return f"<rss version='2.0'><channel>{about}{''.join(f'<item>{item}</item>' for item in items)}</channel></rss>".encode()


def feed_of(body: bytes, **facts: Any) -> Page:
    page = read_feed(Page(), body, visit_to(FEED, kind=Kind.FEED, **facts), "application/rss+xml", SCOPE, NOW)
    assert page is not None
    assert page.kind is Kind.FEED
    return page


def rfc822(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%a, %d %b %Y %H:%M:%S GMT")


def test_a_feed_may_list_urls_of_any_site() -> None:
    news = f"<link>http://b.test/news</link><guid>urn:1</guid><title>New</title><description>All &amp;lt;b>of it</description><pubDate>{rfc822(NOW - 50)}</pubDate>"
    page = feed_of(rss(news, "<link>/secret</link>", "<title>no link</title>", title="Our news"))
    assert page.title == "Our news"
    first, second = page.listed
    assert (first.url, first.refused, first.modified, first.interval, first.hint) == (
        "http://b.test/news",
        None,
        NOW - 50,
        None,
        1.0,
    )
    assert (first.title, first.key) == ("New", key_of("http://b.test/news"))
    assert first.summary
    assert second.refused == Refusal(Reason.EXCLUDED, f"exclude.txt:1 {HOME}/secret")


def test_an_entry_is_identified_by_its_guid_or_its_link() -> None:
    def guids(*items: str) -> list[int]:
        return [entry.guid for entry in feed_of(rss(*items)).listed]

    one, two, bare = guids(
        "<link>/1</link><guid isPermaLink='false'>x</guid>",
        "<link>/2</link><guid isPermaLink='false'>y</guid>",
        "<link>/3</link>",
    )
    assert len({one, two, bare}) == 3
    assert guids("<link>/other</link><guid isPermaLink='false'>x</guid>") == [one]
    assert guids("<link>/3</link><title>other</title>") == [bare]
    assert all(-(1 << 63) <= guid < 1 << 63 and guid for guid in (one, two, bare))  # as databases store it


def test_a_feed_lists_a_url_once_and_a_date_in_the_future_is_ignored() -> None:
    items = [
        f"<link>/1</link><guid>a</guid><pubDate>{rfc822(NOW + 2 * DAY)}</pubDate>",
        "<link>/1#x</link><guid>b</guid>",
    ]
    assert [(entry.url, entry.modified) for entry in feed_of(rss(*items)).listed] == [(f"{HOME}/1", None)]


def test_the_update_of_an_entry_counts_not_its_publication() -> None:
    body = f"""<feed xmlns="http://www.w3.org/2005/Atom"><entry><link href="/1"/><id>a</id>
               <published>{date(NOW - 9_000)}</published><updated>{date(NOW - 10)}</updated></entry></feed>"""
    assert [entry.modified for entry in feed_of(body.encode()).listed] == [NOW - 10]


def dated(step: float, count: int = 5) -> list[str]:
    return [f"<link>/{n}</link><pubDate>{rfc822(NOW - n * step)}</pubDate>" for n in range(count)]


@pytest.mark.parametrize(
    ("body", "interval"),
    [
        (rss(*dated(7_200)), 3_600.0),  # twice as often as entries appear
        (rss(*dated(60)), 900.0),
        (rss(*dated(30 * DAY)), DAY),
        (rss(*dated(7_200), ttl="90"), 5_400.0),  # the ttl is in minutes
        (rss(*dated(7_200), ttl="soon"), 3_600.0),
        (rss(ttl="1"), 60.0),  # the frontier has its own lower limit
        (rss(*dated(7_200, 2)), None),
        (rss("<link>/1</link>"), None),
    ],
)
def test_a_feed_is_visited_by_its_ttl_or_by_the_interval_of_its_entries(body: bytes, interval: float | None) -> None:
    assert feed_of(body).interval == interval


def test_other_content_is_not_read_as_a_feed() -> None:
    assert read_feed(Page(), b"<html>", visit_to(FEED, kind=Kind.FEED), "text/html", SCOPE, NOW) is None


# ── recognized by their content ──


@pytest.mark.parametrize(
    ("kind", "body", "content_type", "found", "reason"),
    [
        (Kind.SITEMAP, urlset("/a"), "text/html", Kind.SITEMAP, Reason.OK),
        (Kind.SITEMAP, b"<html><p>home", "text/html", Kind.PAGE, Reason.NOT_A_LIST),
        (Kind.SITEMAP, b"http://www.a.test/a\n", "text/plain", Kind.SITEMAP, Reason.OK),
        (Kind.FEED, rss("<link>/a</link>"), "text/html", Kind.FEED, Reason.OK),
        (Kind.FEED, b"<html><p>home", "text/html", Kind.PAGE, Reason.NOT_A_LIST),
        (Kind.PAGE, rss("<link>/a</link>"), "text/xml", Kind.FEED, Reason.OK),
        (Kind.PAGE, b"<?xml version='1.0'?>\n<!-- x -->" + urlset("/a"), "text/xml", Kind.SITEMAP, Reason.OK),
        (Kind.PAGE, b"http://www.a.test/a\n", "text/plain", Kind.PAGE, Reason.OK),
        (Kind.PAGE, b"<html><pre>&lt;urlset>", "text/html", Kind.PAGE, Reason.OK),
    ],
)
def test_lists_are_recognized_by_their_content(
    kind: Kind, body: bytes, content_type: str, found: Kind, reason: Reason
) -> None:
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\n\r\n".encode()
    visit = visit_to(f"{HOME}/x", kind=kind)
    fetched = visited(visit, page=None, fetched=answer(visit.url, head=head, body=body))
    result = examine(fetched, SCOPE, DEFAULTS.reading, DEFAULTS.duplicates)
    assert result.page is not None
    assert (result.page.kind, result.reason) == (found, reason)
    assert result.outcome is (Outcome.REFUSED if reason is Reason.NOT_A_LIST else Outcome.FETCHED)
    assert bool(result.page.listed) is (found is not Kind.PAGE)
