"""Counters of one run of a crawl."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from crawler.frontier.politeness import TROUBLE
from crawler.items import Fetched, Kind, Outcome, Reason, Visited
from crawler.monitor.judged_pages import JudgedPages

_SPARING = frozenset({Reason.NOT_MODIFIED, Reason.SAME_HEAD, Reason.UNWANTED_TYPE})
HOSTS = 20_000  # hosts that have counters of their own; further ones count in the totals only
LAG_STEP = 0.001  # resolution of the event loop's lag


@dataclass(slots=True)
class HostRun:
    """Counters of one host in this run."""

    visits: int = 0
    slowest: float = 0.0  # seconds of its slowest response
    # Seconds from the end of a request to the start of the next: the gap that was closest to what was required.
    shortest_gap: float | None = None
    required: float = 0.0  # the politeness delay that held for that gap
    is_failing: bool = False  # its last visit failed, by its own fault


class HostGap(NamedTuple):
    """The time between the end of a request to a host and the start of the next one."""

    host: str
    seconds: float
    required: float


@dataclass(slots=True)
class SavedTraffic:
    """Traffic that conditional and HEAD requests have saved."""

    unchanged: int = 0  # documents that had not changed
    unchanged_bytes: int = 0  # size of these
    heads: int = 0  # HEAD requests
    followed: int = 0  # HEAD requests that had to be followed by a GET
    unwanted: int = 0  # documents of content types that are not read
    unwanted_bytes: int = 0  # their size, where Content-Length gives it

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
    """Counters of a run: the engine fills them; progress, metrics and summary read them, in any thread."""

    finished: str = "stopped"  # why the run ended
    outcomes: Counter[tuple[Outcome, Reason]] = field(default_factory=Counter)
    visits: int = 0
    pages: int = 0
    duplicates: int = 0
    near_duplicates: int = 0  # those of the duplicates that are not exact
    judged: JudgedPages = field(default_factory=JudgedPages)  # by the topic of a focused crawl
    new_urls: int = 0
    commits: int = 0
    bytes_received: int = 0
    bytes_archived: int = 0
    early: int = 0  # requests sent before the politeness delay was over
    late: int = 0  # visits whose commit was refused, because another worker had taken them over
    rate: float = 0.0  # visits a second over the last seconds
    store_share: float = 0.0  # share of the last seconds in which the store thread was busy
    limited_by: str = ""  # what limits the speed at the moment, as monitor.bottleneck says it
    connections: int = 0  # connections that were opened
    library_messages: Counter[str] = field(default_factory=Counter)  # what libraries said about pages, by library
    spared: SavedTraffic = field(default_factory=lambda: SavedTraffic())
    supply: dict[str, float] = field(default_factory=dict)  # hosts and visits a second that the frontier could supply
    hosts: dict[str, HostRun] = field(default_factory=dict)
    failing: int = 0  # those of the hosts whose last visit failed
    closest: HostGap | None = None  # the gap that came closest to being too short
    lags: Counter[int] = field(default_factory=Counter)  # lags of the event loop, in steps of LAG_STEP

    def record_request(self, host: str, gap: float | None, required: float) -> None:
        """Count a request that is about to be sent `gap` seconds after the host's last response (None = the first)."""
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
        """Count a visit whose result was committed."""
        self.visits += 1
        self.outcomes[visited.outcome, visited.reason] += 1
        self.pages += visited.outcome is Outcome.FETCHED and visited.visit.kind is Kind.PAGE
        self.judged.record_visit(visited)
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
        """Note that a host has begun or ceased to fail; hosts without counters of their own are not counted."""
        run.is_failing = not run.is_failing
        if name in self.hosts:
            self.failing += 1 if run.is_failing else -1

    def most_common_reasons(self, most: int) -> list[tuple[Reason, int]]:
        """Return the most frequent reasons with which visits ended."""
        reasons: Counter[Reason] = Counter()
        for (_, reason), count in list(self.outcomes.items()):  # copied, because the crawl thread adds to it
            reasons[reason] += count
        return reasons.most_common(most)

    def record_lag(self, seconds: float) -> None:
        """Note by how much the event loop was late."""
        self.lags[int(max(0.0, seconds) / LAG_STEP)] += 1

    def lag(self, share: float) -> float:
        """Return the lag that the given share of the measurements did not exceed (a quantile)."""
        counted, wanted = 0, share * self.lags.total()
        for step in sorted(self.lags):
            counted += self.lags[step]
            if counted >= wanted:
                return (step + 1) * LAG_STEP
        return 0.0

    def _host(self, name: str) -> HostRun:
        run = self.hosts.get(name)
        if run is None:
            run = HostRun()
            if len(self.hosts) < HOSTS:
                self.hosts[name] = run
        return run
