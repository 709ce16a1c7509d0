"""Sitemaps are read as other crawlers read them; where not, the reason is given."""

import base64
import json
from pathlib import Path
from urllib.parse import urljoin

import pytest

from crawler.fetch.robots import RobotsRules
from crawler.parse.dates import seconds_of
from crawler.parse.sitemaps import parse_sitemap
from crawler.urls.canonical import canonicalize
from crawler.urls.hosts import host_of

pytestmark = pytest.mark.needs_shared
DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "sitemap"

# File of the other suite → why we differ.
DIFFERENCES = {
    "008-testPartialSitemapIndicesAllowed.xml": "an entry that is cut does not count",
    "033-testSitemapXXE.xml": "a file with a document type is read, its entities are not",
}


def cases(suite):
    return [json.loads(line) for line in (DATA / suite / "cases.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("suite", ["scrapy", "crawler_commons"])
def test_entries_of_other_suites(suite):
    differing = set()
    for case in cases(suite):
        sitemap = read_sitemap((DATA / suite / case["file"]).read_bytes())
        home = host_of(case["url"]) if case.get("strict") and "url" in case else None
        found = [
            (url, entry.modified)
            for entry in sitemap.entries
            if (url := canonicalize(entry.url)) and (home is None or host_of(url) == home or case["index"])
        ]
        if found != [
            (canonicalize(entry["loc"]), seconds_of(entry["lastmod"] or "") if "lastmod" in entry else None)
            for entry in case["entries"]
            if entry.get("loc")
        ]:
            differing.add(case["file"])
    assert differing == DIFFERENCES.keys() & {case["file"] for case in cases(suite)}


def test_what_is_said_of_the_urls():
    for suite in ("scrapy", "crawler_commons"):
        for case in cases(suite):
            entries = read_sitemap((DATA / suite / case["file"]).read_bytes()).entries
            said = [entry for entry in case["entries"] if entry.get("loc")]
            if case["file"] in DIFFERENCES or len(said) != len(entries):
                continue
            for entry, expected in zip(entries, said, strict=True):
                assert entry.frequency == (expected.get("changefreq") or "").lower()
                if expected.get("priority") not in (None, 0.5):  # which theirs says of all
                    assert entry.priority == pytest.approx(float(expected["priority"]))


# What the other crawler tries beside what robots.txt names.
PLACES = ("sitemap.xml", "sitemap.xml.gz", "sitemap_index.xml", "sitemap-index.xml", "sitemap_index.xml.gz",
          "sitemap-index.xml.gz", ".sitemap.xml", "sitemap", "admin/config/search/xmlsitemap",
          "sitemap/sitemap-index.xml", "sitemap_news.xml", "sitemap-news.xml")  # fmt: skip


@pytest.mark.parametrize(
    "site", (DATA / "usp_sites.jsonl").read_text(encoding="utf-8").splitlines() if DATA.exists() else [],
    ids=lambda line: json.loads(line)["test"],
)  # fmt: skip
def test_the_pages_of_whole_sites(site):
    case = json.loads(site)
    web = {answer["url"]: answer for answer in case["web"]}
    robots = body_of(web, urljoin(case["home"], "/robots.txt"))
    named = [urljoin(case["home"], url) for url in RobotsRules.parse(robots or b"").sitemaps]
    assert pages(web, [*named, *(urljoin(case["home"], "/" + place) for place in PLACES)]) == {
        page["url"] for page in case["pages"]
    }


def body_of(web, url, hops=5):
    answer = web.get(url)
    if answer is None or not hops:
        return None
    location = answer["headers"].get("Location")
    if location:
        return body_of(web, urljoin(url, location), hops - 1)
    return base64.b64decode(answer["body_b64"]) if answer["status"] == 200 else None


def pages(web, urls):
    """Each sitemap once, so that none leads to itself."""
    found, seen, waiting = set(), set(), list(urls)
    while waiting:
        url = waiting.pop(0)
        body = body_of(web, url) if url not in seen else None
        seen.add(url)
        if body is not None:
            sitemap = read_sitemap(body)
            links = [urljoin(url, entry.url) for entry in sitemap.entries]
            if sitemap.form is Form.INDEX:
                waiting += links
            else:
                found.update(links)
    return found
