"""Describe one host for `scrapy status --host`: its counts, its politeness delay, and how reliable its hints are."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict

import msgspec

from crawler.clock import steady_clock
from crawler.frontier.politeness import CRAWL_DELAY_LIMIT, Politeness
from crawler.frontier.trust import Source, Trust
from crawler.monitor.text import span_of
from crawler.stores.contract.store import Store
from crawler.stores.contract.urls import HostRow
from crawler.urls.canonical import resolve
from crawler.urls.hosts import host_of
from crawler.urls.keys import host_key


def host_key_of(name: str) -> int:
    """Return the key of a host that a user has named on the command line."""
    return host_key(host_of(resolve(f"http://{name.strip()}/") or f"http://{name}/"))


def unknown_host_message(name: str) -> str:
    return f"No URL of {name} is known to this crawl. Hosts are named without scheme and port: www.example.com"


def print_host(store: Store, politeness: Politeness, name: str, *, as_json: bool) -> int:
    """Print what the store knows of a host under the politeness of its crawl, and return the exit code."""
    now, host = steady_clock()(), host_key_of(name)
    row, trust = store.urls.find_host(host, now), store.urls.trust(host)
    if row is None:
        print(unknown_host_message(name))
        return 1
    if as_json:
        by_source = {source.name.lower(): counts._asdict() for source, counts in sorted(trust.items())}
        clock, parts = row.clock, politeness.rest_parts(row.name, row.clock)
        rest = {"rest": politeness.rest(row.name, clock), "rest_parts": parts, "clock": msgspec.to_builtins(clock)}
        print(json.dumps(asdict(row) | rest | {"trust": by_source}))
    else:
        print("\n  ".join([row.name, *_host_lines(row, politeness, now), *trust_lines(trust)]))
    return 0


def _host_lines(row: HostRow, politeness: Politeness, now: float) -> Iterator[str]:
    clock = row.clock
    yield (
        f"{row.known} URLs known; {row.visits} visits, {row.pages} pages, {row.failures} failures, "
        f"{row.bytes / 1e6:.1f} MB"
    )
    parts = politeness.rest_parts(row.name, clock)
    longest = max(parts, key=lambda part: parts[part])
    trouble = ", doubled for each recent trouble" if clock.backoff else ""
    yield (
        f"waits {span_of(politeness.rest(row.name, clock))} after each response before the next request ({longest}"
        f"{trouble}); the last response took {span_of(clock.latency)}"
    )
    asked = clock.crawl_limits.crawl_delay or 0.0
    if asked > CRAWL_DELAY_LIMIT:
        yield f"asks for a Crawl-delay of {span_of(asked)}, of which {span_of(CRAWL_DELAY_LIMIT)} are kept"
    if clock.held_until > now:
        yield f"is not visited for another {span_of(clock.held_until - now)}"
    if row.soft404:
        yield "answers with status 200 for pages that do not exist (soft 404): such pages are recognised by their text"


def trust_lines(trust: Mapping[Source, Trust]) -> Iterator[str]:
    """Say how often each kind of hint of a host (lastmod, changefreq, validators …) was right."""
    for source, counts in sorted(trust.items()):
        claims = [
            f"{right} of {right + wrong} times right that a page {what}{'' if believed else ', not believed any more'}"
            for what, right, wrong, believed in (
                ("has changed", counts.changed_right, counts.changed_wrong, counts.believes_change),
                ("is the same", counts.same_right, counts.same_wrong, counts.believes_same),
            )
            if right + wrong
        ]
        yield f"trust in its {source.meaning}: {'; '.join(claims)}"
