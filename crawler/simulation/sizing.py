"""How large must a crawler be? Connections and hosts that a network connection can keep busy."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from crawler.frontier.politeness import HostClock, Politeness
from crawler.items import CrawlLimits

_DAY = 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizing:
    """The questions; the properties are the answers.

    >>> textbook = Sizing(bandwidth=10_000_000, page_bytes=10_000, latency=0.5, delay=10.0)
    >>> textbook.rate, textbook.connections, textbook.hosts
    (1000.0, 500, 10000)
    """

    bandwidth: float  # bytes a second
    page_bytes: float
    latency: float  # seconds that a page takes
    delay: float  # seconds between two visits of a host

    @property
    def rate(self) -> float:
        """Pages a second that fill the bandwidth."""
        return self.bandwidth / self.page_bytes

    @property
    def connections(self) -> int:
        """How many pages are under way at a time at this rate."""
        return math.ceil(self.rate * self.latency)

    @property
    def hosts(self) -> int:
        """How many hosts it takes, if each gives a page every `delay` seconds."""
        return math.ceil(self.rate * self.delay)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """What a crawl with given settings makes of it."""

    rest: float  # seconds that a host rests after each answer
    hosts: int  # that are needed with this rest
    connection_rate: float  # pages a second that the connections carry
    host_rate: float  # pages a second that the hosts in memory give
    rate: float  # what is left of all that, and of the bandwidth
    limited_by: str


def fit(sizing: Sizing, politeness: Politeness, connections: int, hosts: int) -> Fit:
    """Say how fast a crawl with this politeness, and so many connections and hosts in memory, can be."""
    clock = HostClock(latency=sizing.latency, crawl_limits=CrawlLimits(crawl_delay=sizing.delay))
    rest = politeness.rest("host.example", clock)
    cycle = sizing.latency + rest
    connection_rate = connections / sizing.latency if sizing.latency else math.inf
    host_rate = hosts / cycle if cycle else math.inf
    rates = {
        "the bandwidth": sizing.rate,
        f"CONCURRENT_REQUESTS={connections:,}": connection_rate,
        f"FRONTIER_MOST_HOSTS={hosts:,}": host_rate,
    }
    limited_by = min(rates, key=lambda name: rates[name])
    return Fit(
        rest=rest,
        hosts=math.ceil(sizing.rate * cycle),
        connection_rate=connection_rate,
        host_rate=host_rate,
        rate=rates[limited_by],
        limited_by=limited_by,
    )


def sizing_lines(sizing: Sizing, ours: Fit) -> Iterator[str]:
    rate = sizing.rate
    yield (
        f"{sizing.bandwidth / 1e6:g} MB a second, {sizing.page_bytes / 1e3:g} kB a page: {rate:,.6g} pages a second, "
        f"{rate * _DAY / 1e6:,.4g} million a day"
    )
    yield f"  {sizing.connections:,} connections: a page takes {sizing.latency:g} s, so that many are under way at once"
    yield f"  {sizing.hosts:,} hosts: each gives a page every {sizing.delay:g} s"
    yield (
        f"  {ours.hosts:,} hosts with these settings: each rests {ours.rest:g} s after each answer (POLITENESS_*, "
        "Crawl-delay)"
    )
    yield f"  {ours.rate:,.6g} pages a second with these settings, limited by {ours.limited_by}"


def sizing_data(sizing: Sizing, ours: Fit) -> dict[str, object]:
    """Return questions and answers as JSON has them."""
    return {
        "bandwidth": sizing.bandwidth,
        "page_bytes": sizing.page_bytes,
        "latency": sizing.latency,
        "delay": sizing.delay,
        "pages_per_second": sizing.rate,
        "connections": sizing.connections,
        "hosts": sizing.hosts,
        "with_these_settings": {
            "rest": ours.rest,
            "hosts": ours.hosts,
            "pages_per_second": ours.rate,
            "limited_by": ours.limited_by,
        },
    }
