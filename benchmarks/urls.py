"""What does it cost to canonicalize the links of a page, with our code and with the tools of stock Scrapy?

From the href attributes of a page to the keys by which known URLs are found. Every round has its own pages and links,
on a few hosts that recur, as in a crawl; all take turns, and CPU time is counted.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import json
import time
from collections.abc import Callable, Iterable
from functools import partial
from random import Random
from statistics import median
from typing import NamedTuple
from urllib.parse import urljoin

from scrapy import Request
from scrapy.utils.request import fingerprint
from w3lib.url import canonicalize_url

from benchmarks.report import Verdict
from benchmarks.web import LINKS, page_path
from crawler import settings
from crawler.options import Options
from crawler.urls.canonical import UrlPolicy, canonicalize
from crawler.urls.keys import keys_of

ALLOWED = 0.25  # ms a page
REQUIRED = 10.0  # times as fast as Scrapy
HOSTS = 200  # of each top-level domain

_MIX = (  # number of links of this form on a page
    (11, "{path}"),
    (2, "{path}#part-{number}"),
    (5, "{name}"),
    (2, "../{section}/{name}"),
    (1, "./{name}#top"),
    (1, "?page={number}"),
    (6, "https://{host}{path}"),
    (2, "https://{host}{path}?sort=new&page={number}"),
    (1, "//{host}{path}"),
    (1, "/find?q={section}+{number}&lang=en"),
    (2, "{path}?utm_source=feed&utm_medium=link&id={number}"),
    (5, "https://{other}{path}"),
    (2, "http://WWW.{other}/?id={number}&from={section}#comments"),
    (1, "https://{other}{path}?utm_campaign=spring-{number}"),
    (1, "/tags/{section}%20{number}"),
    (1, "/wiki/Zürich-{number}"),
)


class Page(NamedTuple):
    """A page with its links."""

    base: str
    hrefs: list[str]  # as they stand in the markup


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pages", type=int, default=50, help="of a round")
    parser.add_argument("--rounds", type=int, default=21)


def main(options: argparse.Namespace) -> int:
    chance = Random(44)
    sides = {"ours": _ours, "bare": _bare_peer, "scrapy": _scrapy_peer}
    costs: dict[str, list[float]] = {name: [] for name in [*sides, "scope"]}
    for number in range(options.rounds):
        pages = [_page(chance) for _ in range(options.pages)]
        names = list(sides)
        for name in names[number % 3 :] + names[: number % 3]:
            costs[name].append(_cost([partial(sides[name], page) for page in pages]))
        costs["scope"].append(_cost(map(_scope, pages)))
    print(f"Pages of {LINKS} links; {options.rounds} rounds of {options.pages} pages, all different.\n")
    print(_table(costs))
    verdicts = _verdicts(costs)
    print("", *verdicts, sep="\n")
    return 0 if all(verdict.holds for verdict in verdicts) else 1


_POLICY = UrlPolicy()
_URLS = Options.of({**vars(settings), "CONTACT": "me@a.test"}).urls


def _ours(page: Page) -> None:
    """Canonicalize as a content process does."""
    canonicalize = _POLICY.canonicalize
    found = [canonicalize(href, page.base) for href in page.hrefs]
    keys_of([url for url in found if url is not None])


def _scrapy_peer(page: Page) -> list[bytes]:
    """Make Scrapy's fingerprints; `fingerprint` calls canonicalize_url itself."""
    return [fingerprint(Request(urljoin(page.base, href))) for href in page.hrefs]


def _bare_peer(page: Page) -> list[bytes]:
    """Make the same fingerprints without a Request for each."""
    return [_digest(canonicalize_url(urljoin(page.base, href))) for href in page.hrefs]


def _digest(url: str) -> bytes:
    hashed = {"method": "GET", "url": url, "body": "", "headers": {}}
    return hashlib.sha1(json.dumps(hashed, sort_keys=True).encode()).digest()


def _scope(page: Page) -> Callable[[], object]:
    """Return a function that checks the links of a page against a new scope, whose caches are empty."""
    rejection = _URLS.new_scope([page.base]).rejection
    found = [canonicalize(href, page.base) for href in page.hrefs]
    urls = [url for url in found if url is not None]
    return lambda: [rejection(url) for url in urls]


def _cost(works: Iterable[Callable[[], object]]) -> float:
    """Return the mean CPU-milliseconds of these functions."""
    works = list(works)
    gc.collect()  # garbage of other code is not counted
    started = time.process_time()
    for work in works:
        work()
    return (time.process_time() - started) / len(works) * 1000


def _page(chance: Random) -> Page:
    host, *others = (f"{_word(chance)}.{top}" for top in ("example", "test", "co.uk", "org"))
    words = {"host": host}
    hrefs = []
    for count, pattern in _MIX:
        for _ in range(count):
            path = page_path(chance.randrange(10**6))
            _, section, name = path.split("/")
            words |= {"path": path, "section": section, "name": name, "other": chance.choice(others)}
            hrefs.append(pattern.format(**words, number=chance.randrange(1000)))
    chance.shuffle(hrefs)
    page = Page(f"https://{host}{page_path(chance.randrange(10**6))}", hrefs)
    assert len(hrefs) == LINKS
    assert _bare_peer(page) == _scrapy_peer(page)
    return page


def _word(chance: Random) -> str:
    return f"site-{chance.randrange(HOSTS)}"


def _table(costs: dict[str, list[float]]) -> str:
    rows = (
        ("ours", "ours: canonicalize, keys_of"),
        ("bare", "(a) urljoin, canonicalize_url, SHA-1"),
        ("scrapy", "(b) urljoin, scrapy.Request, fingerprint"),
        ("scope", "besides: Scope.rejection, a new scope"),
    )
    ours = median(costs["ours"])
    lines = [f"{'Medians':44}{'ms/page':>9}{'least':>8}{'µs/link':>9}{'× ours':>8}"]
    for name, title in rows:
        cost = median(costs[name])
        ratio = "" if name == "scope" else f"{cost / ours:8.1f}"
        lines.append(f"{title:44}{cost:9.3f}{min(costs[name]):8.3f}{cost / LINKS * 1000:9.2f}{ratio}")
    return "\n".join(lines)


def _verdicts(costs: dict[str, list[float]]) -> list[Verdict]:
    ours = median(costs["ours"])
    verdicts = [Verdict(what=f"{ours:.3f} ms for {LINKS} links, at most {ALLOWED}", holds=ours <= ALLOWED)]
    ratio = median(peer / own for peer, own in zip(costs["scrapy"], costs["ours"], strict=True))
    verdicts.append(Verdict(what=f"{ratio:.1f} × as fast as (b), at least {REQUIRED:g} ×", holds=ratio >= REQUIRED))
    return verdicts
