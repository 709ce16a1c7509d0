"""A spider that is not derived from ours works: its pages are stored, and it gets them as Scrapy's spiders do."""

from __future__ import annotations

import gzip
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.crawl.pages import Answer, Pages, pages_served
from tests.crawl.runner import rows, scrapy

pytestmark = pytest.mark.crawl

ZIPPED = {"Content-Encoding": "gzip", "Content-Type": "text/html; charset=windows-1252"}
SITE: Pages = {
    "a.test": {
        "/": '<title>Top</title><a href="/one">1</a><a href="/moved">2</a><a href="/missing">3</a>'
             '<a class="own" rel="nofollow" href="/own">4</a>',
        "/one": Answer(gzip.compress("<title>Één</title>".encode("cp1252")), headers=ZIPPED),
        "/two": "<title>Two</title>",
        "/own": "<title>Own</title>",
        "/moved": Answer(status=302, headers={"Location": "/two"}),
        "/robots.txt": "User-agent: *\nDisallow: /private",
        "/asked": "<title>Asked</title>",
        "/own-sitemap.xml": '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>/two</loc></url></urlset>',
    }
}  # fmt: skip
TITLES = {"/": "Top", "/one": "Één", "/two": "Two", "/own": "Own"}


def crawl(tmp_path: Path, spider: str, *words: str, **more: object) -> subprocess.CompletedProcess[str]:
    with pages_served(SITE, tmp_path) as (settings, _):
        port = settings.pop("port")
        given = settings | {"SPIDER_MODULES": "crawler.spiders,tests.crawl.plain", "PAGE_ITEMS": False} | more
        return scrapy("crawl", spider, *[word.replace("PORT", str(port)) for word in words], timeout=100, **given)


def items_of(tmp_path: Path, spider: str, *words: str, **more: object) -> list[dict[str, Any]]:
    feed = tmp_path / "items.jsonl"
    result = crawl(tmp_path, spider, *words, "-O", str(feed), **more)
    assert (result.returncode, result.stderr) == (0, "")
    return [json.loads(line) for line in feed.read_text(encoding="utf-8").splitlines()]


def stored(tmp_path: Path) -> set[str]:
    found = rows(
        tmp_path / "crawl", "SELECT url FROM documents JOIN urls USING (host, rest) WHERE documents.status = 200"
    )
    return {path_of(str(url)) for (url,) in found}


def path_of(url: str) -> str:
    return "/" + url.split("/", 3)[3]


@pytest.mark.parametrize(
    ("spider", "start"),
    [
        *[(spider, start) for spider in ("titles", "titles_async") for start in ("seeds", "start")],
        *[(spider, "seeds") for spider in ("titles_coroutine", "titles_list", "titles_wrapped", "titles_deferred")],
        ("starts", "start"),
    ],
)
def test_a_spider_of_scrapy_gets_every_page_once_as_it_expects_it(spider: str, start: str, tmp_path: Path) -> None:
    items = items_of(tmp_path, spider, "-a", f"{start}=http://a.test:PORT/")
    assert {path_of(item["url"]): item["title"] for item in items} == TITLES
    assert len(items) == len(TITLES)
    assert {(item["class"], item["status"]) for item in items} == {("HtmlResponse", 200)}
    assert stored(tmp_path) == {*TITLES, "/robots.txt"}


def test_selectors_work_on_the_answer_of_a_visit(tmp_path: Path) -> None:
    items = items_of(tmp_path, "titles_of_visits", "-a", "seeds=http://a.test:PORT/")
    assert {path_of(item["url"]): item["title"] for item in items} == {
        path: title for path, title in TITLES.items() if path != "/own"
    }


def test_pages_are_stored_even_if_the_spider_fails_on_them(tmp_path: Path) -> None:
    result = crawl(tmp_path, "raises_on_pages", "-a", "seeds=http://a.test:PORT/")
    assert result.returncode == 0
    assert result.stderr.count("Spider error processing <GET http://a.test") == 3
    assert stored(tmp_path) == {"/", "/one", "/two", "/robots.txt"}


def test_what_is_not_used_of_a_spider_is_said_once(tmp_path: Path) -> None:
    result = crawl(tmp_path, "callbacks", "-a", "seeds=http://a.test:PORT/")
    assert result.returncode == 0
    assert result.stderr.count("allowed_domains") == 1
    for part in ("its callback", "its errback", "meta and cb_kwargs", "headers and cookies", "only GET", "only http"):
        assert result.stderr.count(part) == 1, part
    assert "/asked" in stored(tmp_path)


@pytest.mark.parametrize("spider", ["closes", "closes_visits"])
def test_a_spider_that_closes_itself_loses_nothing(spider: str, tmp_path: Path) -> None:
    result = crawl(tmp_path, spider, "-a", "seeds=http://a.test:PORT/", "-O", str(tmp_path / "items.jsonl"))
    assert (result.returncode, result.stderr) == (0, "")
    assert stored(tmp_path) >= {"/", "/one"} if spider == "closes_visits" else len(stored(tmp_path)) >= 3
    if spider == "closes":
        assert len((tmp_path / "items.jsonl").read_text().splitlines()) >= 2
    assert rows(tmp_path / "crawl", "SELECT count(*) FROM urls WHERE last_reason = 82") == [(0,)]


def test_a_spider_of_sitemaps_gets_the_pages_that_they_list(tmp_path: Path) -> None:
    items = items_of(tmp_path, "sitemaps", "-a", "start=http://a.test:PORT/")
    assert [(path_of(item["url"]), item["title"]) for item in items] == [("/two", "Two")]
    assert [path_of(str(url)) for (url,) in rows(tmp_path / "crawl", "SELECT url FROM seeds")] == ["/own-sitemap.xml"]


def test_errors_of_a_spider_are_announced_and_counted_as_scrapy_does(tmp_path: Path) -> None:
    result = crawl(tmp_path, "raises_on_pages", "-a", "seeds=http://a.test:PORT/", STATS_DUMP=True, LOG_LEVEL="INFO")
    assert "'spider_exceptions/ValueError': 3" in result.stderr


@pytest.mark.parametrize(("spider", "said"), [("texts", "start_urls"), ("methods", "seeds of the spider")])
def test_seeds_of_a_spider_that_cannot_be_used_are_named(spider: str, said: str, tmp_path: Path) -> None:
    result = crawl(tmp_path, spider)
    assert result.returncode == 78
    assert said in result.stderr
    assert "Traceback" not in result.stderr


def test_a_spider_of_feeds_parses_pages(tmp_path: Path) -> None:
    items = items_of(tmp_path, "nodes", "-a", "seeds=http://a.test:PORT/")
    assert {item["title"] for item in items} >= {"Top", "Two"}


@pytest.mark.parametrize(("spider", "said"), [("ruled", "is a CrawlSpider"), ("empty", "has no `parse`")])
def test_a_spider_that_cannot_work_is_refused(spider: str, said: str, tmp_path: Path) -> None:
    result = crawl(tmp_path, spider, "-a", "seeds=http://a.test:PORT/")
    assert result.returncode == 78
    assert said in result.stderr
    assert "Traceback" not in result.stderr
    assert rows(tmp_path / "crawl", "SELECT count(*) FROM urls WHERE visits > 0") == [(0,)]
