"""Gauges of a crawl process at one moment. What it has done so far is counted in `monitor.record`."""

from __future__ import annotations

from dataclasses import dataclass, field

from crawler.frontier.census import Census


@dataclass(frozen=True, slots=True, kw_only=True)
class Vitals:
    """Values at one moment, read from memory without a query to the store."""

    hosts: Census = field(default_factory=Census)
    in_flight: int = 0  # requests in flight
    connections: int = 0  # the largest number of them
    bytes_in_flight: int = 0  # of responses that are not complete
    pages_waiting: int = 0  # pages that wait for a content process
    uncommitted: int = 0  # visits that have ended and are not committed
    allowed: float = 0.0  # visits a second that the delays of the active hosts allow; 0 = not known yet
    workers: int = 1  # processes that share the crawl
    pages_of_others: int = 0  # fetched by the other workers
    is_network_down: bool = False
