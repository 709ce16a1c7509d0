"""Compare sitemaps, and the pages of whole sites, with other crawlers' tests."""

from __future__ import annotations

import base64
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import urljoin

from crawler.fetch.robots import RobotsRules
from crawler.parse.metadata.dates import seconds_of
from crawler.parse.sitemaps import Sitemap, SitemapEntry, parse_sitemap
from crawler.urls.canonical import canonicalize
from crawler.urls.hosts import host_of
from tests.conformance.scores import Score, score
from tests.conftest import SHARED

DATA = SHARED / "sitemap"
Results = Iterator[tuple[str, bool]]
Web = Mapping[str, dict[str, Any]]

_DECLARES = "a file with declarations of its own is refused whole"
_KNOWN = {
    "008-testPartialSitemapIndicesAllowed.xml": (1, "an entry that is cut does not count"),
    "004-testSitemapXXEWithDocTypeAllowed.xml": (1, _DECLARES),
    "09-test_xml_entity_expansion.xml": (1, _DECLARES),
}
# Paths that the other crawler tries besides those that robots.txt names.
_PLACES = ("sitemap.xml", "sitemap.xml.gz", "sitemap_index.xml", "sitemap-index.xml", "sitemap_index.xml.gz",
           "sitemap-index.xml.gz", ".sitemap.xml", "sitemap", "admin/config/search/xmlsitemap",
           "sitemap/sitemap-index.xml", "sitemap_news.xml", "sitemap-news.xml")  # fmt: skip
_CUTS = 40  # of each file


def scores() -> list[Score]:
    return [
        score("sitemaps: entries of files", 0.95, entries(), _KNOWN),
        score("sitemaps: facts of entries", 0.95, entry_facts()),
        score("sitemaps: the same files, damaged", 1.0, damaged()),
        score("sitemaps: pages of whole sites", 1.0, sites()),
    ]


def cases() -> Iterator[tuple[dict[str, Any], bytes]]:
    """Yield all files, with the entries that the other crawlers read in them."""
    for suite in ("crawler_commons", "scrapy"):
        for line in (DATA / suite / "cases.jsonl").read_text("utf-8").splitlines():
            case = json.loads(line)
            case["entries"] = [entry for entry in case["entries"] if entry.get("loc")]
            yield case, (DATA / suite / case["file"]).read_bytes()


def read(case: dict[str, Any], body: bytes) -> Sitemap:
    return parse_sitemap(body, case.get("url", "http://www.example.com/sitemap.xml"))


def entries() -> Results:
    """Yield agreement on each entry of either side; a strict parser accepts URLs of its own host only."""
    for case, body in cases():
        found = read(case, body)
        home = host_of(case["url"]) if case.get("strict") and not found.sitemaps else None
        ours = Counter(_shown(found.entries + found.sitemaps, home))
        theirs = Counter(
            (canonicalize(entry["loc"]), seconds_of(entry.get("lastmod") or "")) for entry in case["entries"]
        )
        yield from ((case["file"], True) for _ in (ours & theirs).elements())
        yield from ((case["file"], False) for _ in range(max((ours - theirs).total(), (theirs - ours).total())))


def _shown(found: Iterable[SitemapEntry], home: str | None) -> Iterator[tuple[str | None, float | None]]:
    for entry in found:
        url = canonicalize(entry.loc)
        if url and home in (None, host_of(url)):
            yield url, entry.lastmod


def entry_facts() -> Results:
    for case, body in cases():
        found = read(case, body).entries
        if len(found) != len(case["entries"]):
            continue
        for entry, theirs in zip(found, case["entries"], strict=True):
            yield case["file"], entry.changefreq == (theirs.get("changefreq") or "").lower()
            if theirs.get("priority") not in (None, 0.5):  # their default
                yield case["file"], math.isclose(entry.priority or 0.0, float(theirs["priority"]), abs_tol=1e-6)


def damaged() -> Results:
    """Yield whether files that are cut or garbled give a result, and no URL that the intact file does not have."""
    for case, body in cases():
        whole = {entry.loc for entry in _all(case, body)}
        for place in range(0, len(body), len(body) // _CUTS + 1):
            yield case["file"], {entry.loc for entry in _all(case, body[:place])} <= whole or body[:1] != b"<"
            yield case["file"], isinstance(_all(case, body[:place] + b"\0<&\xff]]>" + body[place:]), list)


def _all(case: dict[str, Any], body: bytes) -> list[SitemapEntry]:
    found = read(case, body)
    return found.entries + found.sitemaps


def sites() -> Results:
    for line in (DATA / "usp_sites.jsonl").read_text("utf-8").splitlines():
        case = json.loads(line)
        web = {answer["url"]: answer for answer in case["web"]}
        robots = _body_of(web, urljoin(case["home"], "/robots.txt"))
        named = [urljoin(case["home"], url) for url in RobotsRules.parse(robots or b"").sitemaps]
        tried = [urljoin(case["home"], "/" + place) for place in _PLACES]
        yield case["test"], _pages(web, [*named, *tried]) == {page["url"] for page in case["pages"]}


def _body_of(web: Web, url: str, hops: int = 5) -> bytes | None:
    answer = web.get(url)
    if answer is None or not hops:
        return None
    location = answer["headers"].get("Location")
    if location:
        return _body_of(web, urljoin(url, location), hops - 1)
    return base64.b64decode(answer["body_b64"]) if answer["status"] == 200 else None


def _pages(web: Web, urls: Iterable[str]) -> set[str]:
    """Return the pages of sitemaps; each sitemap is read once, so that circles end."""
    found: set[str] = set()
    seen: set[str] = set()
    waiting = list(urls)
    while waiting:
        url = waiting.pop(0)
        body = _body_of(web, url) if url not in seen else None
        seen.add(url)
        if body is not None:
            sitemap = parse_sitemap(body, url)
            waiting += [entry.loc for entry in sitemap.sitemaps]
            found.update(entry.loc for entry in sitemap.entries)
    return found
