"""What one run of a crawl did, in numbers."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from crawler.frontier.politeness import TROUBLE
from crawler.items import Fetched, Kind, Outcome, Reason, Visited

_SPARING = frozenset({Reason.NOT_MODIFIED, Reason.SAME_HEAD, Reason.UNWANTED_TYPE})
HOSTS = 20_000  # hosts that are followed one by one; what others do is only added up
LAG_STEP = 0.001  # resolution of the loop's lag


@dataclass(slots=True)
class HostRun:
    """One host in this run."""

    visits: int = 0
    slowest: float = 0.0  # its longest answer, in seconds
    shortest_gap: float | None = None  # between two requests, from end to start
    required: float = 0.0  # what that gap had to be
    is_failing: bool = False  # its last visit failed, for reasons of its own


class HostGap(NamedTuple):
    """Between two requests to a host, from end to start."""

    host: str
    seconds: float
    required: float


@dataclass(slots=True)
class SavedTraffic:
    """What need not be fetched."""

    unchanged: int = 0  # documents that are as they were
    unchanged_bytes: int = 0  # of them
    heads: int = 0  # requests for heads
    followed: int = 0  # by a request for the whole
    unwanted: int = 0  # documents of types that are not read
    unwanted_bytes: int = 0  # of them, as far as their heads say

    def add(self, visited: Visited, fetched: Fetched) -> None:
        is_head = fetched.request.startswith(b"HEAD ")
        self.heads += is_head
        if visited.outcome is Outcome.UNCHANGED:
            self.unchanged += 1
            self.unchanged_bytes += visited.visit.validators.length or 0
        elif visited.outcome is Outcome.PROMISING:
            self.followed += 1
        elif visited.reason is Reason.UNWANTED_TYPE:
            self.unwanted += 1
            length = fetched.header("content-length") or ""
            if length.isascii() and length.isdecimal():
                self.unwanted_bytes += int(length[:15])


@dataclass(slots=True)
class RunRecord:
    """Filled by the scheduler, read by progress, metrics and summary; what is counted may be read in any thread."""

    finished: str = "stopped"  # why the run ended
    outcomes: Counter[tuple[Outcome, Reason]] = field(default_factory=Counter)
    visits: int = 0
    pages: int = 0
    duplicates: int = 0
    near_duplicates: int = 0  # of these
    new_urls: int = 0
    commits: int = 0
    bytes_received: int = 0
    bytes_archived: int = 0
    early: int = 0  # requests sent before their time
    late: int = 0  # visits whose commit was refused, because another worker had taken them over
    rate: float = 0.0  # visits a second, just now
    store_share: float = 0.0  # of the time, just now, in which the store's thread works
    limited_by: str = ""  # what keeps the crawl from being faster, just now
    connections: int = 0  # that were opened
    spared: SavedTraffic = field(default_factory=lambda: SavedTraffic())
    supply: dict[str, float] = field(default_factory=dict)  # whether there were hosts enough
    hosts: dict[str, HostRun] = field(default_factory=dict)
    failing: int = 0  # of these
    closest: HostGap | None = None  # which came closest to being too short
    lags: Counter[int] = field(default_factory=Counter)  # of the event loop, in steps

    def record_request(self, host: str, gap: float | None, required: float) -> None:
        """A request is about to be sent, so long after the host's last answer (None: it never gave one)."""
        run = self._host(host)
        run.visits += 1
        if gap is None:
            return
        self.early += gap < required
        if run.shortest_gap is None or gap - required < run.shortest_gap - run.required:
            run.shortest_gap, run.required = gap, required
            if self.closest is None or gap - required < self.closest.seconds - self.closest.required:
                self.closest = HostGap(host, gap, required)

    def record_visit(self, host: str, visited: Visited) -> None:
        """A visit's result was committed."""
        self.visits += 1
        self.outcomes[visited.outcome, visited.reason] += 1
        self.pages += visited.outcome is Outcome.FETCHED and visited.visit.kind is Kind.PAGE
        fetched = visited.fetched
        if fetched is not None:
            self.bytes_received += len(fetched.head) + len(fetched.body)
            self.connections += fetched.connected
            if visited.reason in _SPARING or fetched.request.startswith(b"HEAD "):
                self.spared.add(visited, fetched)
            run = self._host(host)
            run.slowest = max(run.slowest, fetched.ended - fetched.started)
            if (visited.reason in TROUBLE) is not run.is_failing:
                self._toggle_failing(host, run)

    def _toggle_failing(self, name: str, run: HostRun) -> None:
        """A host fails that did not, or the other way round; those that are not followed one by one are not counted."""
        run.is_failing = not run.is_failing
        if name in self.hosts:
            self.failing += 1 if run.is_failing else -1

    def most_common_reasons(self, most: int) -> list[tuple[Reason, int]]:
        """The reasons of most visits."""
        reasons: Counter[Reason] = Counter()
        for (_, reason), count in list(self.outcomes.items()):  # a list, made at once
            reasons[reason] += count
        return reasons.most_common(most)

    def record_lag(self, seconds: float) -> None:
        self.lags[int(max(0.0, seconds) / LAG_STEP)] += 1

    def lag(self, share: float) -> float:
        """The lag that so great a share of the moments did not exceed."""
        seen, wanted = 0, share * self.lags.total()
        for step in sorted(self.lags):
            seen += self.lags[step]
            if seen >= wanted:
                return (step + 1) * LAG_STEP
        return 0.0

    def _host(self, name: str) -> HostRun:
        run = self.hosts.get(name)
        if run is None:
            run = HostRun()
            if len(self.hosts) < HOSTS:
                self.hosts[name] = run
        return run
