"""noindex, nofollow and noarchive are obeyed, and the change feed passes them on to indexers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.crawl.pages import Answer, Pages, pages_served, seeds_of
from tests.crawl.runner import rows, scrapy

pytestmark = pytest.mark.crawl


def test_a_noindex_page_is_deleted_and_its_links_are_followed(tmp_path: Path) -> None:
    """One page becomes noindex, one always was, a text file has X-Robots-Tag, one has rules for another crawler."""
    first = {
        "/": '<a href="/turns">t</a><a href="/hidden">h</a><a href="/file">f</a><a href="/other">o</a>',
        "/turns": "<p>words",
        "/hidden": '<meta name=robots content=noindex><a href="/behind">b</a>',
        "/behind": "<meta name=robots content=noarchive><p>behind",
        "/file": Answer("plain words", headers={"Content-Type": "text/plain", "X-Robots-Tag": "noindex"}),
        "/other": Answer('<meta name=googlebot content=none><a href="/beyond">b</a>'),
        "/beyond": Answer('<a href="/never">n</a>', headers={"X-Robots-Tag": "orbweaver: nofollow"}),
    }
    pages: dict[str, dict[str, str | Answer]] = {"a.test": dict(first)}
    with pages_served(pages, tmp_path) as (settings, requests):
        port = settings.pop("port")
        settings |= {"REVISIT_INTERVAL": 10, "CONTENT_PROCESSES": 1}
        assert crawled(pages, port, settings) == {"/", "/turns", "/behind", "/other", "/beyond"}
        assert "a.test/never" not in requests
        exported = map(json.loads, scrapy("export", "--to", "jsonl", **settings).stdout.splitlines())
        assert [line["noarchive"] for line in exported if line["url"].endswith("/behind")] == [True]
        pages["a.test"]["/turns"] = Answer("<p>words", headers={"X-Robots-Tag": "noindex"})
        later = settings | {"CRAWL_HORIZON": 30, "REVISIT_INTERVAL": 1_000_000}
        assert crawled(pages, port, later) == {"/", "/behind", "/other", "/beyond"}
    deleted = rows(
        tmp_path / "crawl", "SELECT u.url FROM changes c JOIN urls u USING (host, rest) WHERE change = 'delete'"
    )
    assert [str(url).rpartition("/")[2] for (url,) in deleted] == ["turns"]
    reasons = rows(
        tmp_path / "crawl", "SELECT count(*) FROM urls JOIN reasons ON code = last_reason WHERE name = 'NOINDEX'"
    )
    assert reasons == [(3,)]


def test_a_page_with_unavailable_after_is_due_just_after_that_date(tmp_path: Path) -> None:
    tag = {"X-Robots-Tag": "unavailable_after: 1 Jan 2090 00:00:00 GMT"}
    pages: Pages = {"a.test": {"/": Answer("<p>words", headers=tag | {"Cache-Control": "max-age=7200"})}}
    with pages_served(pages, tmp_path) as (settings, _):
        port = settings.pop("port")
        settings["REVISIT_INTERVAL"] = 100 * 365 * 86_400
        assert scrapy("crawl", "web", "-a", f"seeds={seeds_of(pages, port)}", **settings).returncode == 0
    ((due,),) = rows(tmp_path / "crawl", "SELECT due FROM urls WHERE kind = 0")
    assert due == 3_786_912_001.0


def test_robots_txt_is_cached_for_the_max_age_of_its_response(tmp_path: Path) -> None:
    rules = Answer("User-agent: *", headers={"Cache-Control": "max-age=7200"})
    pages: Pages = {"a.test": {"/robots.txt": rules, "/": "<p>words"}}
    with pages_served(pages, tmp_path) as (settings, _):
        port = settings.pop("port")
        assert scrapy("crawl", "web", "-a", f"seeds={seeds_of(pages, port)}", **settings).returncode == 0
    assert rows(tmp_path / "crawl", "SELECT round(expires - fetched) FROM origins") == [(7200.0,)]


def crawled(pages: Pages, port: object, settings: dict[str, object]) -> set[str]:
    """Crawl once more; return the paths of the exported pages."""
    result = scrapy("crawl", "web", "-a", f"seeds={seeds_of(pages, port)}", **settings)
    assert result.returncode == 0, result.stderr
    exported = scrapy("export", "--to", "jsonl", **settings)
    assert exported.returncode == 0, exported.stderr
    lines = [json.loads(line) for line in exported.stdout.splitlines()]
    return {"/" + line["url"].split("/", 3)[3] for line in lines if "deleted" not in line}
