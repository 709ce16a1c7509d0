"""Observe a simulated crawl from the servers' side: when visits came, and whether any came too early."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field

from crawler.frontier.politeness import Politeness
from crawler.items import Kind, Outcome, Visit, Visited
from crawler.simulation.web import SimulatedHost, SimulatedWeb
from crawler.urls.hosts import host_of

SLICES = 120  # time slices of the chart


@dataclass(slots=True)
class ObservedHost:
    """The visits that one host has seen."""

    visits: int = 0
    last_end: float = 0.0
    required: float = 0.0  # delay that is required after the last visit
    waited: float = 0.0  # sum of the gaps between visits
    allowed: float = 0.0  # sum of the required delays
    knows_rules: bool = False  # its robots.txt was fetched


@dataclass(slots=True)
class SimulatedSlice:
    """Counts of one time slice."""

    visits: int = 0
    bytes: int = 0
    active: int = 0  # hosts in memory, at most
    in_flight: int = 0  # at most


@dataclass
class PolitenessObserver:
    """Checks the gap before each visit against what the host requires, independently of the crawler's own clocks."""

    web: SimulatedWeb
    politeness: Politeness
    seconds: float  # simulated time at most
    hosts: dict[str, ObservedHost] = field(default_factory=dict)
    slices: list[SimulatedSlice] = field(default_factory=lambda: [SimulatedSlice() for _ in range(SLICES)])
    outcomes: Counter[str] = field(default_factory=Counter)
    pages: int = 0
    robots: int = 0
    early: int = 0
    closest: float = math.inf  # the smallest margin: gap before a visit less the required delay
    last: float = 0.0
    _at: int = 0  # the slice of the latest visit

    def saw(self, visit: Visit, started: float, visited: Visited, active: int, in_flight: int) -> None:
        """Record a visit and its result."""
        name = host_of(visit.url)
        observed = self.hosts.setdefault(name, ObservedHost())
        fetched = visited.fetched
        assert fetched is not None
        if observed.visits:
            margin = started - observed.last_end - observed.required
            self.early += margin < -1e-6
            self.closest = min(self.closest, margin)
            observed.waited += started - observed.last_end
            observed.allowed += observed.required
        observed.visits += 1
        observed.knows_rules = observed.knows_rules or (
            visit.kind is Kind.ROBOTS and visited.outcome is Outcome.FETCHED
        )
        observed.last_end = fetched.ended
        observed.required = self._rest(name, self.web.hosts[name], observed, visited)
        self._count(visit, started, visited, active, in_flight)

    def _rest(self, name: str, host: SimulatedHost, observed: ObservedHost, visited: Visited) -> float:
        fetched, politeness = visited.fetched, self.politeness
        assert fetched is not None
        if not fetched.was_sent:
            return 0.0
        slowness = min(politeness.latency_factor * (fetched.ended - fetched.started), politeness.latency_cap)
        crawl_delay = min(host.crawl_delay or 0.0, 300.0) if observed.knows_rules else 0.0
        return max(politeness.floor_of(name), slowness, crawl_delay, visited.retry_after or 0.0)

    def _count(self, visit: Visit, started: float, visited: Visited, active: int, in_flight: int) -> None:
        fetched = visited.fetched
        assert fetched is not None
        is_page = visit.kind is Kind.PAGE
        self.pages += is_page and visited.outcome is Outcome.FETCHED
        self.robots += not is_page
        self.outcomes[visited.reason.name.lower()] += 1
        self.last = max(self.last, fetched.ended - self.web.start)
        number = min(int((started - self.web.start) / self.seconds * SLICES), SLICES - 1)
        for between in range(self._at + 1, number):  # slices without visits
            self.slices[between].active = self.slices[self._at].active
        self._at = number
        place = self.slices[number]
        place.visits += 1
        place.bytes += len(fetched.body)
        place.active = max(place.active, active)
        place.in_flight = max(place.in_flight, in_flight)

    @property
    def visits(self) -> int:
        return sum(self.outcomes.values())

    def stretches(self) -> list[float]:
        """Return for each host the ratio of its gaps to the required delays, in ascending order."""
        return sorted(observed.waited / observed.allowed for observed in self.hosts.values() if observed.allowed > 0)
