"""One host, for people and for programs: what it wants, what it gave, what it said and how far that was true."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict

from crawler.clock import steady_clock
from crawler.frontier.politeness import Politeness
from crawler.frontier.trust import Source, Trust
from crawler.monitor.text import span_of
from crawler.stores.contract.store import Store
from crawler.stores.contract.urls import HostRow
from crawler.urls.canonical import resolve
from crawler.urls.hosts import host_of
from crawler.urls.keys import host_key


def host_key_of(name: str) -> int:
    """The fingerprint of a host that somebody names."""
    return host_key(host_of(resolve(f"http://{name.strip()}/") or f"http://{name}/"))


def unknown_host_message(name: str) -> str:
    return f"No URL of {name} is known to this crawl. Hosts are named without scheme and port: www.example.com"


def print_host(store: Store, politeness: Politeness, name: str, *, as_json: bool) -> int:
    """Print what is known of a host; the exit code."""
    now, host = steady_clock()(), host_key_of(name)
    row, trust = store.urls.find_host(host, now), store.urls.trust(host)
    if row is None:
        print(unknown_host_message(name))
        return 1
    if as_json:
        told = {witness.name.lower(): told._asdict() for witness, told in sorted(trust.items())}
        print(json.dumps(asdict(row) | {"trust": told}))
    else:
        print("\n  ".join([row.name, *_lines(row, politeness, now), *trust_lines(trust)]))
    return 0


def _lines(row: HostRow, politeness: Politeness, now: float) -> Iterator[str]:
    clock = row.clock
    yield f"{row.known} URLs known; {row.visits} visits, {row.pages} pages, {row.failures} failures, {row.bytes / 1e6:.1f} MB"
    yield f"rests {span_of(politeness.rest(row.name, clock))} after each answer; the last took {span_of(clock.latency)}"
    if clock.held_until > now:
        yield f"is left alone for another {span_of(clock.held_until - now)}"
    if row.soft404:
        yield "shows a page, with status 200, for what it does not have: such pages are told apart by their words"


def trust_lines(trust: Mapping[Source, Trust]) -> Iterator[str]:
    """How often a host was right, in words."""
    for witness, told in sorted(trust.items()):
        words = [
            f"{right} of {right + wrong} times right that a page {what}{'' if believed else ', not believed any more'}"
            for what, right, wrong, believed in (
                ("has changed", told.changed_right, told.changed_wrong, told.believes_change),
                ("is the same", told.same_right, told.same_wrong, told.believes_same),
            )
            if right + wrong
        ]
        yield f"trust in its {witness.meaning}: {'; '.join(words)}"
