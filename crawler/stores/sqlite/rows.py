"""Rows into values and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from crawler.frontier.politeness import HostClock
from crawler.items import Key, Kind, OriginRules, Visit

CLOCK_COLUMNS = "next_visit, held_until, crawl_delay, backoff, latency, last_end"
VISIT_COLUMNS = "u.host, u.rest, u.url, u.kind, u.depth, u.level, u.hops, u.tries, u.crashes, v.url"
RULES_COLUMNS = "host, origin, status, body, fetched, expires, held_until, failures, location, hops, crawl_delay"


def clock_of(row: Sequence[Any]) -> HostClock:
    return HostClock(
        next_visit=row[0], held_until=row[1], crawl_delay=row[2], backoff=row[3], latency=row[4], last_end=row[5]
    )


def clock_values(clock: HostClock) -> tuple[float, float, float | None, int, float, float]:
    return (clock.next_visit, clock.held_until, clock.crawl_delay, clock.backoff, clock.latency, clock.last_end)


def visit_of(row: Sequence[Any], epoch: int) -> Visit:
    return Visit(
        key=Key(row[0], row[1]),
        url=row[2],
        kind=Kind(row[3]),
        depth=row[4],
        level=row[5],
        hops=row[6],
        tries=row[7],
        crashes=row[8],
        via=row[9],
        epoch=epoch,
        asked=row[0],
    )


def rules_of(row: Sequence[Any]) -> OriginRules:
    return OriginRules(
        host=row[0],
        origin=row[1],
        status=row[2],
        body=row[3],
        fetched=row[4],
        expires=row[5],
        held_until=row[6],
        failures=row[7],
        location=row[8],
        hops=row[9],
        crawl_delay=row[10],
    )
