"""Conversion of rows into values and back: host clocks, visits, robots.txt files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from crawler.frontier.politeness import HostClock
from crawler.items import (
    NO_VALIDATORS,
    CrawlLimits,
    DailyWindow,
    Key,
    Kind,
    Reason,
    RequestRate,
    RobotsFile,
    Validators,
    Visit,
)

CLOCK_COLUMNS = "next_visit, held_until, crawl_delay, request_rate, visit_time, backoff, latency, last_end, last_bytes"
VISIT_COLUMNS = f"""u.host, u.rest, u.url, u.kind, u.depth, u.level, u.hops, u.tries, u.crashes, v.url, u.visited,
iif(u.reason = {Reason.HEAD_SEEN:d}, max(u.status, 1), 0), coalesce(t.missing, 0), t.interval, t.etag,
t.last_modified, t.length, t.reused"""
RULES_COLUMNS = """host, origin, status, body, fetched, expires, held_until, failures, location, hops, preferred,
crawl_delay, request_rate, visit_time"""


def clock_of(row: Sequence[Any]) -> HostClock:
    """Return the clock of a host from `CLOCK_COLUMNS`."""
    return HostClock(
        next_visit=row[0],
        held_until=row[1],
        crawl_limits=_crawl_limits_of(row[2:5]),
        backoff=row[5],
        latency=row[6],
        last_end=row[7],
        last_bytes=row[8],
    )


def clock_values(clock: HostClock) -> tuple[float, float, float | None, str, str, int, float, float, int]:
    """Return the values of `CLOCK_COLUMNS`."""
    return (
        clock.next_visit,
        clock.held_until,
        *crawl_limits_values(clock.crawl_limits),
        clock.backoff,
        clock.latency,
        clock.last_end,
        clock.last_bytes,
    )


def _crawl_limits_of(row: Sequence[Any]) -> CrawlLimits:
    delay, rate, visit_time = row
    return CrawlLimits(
        crawl_delay=delay,
        request_rate=_rate_of(*map(int, rate.split())) if rate else None,
        visit_time=DailyWindow(*map(int, visit_time.split())) if visit_time else None,
    )


def _rate_of(requests: int, seconds: int, *window: int) -> RequestRate:
    return RequestRate(requests, seconds, DailyWindow(*window) if window else None)


def crawl_limits_values(crawl_limits: CrawlLimits) -> tuple[float | None, str, str]:
    """Return Crawl-delay, Request-rate and Visit-time; the last two as numbers with spaces between, empty if unset."""
    rate = crawl_limits.request_rate
    numbers = (rate.requests, rate.seconds, *(rate.window or ())) if rate is not None else ()
    return crawl_limits.crawl_delay, " ".join(map(str, numbers)), " ".join(map(str, crawl_limits.visit_time or ()))


def visit_of(row: Sequence[Any], epoch: int) -> Visit:
    """Return the visit of a URL from `VISIT_COLUMNS`."""
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
        visited=row[10],
        head_status=row[11],
        missing=row[12],
        interval=row[13],
        validators=Validators(*row[14:18]) if row[16] is not None else NO_VALIDATORS,
        epoch=epoch,
        host_key=row[0],
    )


def rules_of(row: Sequence[Any]) -> RobotsFile:
    """Return a robots.txt file from `RULES_COLUMNS`."""
    return RobotsFile(
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
        preferred=row[10],
        crawl_limits=_crawl_limits_of(row[11:14]),
    )
