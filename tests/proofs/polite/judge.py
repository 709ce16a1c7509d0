"""Checks that every host of the world rested between two requests for as long as it should.

Uses only the log, the world, and the times at which the crawl was stopped and restarted. The required rest is a lower
bound of what crawler/frontier/politeness.py promises, computed from the server's view, so that no tolerance is needed:

- The crawl measures an answer from before it connects until it has read the end, which is never less than the server's
  time from the first byte of the request to just before the last byte of the answer.
- Rules that are fetched from another host are read a moment later; they apply only from then on.
- If a client disconnects before the answer ended, the server notices it a moment later; only there is tolerance.
- A kill loses what was not committed. The host was being visited then, so it rests from the restart on, by what was
  certainly known: the floor, and the rules if a page was requested under them. An answer that ended `COMMITTED`
  seconds before the kill counts as committed, with its Retry-After.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import pairwise
from math import inf
from typing import NamedTuple

from tests.proofs.polite.log import Entry
from tests.proofs.polite.world import Host, World

NOTICED = 0.25  # seconds within which the server notices that a client has disconnected
LEARNED = 0.25  # seconds within which the crawl has read rules that it fetched from another host
COMMITTED = 5.0  # seconds after which an answer is certainly committed
MOST_DOUBLINGS = 4  # to which a successful answer limits the doublings, before it takes one away
TIGHT = 0.02  # if a gap is less than this longer than required, the rule decided when the request was sent
BUSY = (429, 503)
AFTER_KILL = "after a kill"


class Stop(NamedTuple):
    """One stop of the crawl and its restart."""

    at: float
    restarted: float
    is_clean: bool


class Rest(NamedTuple):
    """How long a host must rest, and by which rule."""

    seconds: float
    rule: str


class Violation(NamedTuple):
    """A request that should not have been made, or not yet."""

    rule: str
    entry: Entry
    previous: Entry | None = None
    gap: float = 0.0
    required: float = 0.0

    def __str__(self) -> str:
        entry, previous = self.entry, self.previous
        if previous is None:
            return f"{self.rule}: {entry.host}{entry.target} at {entry.t0:.6f}"
        return (
            f"{self.rule}: {entry.host}{entry.target} began {self.gap:.6f} s after {previous.target} ({previous.status}"
            f"{', left by the client' if previous.aborted else ''}, {previous.t0:.6f} – {previous.t1:.6f}, connection "
            f"{previous.connection}) ended, {self.required:.6f} s were due; connection {entry.connection}"
        )


@dataclass
class Margin:
    """How close to a rule's limit the crawl went."""

    smallest: float = inf
    gaps: int = 0  # for which the rule demanded the longest rest
    tight: int = 0

    def note(self, margin: float) -> None:
        self.smallest = min(self.smallest, margin)
        self.gaps += 1
        self.tight += margin < TIGHT


@dataclass(frozen=True, kw_only=True)
class PolitenessLimits:
    """The politeness settings of the crawl."""

    floor: float
    factor: float
    cap: float = 30.0
    address_limit: int = 0  # requests at once to one address; 0 = not judged


@dataclass
class Verdict:
    """The violations, and how close the crawl went to each rule's limit."""

    violations: list[Violation] = field(default_factory=list)
    margins: defaultdict[str, Margin] = field(default_factory=lambda: defaultdict(Margin))
    at_once: dict[str, int] = field(default_factory=dict)  # address → requests at the same time, at most

    @property
    def counts(self) -> Counter[str]:
        return Counter(violation.rule for violation in self.violations)


def judge(log: Sequence[Entry], world: World, limits: PolitenessLimits, stops: Sequence[Stop] = ()) -> Verdict:
    """Check a log, in order of the requests' start times, against the world."""
    verdict = Verdict(at_once=_most_concurrent(log))
    served = _rules_served(log, world)
    hosts: defaultdict[str, list[Entry]] = defaultdict(list)
    for entry in log:
        hosts[entry.host].append(entry)
    for name, entries in hosts.items():
        host = world.host(name)
        if host is not None:
            _HostJudge(host, world, limits, stops, served[name], verdict).judge(entries)
    if limits.address_limit:
        verdict.violations += _over_address_limit(log, limits.address_limit)
    return verdict


def _rules_served(log: Iterable[Entry], world: World) -> defaultdict[str, list[Entry]]:
    """Return by host the answers, perhaps of other hosts, that contained its rules or showed that there are none."""
    served: defaultdict[str, list[Entry]] = defaultdict(list)
    for entry in log:
        owner = world.rules_owner(entry.host, entry.target)
        if owner is not None and not entry.aborted and entry.status in (200, 404):
            served[owner].append(entry)
    return served


