"""What the servers of a made-up web see: who came when, and whether it was too early."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field

from crawler.frontier.politeness import Politeness
from crawler.items import Kind, Outcome, Visit, Visited
from crawler.simulation.web import SimulatedHost, SimulatedWeb
from crawler.urls.hosts import host_of

SLICES = 120  # of the time, for the picture


@dataclass(slots=True)
class ObservedHost:
    """One host."""

    visits: int = 0
    last_end: float = 0.0
    required: float = 0.0  # rest after it
    waited: float = 0.0  # between visits
    allowed: float = 0.0  # the least that was allowed
    knows_rules: bool = False


@dataclass(slots=True)
class SimulatedSlice:
    """A part of the time."""

    visits: int = 0
    bytes: int = 0
    active: int = 0  # hosts in memory, at most
    in_flight: int = 0  # at most


@dataclass
class PolitenessObserver:
    """Judges by what the hosts asked for, not by what the crawl believes."""

    web: SimulatedWeb
    politeness: Politeness
    seconds: float  # that are simulated at most
    hosts: dict[str, ObservedHost] = field(default_factory=dict)
    slices: list[SimulatedSlice] = field(default_factory=lambda: [SimulatedSlice() for _ in range(SLICES)])
    outcomes: Counter[str] = field(default_factory=Counter)
    pages: int = 0
    robots: int = 0
    early: int = 0
    closest: float = math.inf  # a visit came so much later than it had to, at least
    last: float = 0.0
    _at: int = 0  # the slice of the latest visit

    def saw(self, visit: Visit, started: float, visited: Visited, active: int, in_flight: int) -> None:
        """A visit, and what became of it."""
        name = host_of(visit.url)
        seen = self.hosts.setdefault(name, ObservedHost())
        fetched = visited.fetched
        assert fetched is not None
        if seen.visits:
            margin = started - seen.last_end - seen.required
            self.early += margin < -1e-6
            self.closest = min(self.closest, margin)
            seen.waited += started - seen.last_end
            seen.allowed += seen.required
        seen.visits += 1
        seen.knows_rules = seen.knows_rules or (visit.kind is Kind.ROBOTS and visited.outcome is Outcome.FETCHED)
        seen.last_end = fetched.ended
        seen.required = self._rest(name, self.web.hosts[name], seen, visited)
        self._note(visit, started, visited, active, in_flight)

    def _rest(self, name: str, host: SimulatedHost, seen: ObservedHost, visited: Visited) -> float:
        fetched, politeness = visited.fetched, self.politeness
        assert fetched is not None
        if not fetched.was_sent:
            return 0.0
        slowness = min(politeness.latency_factor * (fetched.ended - fetched.started), politeness.latency_cap)
        crawl_delay = min(host.crawl_delay or 0.0, 300.0) if seen.knows_rules else 0.0
        return max(politeness.floor_of(name), slowness, crawl_delay, visited.retry_after or 0.0)

    def _note(self, visit: Visit, started: float, visited: Visited, active: int, in_flight: int) -> None:
        fetched = visited.fetched
        assert fetched is not None
        is_page = visit.kind is Kind.PAGE
        self.pages += is_page and visited.outcome is Outcome.FETCHED
        self.robots += not is_page
        self.outcomes[visited.reason.name.lower()] += 1
        self.last = max(self.last, fetched.ended - self.web.start)
        number = min(int((started - self.web.start) / self.seconds * SLICES), SLICES - 1)
        for between in range(self._at + 1, number):  # in which nobody was visited
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
        """How many times as long as it had to each host waited between its visits, in ascending order."""
        return sorted(seen.waited / seen.allowed for seen in self.hosts.values() if seen.allowed > 0)
