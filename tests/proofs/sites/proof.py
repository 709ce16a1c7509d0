"""Crawls small sites with robots.txt rules, validators and binaries, and checks promises against the server's log."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.crawl.runner import make_due, scrapy
from tests.proofs.sites.web import Served, Site, file, page, rules, served
from tests.webgraph.answers import Answer
from tests.webgraph.log import Entry

LIFETIME = 2.0  # seconds for which a robots.txt is cached here
SLACK = 10.0  # seconds that a busy machine may take to notice that it has expired
MOST_BYTES_AGAIN = 0.02  # share of the bytes of the first crawl that revisits of unchanged pages may cost


class Finding(NamedTuple):
    """Whether one promise holds, by the log."""

    promise: str
    holds: bool
    figures: str


def prove(directory: Path, pages: int) -> Iterator[Finding]:
    """Check all promises, each on a web of its own with about so many pages."""
    for number, judge in enumerate(
        (_robots_unreachable, _robots_changed, _robots_disallow, _revisit_unchanged, _head_policies)
    ):
        place = directory / str(number)
        place.mkdir()
        yield from judge(place, pages)


def crawl(web: Served, directory: Path, **settings: object) -> None:
    """Crawl all hosts of the web; raises SystemExit if the crawl failed."""
    hosts = web.hosts_file.read_text().split()[1::2]
    seeds = directory / "seeds.txt"
    seeds.write_text("".join(f"http://{host}:{web.port}/\n" for host in hosts))
    given: dict[str, object] = {
        "CRAWL_DIR": directory / "crawl",
        "OWN_HOSTS": "*.test",
        "INTRANET_HOSTS": "*.test",
        "INTRANET_NETWORKS": "127.0.0.0/8",
        "DNS_HOSTS": web.hosts_file,
        "POLITENESS_MIN_DELAY": 0.01,
        "POLITENESS_LATENCY_FACTOR": 0,
        "RETRY_DELAY": 0.2,
        "ROBOTS_RETRY_DELAY": 1,
        "ROBOTS_MIN_LIFETIME": LIFETIME,
        "CRAWL_HORIZON": 3,
        "LOG_LEVEL": "WARNING",
    }
    result = scrapy("crawl", "web", "-a", f"seeds={seeds}", timeout=600, **given | settings)
    if result.returncode:
        raise SystemExit(result.stderr)


def _pages_of(log: list[Entry], host: str) -> list[Entry]:
    return [entry for entry in log if entry.host == host and entry.target != "/robots.txt"]


def _linked_pages(count: int, *, etags: bool = False) -> dict[str, Answer]:
    """Return a first page and the pages to which it links."""
    paths = [f"/{number}.html" for number in range(count)]
    tags = (f'"{number}"' if etags else "" for number in range(count + 1))
    first = page(paths, 0, etag=next(tags))
    return {"/": first} | {
        path: page(["/"], number, etag=tag) for number, (path, tag) in enumerate(zip(paths, tags, strict=True), 1)
    }


def _robots_unreachable(directory: Path, pages: int) -> Iterator[Finding]:
    busy = Site(_linked_pages(10), Answer(status=503, headers=(("Retry-After", "1"),)))
    with served({"busy.test": busy, "good.test": Site(_linked_pages(pages // 10))}, directory) as web:
        crawl(web, directory, CRAWL_MAX_SECONDS=8)
        log = web.log()
    pages_fetched, robots = len(_pages_of(log, "busy.test")), len(log) - len(_pages_of(log, "busy.test"))
    yield Finding(
        "no page of a host whose robots.txt is unreachable (503) is requested",
        pages_fetched == 0
        and any(entry.host == "busy.test" for entry in log)
        and len(_pages_of(log, "good.test")) > 10,
        f"{pages_fetched} pages; {robots} other requests",
    )


def _robots_changed(directory: Path, pages: int) -> Iterator[Finding]:
    site = Site(_linked_pages(pages), rules("User-agent: *\nAllow: /", "max-age=1"), flips_after=pages // 10)
    with served({"flip.test": site}, directory) as web:
        crawl(web, directory, POLITENESS_MIN_DELAY=0.05, CRAWL_MAX_SECONDS=60)
        log = web.log()
    assert site.flipped is not None, "the crawl has ended before the site could change its mind"
    reread = min(entry.t1 for entry in log if entry.target == "/robots.txt" and entry.t0 > site.flipped)
    late = [entry for entry in _pages_of(log, "flip.test") if entry.t0 > reread]
    yield Finding(
        f"a host that forbids everything in mid-crawl is left when its robots.txt, cached for {LIFETIME:.0f} s, is "
        "fetched again",
        not late and reread - site.flipped <= LIFETIME + SLACK,
        f"fetched again {reread - site.flipped:.1f} s after the change; "
        f"{len(late)} of {len(log)} requests after that were for pages",
    )


def _robots_disallow(directory: Path, pages: int) -> Iterator[Finding]:
    open_paths = [f"/open/{number}.html" for number in range(pages // 20)]
    closed = [f"/private/{number}.html" for number in range(pages // 20)] + ["/open/secret?id=1", "/a%20b/c"]
    text = "User-agent: *\nDisallow: /private/\nDisallow: /*secret\nDisallow: /a%20b\nCrawl-delay: 0.02"
    site = Site({"/": page(open_paths + closed, 0)} | {path: page(closed, 1) for path in open_paths}, rules(text))
    with served({"walls.test": site}, directory) as web:
        crawl(web, directory)
        log = web.log()
    broken = [entry.target for entry in log if entry.target in closed]
    fetched = {entry.target for entry in log} & set(open_paths)
    yield Finding(
        "URLs that robots.txt forbids are never requested",
        not broken and len(fetched) == len(open_paths),
        f"{len(broken)} of {len(closed)} forbidden URLs requested; {len(fetched)} others fetched",
    )


def _revisit_unchanged(directory: Path, pages: int) -> Iterator[Finding]:
    hosts = {f"h{number}.test": Site(_linked_pages(pages // 10, etags=True)) for number in range(10)}
    with served(hosts, directory) as web:
        crawl(web, directory, SITEMAPS=False, PROBE_AFTER=0)
        first = sum(entry.bytes for entry in web.log())
        before = len(web.log())
        make_due(directory / "crawl")
        crawl(web, directory, SITEMAPS=False, PROBE_AFTER=0)
        again = web.log()[before:]
    count, cost = len(_without_robots(again)), sum(entry.bytes for entry in again)
    yield Finding(
        f"revisiting {count:,} unchanged pages costs at most {MOST_BYTES_AGAIN:.0%} of the first crawl's bytes",
        count == sum(len(site.pages) for site in hosts.values()) and cost <= MOST_BYTES_AGAIN * first,
        f"{cost:,} of {first:,} bytes = {cost / first:.2%}",
    )


def _without_robots(log: list[Entry]) -> list[Entry]:
    return [entry for entry in log if entry.target != "/robots.txt"]


def _head_policies(directory: Path, pages: int) -> Iterator[Finding]:
    """Compare HEAD_POLICY on a site with 30 % large binaries: among pages, and under an unknown extension."""
    count = pages // 5
    texts = [f"/text/{number}.html" for number in range(count * 6 // 10)] + [
        f"/files/{number}" for number in range(count // 10)
    ]
    files = [f"/files/big{number}" for number in range(count * 2 // 10)] + [
        f"/{number}.dat" for number in range(count // 10)
    ]
    contents = {"/": page(texts + files, 0)} | {path: page([], number) for number, path in enumerate(texts)}
    contents |= dict.fromkeys(files, file())
    requests: dict[str, int] = {}
    received: dict[str, int] = {}
    whole = True
    for policy in ("auto", "always", "never"):
        place = directory / policy
        place.mkdir()
        with served({"mixed.test": Site(contents)}, place) as web:
            crawl(web, place, HEAD_POLICY=policy, SITEMAPS=False, PROBE_AFTER=0)
            log = web.log()
        requests[policy], received[policy] = len(log), sum(entry.bytes for entry in log)
        whole = whole and {entry.target for entry in log if entry.method == "GET"} >= {"/", *texts}
    figures = json.dumps({policy: [requests[policy], received[policy]] for policy in requests})
    share = len(files) / len(contents)
    yield Finding(
        f"on a web with {share:.0%} large binaries `auto` sends fewer requests than `always` and receives fewer bytes "
        "than `never`",
        whole and requests["auto"] < requests["always"] and received["auto"] < received["never"],
        f"requests and bytes: {figures}",
    )