class _HostJudge:
    """Checks the requests of one host in order, tracking what a polite crawl would know."""

    def __init__(
        self,
        host: Host,
        world: World,
        limits: PolitenessLimits,
        stops: Sequence[Stop],
        served: Sequence[Entry],
        verdict: Verdict,
    ) -> None:
        self._host = host
        self._world = world
        self._limits = limits
        self._stops = stops
        self._served = served
        self._verdict = verdict
        self._backoff = 0  # doublings, at least
        self._rules_lost_before = 0.0  # rules that were served before this time may have been lost in a kill
        self._rules_committed = False  # a page has been requested, so the rules are committed

    def judge(self, entries: Sequence[Entry]) -> None:
        for entry in entries:
            self._check_page(entry)
        self._rules_committed = bool(entries) and self._is_page(entries[0])
        latest: Entry | None = None
        for previous, entry in pairwise(entries):
            if latest is not None and latest.t1 > previous.t1:
                previous = latest  # two at once: the later end counts
            self._check_gap(previous, entry)
            self._rules_committed = self._rules_committed or self._is_page(entry)
            latest = previous

    def _is_page(self, entry: Entry) -> bool:
        return self._world.is_page(entry.target)

    def _check_page(self, entry: Entry) -> None:
        if entry.address and entry.address != self._host.address:
            self._add_violation(Violation("wrong address", entry))
        if self._world.forbids(entry.host, entry.target):
            self._add_violation(Violation("forbidden", entry))
        if self._is_page(entry) and not any(
            rules.t1 <= entry.t0 for rules in self._served if _applies_to(rules, entry)
        ):
            self._add_violation(Violation("robots.txt first", entry))

    def _add_violation(self, violation: Violation) -> None:
        self._verdict.violations.append(violation)

    # ── the rest between two requests ──

    def _check_gap(self, previous: Entry, entry: Entry) -> None:
        stops_between = [stop for stop in self._stops if previous.t0 < stop.restarted <= entry.t0]
        self._count_trouble(previous, stops_between)
        gap = entry.t0 - previous.t1
        if gap < 0:
            rule = "one at a time" if entry.connection == previous.connection else "one connection at a time"
            self._add_violation(Violation(rule, entry, previous, gap))
            return
        rest = self._required(previous, entry, stops_between)
        forgiven = NOTICED if previous.aborted and rest.rule != AFTER_KILL else 0.0
        margin = gap + forgiven - rest.seconds
        if margin < 0:
            self._add_violation(Violation(rest.rule, entry, previous, gap, rest.seconds))
        self._verdict.margins[rest.rule].note(margin)

    def _count_trouble(self, previous: Entry, stops_between: Sequence[Stop]) -> None:
        """Update the least number of doublings: one more for each trouble; at most four, less one, after a success."""
        timed_out = previous.aborted and not _in_flight(previous, stops_between)
        if timed_out or (previous.status in BUSY and not previous.aborted):
            self._backoff += 1
        else:
            self._backoff = max(0, min(self._backoff, MOST_DOUBLINGS) - 1)

    def _required(self, previous: Entry, entry: Entry, stops_between: Sequence[Stop]) -> Rest:
        if not stops_between or stops_between[0].is_clean:
            return self._full_rest(previous, entry)
        kill = stops_between[0]
        if not self._rules_committed and not any(rules.t1 + COMMITTED < kill.at for rules in self._served):
            self._rules_lost_before = kill.restarted
        full = self._full_rest(previous, entry)
        self._backoff = 0
        if previous.t1 + COMMITTED < kill.at:
            return full
        after_restart = Rest(kill.restarted - previous.t1 + self._known_rest(entry), AFTER_KILL)
        return after_restart if _in_flight(previous, stops_between) else min(full, after_restart)

    def _known_rest(self, entry: Entry) -> float:
        """Return the rest of a host if nothing is known of its last answer."""
        return max([Rest(self._limits.floor, "floor"), *self._robots_rests(entry)]).seconds

    def _full_rest(self, previous: Entry, entry: Entry) -> Rest:
        limits, duration = self._limits, previous.t1 - previous.t0
        if previous.aborted:
            duration = max(0.0, duration - NOTICED)
        base = max(
            Rest(limits.floor, "floor"),
            Rest(min(limits.factor * duration, limits.cap), "answer's time"),
            *self._robots_rests(entry),
        )
        rests = [base, Rest(previous.not_before - previous.t1, "Retry-After")]
        if self._backoff:
            rests.append(Rest(base.seconds * 2**self._backoff, "doubled"))
        return max(rests)

    def _robots_rests(self, entry: Entry) -> list[Rest]:
        """Return the rests that the host's robots.txt demands, if it was known when the request was made."""
        known = any(
            rules.status == 200 and self._rules_lost_before <= _known_from(rules, entry) <= entry.t0
            for rules in self._served
        )
        if not known:
            return []
        requests, seconds = self._host.rate or (1, 0)
        return [Rest(self._host.crawl_delay, "Crawl-delay"), Rest(seconds / requests, "Request-rate")]


def _in_flight(previous: Entry, stops_between: Sequence[Stop]) -> bool:
    """Whether a request was cut off by the stop: the client disconnected after it, not before."""
    return bool(stops_between) and previous.aborted and previous.t1 >= stops_between[0].at


def _applies_to(rules: Entry, entry: Entry) -> bool:
    """Whether a robots.txt belongs to the origin of a request."""
    return rules.server_port == entry.server_port or rules.host != entry.host


def _known_from(rules: Entry, entry: Entry) -> float:
    """Return when the rules were certainly known: those from the host itself are read before its next visit."""
    return rules.t1 if rules.host == entry.host else rules.t1 + LEARNED


# ── requests at the same time ──


def _most_concurrent(log: Sequence[Entry]) -> dict[str, int]:
    most: Counter[str] = Counter()
    for entry, count in _concurrent_requests(log):
        most[entry.address] = max(most[entry.address], count)
    return dict(most)


def _over_address_limit(log: Sequence[Entry], limit: int) -> list[Violation]:
    return [Violation("address limit", entry) for entry, count in _concurrent_requests(log) if count > limit]


def _concurrent_requests(log: Sequence[Entry]) -> Iterator[tuple[Entry, int]]:
    """Yield each request with the number of requests in progress at its address when it began, itself included."""
    ends: defaultdict[str, list[float]] = defaultdict(list)
    for entry in log:
        busy = ends[entry.address]
        while busy and busy[0] <= entry.t0:
            heappop(busy)
        heappush(busy, entry.t1 - NOTICED if entry.aborted else entry.t1)
        yield entry, len(busy)
