"""URLs in sitemaps and feeds are visited, and fetched again when their dates are newer than the last visit."""

from __future__ import annotations

import gzip
import time
from datetime import UTC, datetime
from pathlib import Path

import apsw
import pytest

from tests.crawl.pages import Answer, Pages, pages_served
from tests.crawl.runner import rows, scrapy
from tests.crawl.test_rechecks import make_due

pytestmark = pytest.mark.crawl

NS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


def urlset(*urls: str, **facts: str) -> str:
    more = "".join(f"<{name}>{value}</{name}>" for name, value in facts.items())
    return f"<urlset {NS}>" + "".join(f"<url><loc>{url}</loc>{more}</url>" for url in urls) + "</urlset>"


def index(*urls: str) -> str:
    return f"<sitemapindex {NS}>" + "".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in urls) + "</sitemapindex>"


def crawl(host: str, settings: dict[str, object], **more: object) -> str:
    seed = f"http://{host}:{settings['port']}/"
    result = scrapy("crawl", "web", "-a", f"seeds={seed}", **settings | {"SITEMAPS": True} | more)
    assert result.returncode == 0, result.stderr
    return result.stdout


def date(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()


def test_hidden_pages_are_found_through_sitemap_indexes_on_any_host(tmp_path: Path) -> None:
    """The sitemap is on another host, nested, compressed and circular; only URLs of allowed hosts are taken from it."""
    pages: dict[str, dict[str, str | bytes | Answer]] = {"www.a.test": {}, "cdn.b.test": {}, "c.test": {}}
    with pages_served(pages, tmp_path) as (settings, requests):
        a, b, c = (f"http://{host}:{settings['port']}" for host in pages)
        pages["www.a.test"] |= {
            "/": "<p>home",
            "/robots.txt": f"User-agent: *\nDisallow: /private\nSitemap: {b}/index.xml",
            "/hidden": "<p>hidden",
            "/deeper": "<p>deeper",
            "/text": "<p>text",
        }
        pages["cdn.b.test"] |= {
            "/index.xml": index(f"{b}/index.xml", f"{b}/one.xml", f"{b}/two.xml.gz", f"{b}/three.txt"),
            "/one.xml": urlset(f"{a}/hidden", f"{a}/private", f"{c}/stranger", f"{b}/own"),
            "/two.xml.gz": gzip.compress(urlset(f"{a}/deeper").encode()),
            "/three.txt": f"{a}/text\n",
        }
        crawl("www.a.test", settings, CONTENT_PROCESSES=1)
    assert {entry for entry in requests if entry.startswith("www")} == {
        *(f"www.a.test/{path}" for path in ("", "robots.txt", "hidden", "deeper", "text"))
    }
    assert sorted(entry for entry in requests if entry.startswith("cdn")) == [
        *(f"cdn.b.test/{path}" for path in ("index.xml", "one.xml", "robots.txt", "three.txt", "two.xml.gz"))
    ]
    found = rows(
        tmp_path / "crawl", "SELECT name, count(*) FROM urls JOIN reasons ON code = reason GROUP BY 1 ORDER BY 1"
    )
    assert dict(found) == {"OUT_OF_SCOPE": 1, "REVISIT": 8, "ROBOTS_DENIED": 1, "ROBOTS_FILE": 2}


def test_an_invalid_or_missing_sitemap_xml_is_parked(tmp_path: Path) -> None:
    pages: Pages = {"a.test": {"/": "<p>home", "/sitemap.xml": "<html><p>no such page</html>"}, "b.test": {"/": "<p>b"}}
    with pages_served(pages, tmp_path) as (settings, requests):
        crawl("a.test", settings)
        crawl("b.test", settings)
    assert requests.count("a.test/sitemap.xml") == requests.count("b.test/sitemap.xml") == 1
    states = rows(
        tmp_path / "crawl", "SELECT name, kind FROM urls JOIN reasons ON code = reason WHERE kind = 2 ORDER BY 1"
    )
    assert states == [("NOT_A_LIST", 2), ("NOT_FOUND", 2)]
    assert rows(tmp_path / "crawl", "SELECT count(*) FROM changes") == [(2,)]  # sitemaps are not documents


def test_a_page_with_a_newer_lastmod_is_fetched_until_its_host_was_wrong_five_times(tmp_path: Path) -> None:
    """Each host's sitemap states again and again that its page has changed; for one of them it is true."""
    pages: dict[str, dict[str, str | bytes | Answer]] = {"a.test": {}, "b.test": {}}
    with pages_served(pages, tmp_path) as (settings, requests):
        later = time.time() - 1_000_000
        for number in range(8):
            later += 100_000
            for host in pages:
                url = f"http://{host}:{settings['port']}"
                pages[host] = {
                    "/": f"<p>home of {host}",
                    "/page": f"<p>version {number if host == 'a.test' else ''}",
                    "/sitemap.xml": urlset(f"{url}/page", lastmod=date(later), changefreq="daily", priority="0.9"),
                }
            for host in pages if not number else ["a.test"]:
                crawl(host, settings, REVISIT_INTERVAL=1_000_000)
            set_last_visits(tmp_path / "crawl", later + 50_000)
    assert requests.count("a.test/page") == 8
    assert requests.count("b.test/page") == 6  # after five wrong statements it is not trusted any more
    trust = rows(
        tmp_path / "crawl",
        "SELECT name, source, changed_right, changed_wrong FROM trust JOIN hosts USING (host) "
        "WHERE source = 3 ORDER BY 1",
    )
    assert trust == [("a.test", 3, 7, 0), ("b.test", 3, 0, 5)]
    assert "dates of sitemaps" in scrapy("why", f"http://b.test:{settings['port']}/page", **settings).stdout


def set_last_visits(directory: Path, at: float) -> None:
    """Change the store as if all URLs had been visited at this time, and only sitemaps were due again."""
    connection = apsw.Connection(str(directory / "crawl.db"))
    connection.execute("UPDATE urls SET visited = ? WHERE visited IS NOT NULL", (at,))
    connection.execute("UPDATE urls SET due = 1 WHERE state = 0 AND kind = 2")
    connection.execute("UPDATE hosts SET due = 1 WHERE due IS NOT NULL")
    connection.close()


def test_a_feed_named_by_a_page_is_followed_and_each_entry_is_announced_once(tmp_path: Path) -> None:
    def feed(*items: tuple[str, str]) -> Answer:
        entries = "".join(
            f"<item><title>On {path}</title><link>{path}</link><guid isPermaLink='false'>{guid}</guid>"
            f"<description>About {path}.</description></item>"
            for guid, path in items
        )
        body = f"<rss version='2.0'><channel><title>News</title><ttl>60</ttl>{entries}</channel></rss>"
        return Answer(body, headers={"Content-Type": "application/rss+xml"})

    home = '<link rel="alternate" type="application/rss+xml" href="/feed"><p>home'
    news = {f"/{name}": f"<p>{name}" for name in ("one", "two", "three")}
    pages: dict[str, dict[str, str | Answer]] = {"a.test": {"/": home, **news, "/feed": feed(("1", "/one"))}}
    with pages_served(pages, tmp_path) as (settings, requests):
        crawl("a.test", settings, CONTENT_PROCESSES=1)
        assert requests.count("a.test/one") == 1
        ((due,),) = rows(tmp_path / "crawl", "SELECT round((due - visited) / 60) FROM urls WHERE kind = 3")
        assert due == 60.0
        pages["a.test"]["/feed"] = feed(("1", "/three"), ("2", "/two"))
        make_due(tmp_path / "crawl")
        crawl("a.test", settings)
    assert (requests.count("a.test/two"), requests.count("a.test/three")) == (1, 0)
    stored = rows(tmp_path / "crawl", "SELECT title, summary FROM announcements ORDER BY title")
    assert stored == [("On /one", "About /one."), ("On /two", "About /two.")]
    assert rows(tmp_path / "crawl", "SELECT level, hint FROM urls WHERE url LIKE '%/two'") == [(1, 1.0)]
    explanation = scrapy("why", f"http://a.test:{settings['port']}/two", **settings).stdout
    assert "announced as 'On /two'" in explanation


@pytest.mark.parametrize("kind", ["application/rss+xml", "text/xml", "application/feed+json"])
def test_a_seed_that_is_a_feed_is_followed_as_one(kind: str, tmp_path: Path) -> None:
    body = "<rss><channel><item><link>/one</link></item></channel></rss>"
    if "json" in kind:
        body = '{"version": "https://jsonfeed.org/version/1.1", "title": "t", "items": [{"id": 1, "url": "/one"}]}'
    pages: Pages = {"a.test": {"/": Answer(body, headers={"Content-Type": kind}), "/one": "<p>one"}}
    with pages_served(pages, tmp_path) as (settings, requests):
        crawl("a.test", settings, SITEMAPS=False)
    assert "a.test/one" in requests
    assert rows(tmp_path / "crawl", "SELECT kind, reason FROM urls WHERE depth = 0 AND kind <> 1") == [(3, 5)]
    assert rows(tmp_path / "crawl", "SELECT count(*) FROM changes") == [(1,)]


def test_robots_txt_and_sitemaps_have_size_limits_of_their_own(tmp_path: Path) -> None:
    """A page is cut; of a robots.txt the whole lines in the first 500 KiB count; a sitemap is read in full."""
    filler = "# nothing\n" * 60_000
    pages: dict[str, dict[str, str | bytes | Answer]] = {"a.test": {}}
    with pages_served(pages, tmp_path) as (settings, requests):
        listed = [f"http://a.test:{settings['port']}/{number}-{'long' * 80}" for number in range(200)]
        pages["a.test"] |= {
            "/robots.txt": f"User-agent: *\nDisallow: /1\n{filler}Disallow: /2\n",
            "/": "<p>" + "words " * 20_000,
            "/sitemap.xml": urlset(*listed),
        }
        crawl("a.test", settings, FETCH_MAX_BODY=50_000)
    assert rows(tmp_path / "crawl", "SELECT count(*) FROM url_facts WHERE lister > 0") == [(200,)]
    ((stored,),) = rows(tmp_path / "crawl", "SELECT body FROM origins")
    assert isinstance(stored, bytes)
    assert len(stored) <= 512_000
    assert stored.endswith(b"nothing\n")
    home = rows(tmp_path / "crawl", "SELECT reason, body_bytes FROM documents WHERE kind = 0 ORDER BY id LIMIT 1")
    assert home == [(21, 50_000)]
    assert [entry for entry in requests if entry.startswith("a.test/1")] == []
    assert any(entry.startswith("a.test/2") for entry in requests)
