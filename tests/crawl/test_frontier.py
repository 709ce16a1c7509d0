"""Budgets and preferred hosts, in whole crawls."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.crawl.pages import pages_served
from tests.crawl.runner import rows, scrapy

pytestmark = pytest.mark.crawl

LINKS = "".join(f'<a href="/{page}">page {page}</a> ' for page in range(1, 30))
SITE = {"/": LINKS} | {f"/{page}": f"<p>This is page {page}." for page in range(1, 30)}


def test_a_site_gets_no_more_than_its_budget_until_that_is_raised(tmp_path: Path) -> None:
    with pages_served({"a.test": SITE, "b.test": {"/": "<p>Small."}}, tmp_path) as (settings, requests):
        port = settings.pop("port")
        seeds = f"seeds=http://a.test:{port}/,http://b.test:{port}/"
        first = scrapy("crawl", "web", "-a", seeds, **settings, BUDGET_DOMAIN=10)
        assert first.returncode == 0, first.stderr
        assert sum(url.startswith("a.test/") and "robots" not in url for url in requests) == 10
        assert "b.test/" in requests
        status = json.loads(scrapy("status", "--json", **settings).stdout)
        assert {"state": "parked", "reason": "over_budget", "urls": 20} in status["reasons"]
        second = scrapy("crawl", "web", **settings, BUDGET_DOMAIN=25)
        assert second.returncode == 0, second.stderr
        assert sum(url.startswith("a.test/") and "robots" not in url for url in requests) == 25
        third = scrapy("crawl", "web", **settings)
        assert third.returncode == 0, third.stderr
        assert sorted(set(requests)) == sorted(requests)
        assert len([url for url in requests if "robots" not in url]) == 31


def test_a_crawl_ends_when_daily_budgets_are_used_and_prints_when_the_next_visit_is_due(tmp_path: Path) -> None:
    with pages_served({"a.test": SITE}, tmp_path) as (settings, requests):
        port = settings.pop("port")
        result = scrapy("crawl", "web", "-a", f"seeds=http://a.test:{port}/", **settings, BUDGET_HOST_DAY=7)
        assert result.returncode == 0, result.stderr
        assert len([url for url in requests if "robots" not in url]) == 7
        assert "the next is due in" in result.stdout
        assert "00:00:00 UTC" in result.stdout


def test_the_host_that_a_site_prefers_is_visited_and_the_other_is_not(tmp_path: Path) -> None:
    robots = {"/robots.txt": ""}
    pages = {"a.test": dict(SITE) | robots, "www.a.test": SITE}
    with pages_served(pages, tmp_path) as (settings, requests):
        port = settings.pop("port")
        pages["a.test"]["/robots.txt"] = f"User-agent: *\nDisallow: /1\nHost: www.a.test:{port}\n"
        result = scrapy("crawl", "web", "-a", f"seeds=http://a.test:{port}/", **settings)
        assert result.returncode == 0, result.stderr
        assert [url for url in requests if url.startswith("a.test")] == ["a.test/robots.txt"]
        assert len([url for url in requests if url.startswith("www.a.test/")]) == 31
        explanation = scrapy("why", f"http://a.test:{port}/", **settings).stdout
        assert "parked: its site prefers another host for it" in explanation
        assert f"www.a.test:{port}/" in explanation
        waiting = "SELECT count(*) FROM urls WHERE url LIKE '%//a.test%' AND kind = 0 AND state <> 2"
        assert rows(tmp_path / "crawl", waiting) == [(0,)]


def test_a_preferred_host_outside_the_scope_is_not_visited(tmp_path: Path) -> None:
    pages = {"a.test": dict(SITE) | {"/robots.txt": "User-agent: *\nHost: elsewhere.test\n"}}
    with pages_served(pages, tmp_path) as (settings, requests):
        port = settings.pop("port")
        assert scrapy("crawl", "web", "-a", f"seeds=http://a.test:{port}/", **settings).returncode == 0
        assert len([url for url in requests if "robots" not in url]) == 30
