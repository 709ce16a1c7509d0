"""make prove-month: a month of crawling under a virtual clock, every visit checked against the rests that were due.

The check knows the web and the rules, and nothing of the crawl's own clocks. Hosts have a Crawl-delay, a Request-rate
or a Visit-time, share servers, belong to groups, are slow, busy, silent or dead; on the tenth day our own network fails
for an hour.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from random import Random
from statistics import mean

from crawler.frontier.priority import LEVELS, BiasedDraw, PriorityInputs, level_of
from crawler.items import (
    CrawlLimits,
    DailyWindow,
    Fetched,
    Key,
    Kind,
    Link,
    Outcome,
    Page,
    Reason,
    RequestRate,
    RobotsFile,
    State,
    Visit,
    Visited,
)
from crawler.simulation.driver import Simulation
from crawler.stores.contract.store import Store
from crawler.stores.contract.urls import NewUrl
from crawler.stores.open import open_store
from crawler.urls.hosts import host_of
from crawler.urls.keys import key_of, link_fingerprint
from tests.defaults import options_with, politeness_with, revisits_with

HOUR, DAY = 3_600.0, 86_400.0
START = 20_000 * DAY
INTERVAL = 5 * DAY  # between visits of a page
OUTAGE = (10 * DAY, 10 * DAY + HOUR)
PATIENCE = 100.0  # the Retry-After of a busy host
POLITENESS = politeness_with(groups=("*.farm.test",))
GAP, AT_ONCE = POLITENESS.address_gap, POLITENESS.address_connections
CRAWL_LIMITS = (
    CrawlLimits(),
    CrawlLimits(),
    CrawlLimits(crawl_delay=20.0),
    CrawlLimits(request_rate=RequestRate(2, 60)),
    CrawlLimits(request_rate=RequestRate(1, 90, DailyWindow(600, 1200))),
    CrawlLimits(visit_time=DailyWindow(1320, 240)),
    CrawlLimits(),
)
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
_EPSILON = 1e-6


@dataclass
class Web:
    """Answers visits, and checks that none came too early."""

    hosts: int
    pages: int  # of each
    seed: int = 1
    busy: float = 0.005  # share of the answers with a Retry-After
    visits: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    violations: list[str] = field(default_factory=list)
    first: dict[str, float] = field(default_factory=dict)  # page → when it was first fetched
    margins: dict[str, float] = field(default_factory=dict)  # rule → the smallest margin by which it was kept

    def __post_init__(self) -> None:
        self._chance = Random(self.seed)
        self._ready: dict[str, float] = {}  # host or group → not before
        self._until: dict[str, float] = {}  # host or group → in flight until
        self._at: defaultdict[str, list[float]] = defaultdict(list)  # server → ends
        self._rules: set[str] = set()  # hosts whose robots.txt was read
        self._due: dict[Key, float] = {}

    # ── the web ──

    def name(self, number: int) -> str:
        return f"h{number}.{'farm' if number % 50 == 7 else f's{number}'}.test"

    def number(self, name: str) -> int:
        return int(name[1:].partition(".")[0])

    def is_dead(self, name: str) -> bool:
        return self.number(name) % 40 == 11

    def address(self, name: str) -> str:
        number = self.number(name)
        return f"shared {number % 20}" if number % 3 == 0 else f"own {number}"

    def crawl_limits(self, name: str) -> CrawlLimits:
        return CRAWL_LIMITS[self.number(name) % len(CRAWL_LIMITS)]

    def latency(self, name: str) -> float:
        return 0.05 + (8.0 if self.number(name) % 29 == 3 else 1.0) * self._chance.random()

    def urls(self) -> Iterator[str]:
        """All pages that can be fetched."""
        for number in range(self.hosts):
            name = self.name(number)
            if not self.is_dead(name):
                yield from (f"http://{name}/{page}" for page in range(self.pages))

    def respond(self, visit: Visit, started: float) -> Visited:
        name = host_of(visit.url)
        self._judge(visit, name, started)
        visited = self._answer(visit, name, started)
        self._record(visit, name, visited)
        return visited

    def _answer(self, visit: Visit, name: str, started: float) -> Visited:
        if self.is_dead(name) or OUTAGE[0] <= started - START < OUTAGE[1]:
            return self._lost(
                visit, Fetched(url=visit.url, reason=Reason.CONNECT_FAILED, started=started, ended=started + 0.1)
            )
        took, roll = self.latency(name), self._chance.random()
        fetched = Fetched(
            url=visit.url, reason=Reason.OK, started=started, ended=started + took, request=b"GET", status=200,
            head=_HEAD, address=self.address(name),
        )  # fmt: skip
        if visit.kind is Kind.ROBOTS:
            rules = RobotsFile(
                host=visit.key.host, origin=visit.origin, status=200, body=b"", fetched=fetched.ended,
                expires=fetched.ended + DAY, crawl_limits=self.crawl_limits(name),
            )  # fmt: skip
            return Visited(visit=visit, outcome=Outcome.FETCHED, reason=Reason.OK, fetched=fetched, rules=rules)
        if roll < self.busy:
            return Visited(visit=visit, outcome=Outcome.BUSY, reason=Reason.BUSY, fetched=fetched, retry_after=PATIENCE)
        if roll < self.busy + 0.003:
            return Visited(visit=visit, outcome=Outcome.FAILED, reason=Reason.FIRST_BYTE_TIMEOUT, fetched=fetched)
        page = int(visit.url.rpartition("/")[2])
        below = [f"http://{name}/{child}" for child in (2 * page + 1, 2 * page + 2) if child < self.pages]
        links = [Link(key_of(url), url, "", None, link_fingerprint(url, "")) for url in below]
        return Visited(visit=visit, outcome=Outcome.FETCHED, reason=Reason.OK, fetched=fetched, page=Page(links=links))

    @staticmethod
    def _lost(visit: Visit, fetched: Fetched) -> Visited:
        rules = None
        if visit.kind is Kind.ROBOTS:
            until = fetched.ended + HOUR
            rules = RobotsFile(
                host=visit.key.host, origin=visit.origin, status=0, body=None, fetched=fetched.ended, expires=until,
                held_until=until, failures=1,
            )  # fmt: skip
        return Visited(visit=visit, outcome=Outcome.FAILED, reason=fetched.reason, fetched=fetched, rules=rules)

    # ── the check ──

    def _judge(self, visit: Visit, name: str, started: float) -> None:
        for clock in self._clocks(name):
            self._require("in turn", started - self._until.get(clock, 0.0), visit)
            self._require("host or group", started - self._ready.get(clock, 0.0), visit)
        ends = self._at[self.address(name)]
        self._require("server", min((started - end - GAP for end in ends if end <= started), default=GAP), visit)
        if sum(end > started for end in ends) >= AT_ONCE:
            self.violations.append(f"{visit.url}: more than {AT_ONCE} visits to one server")
        hours = self.crawl_limits(name).visit_time
        if hours is not None and name in self._rules and visit.kind is Kind.PAGE:
            minute = started / 60 % 1440
            if not (minute >= hours.start or minute < hours.end):  # it contains midnight
                self.violations.append(f"{visit.url}: visited outside of visiting hours, at minute {minute:.1f}")
        self._require("not twice", started - self._due.get(visit.key, 0.0), visit)

    def _require(self, rule: str, margin: float, visit: Visit) -> None:
        self.margins[rule] = min(margin, self.margins.get(rule, margin))
        if margin < -_EPSILON:
            self.violations.append(f"{visit.url}: {rule}: {-margin:.3f} s too early")

    def _record(self, visit: Visit, name: str, visited: Visited) -> None:
        fetched = visited.fetched
        assert fetched is not None
        self.visits += 1
        self.reasons[visited.reason.name] += 1
        if not fetched.was_sent:
            return
        if visited.rules is not None:
            self._rules.add(name)
        rest = self._rest(name, fetched, visited.retry_after)
        for clock in self._clocks(name):
            self._until[clock] = fetched.ended
            self._ready[clock] = fetched.ended + rest
        address = self.address(name)
        self._at[address] = [*(end for end in self._at[address] if end > fetched.started - 1), fetched.ended][-9:]
        if visit.kind is Kind.PAGE and visited.outcome is Outcome.FETCHED:
            self.first.setdefault(visit.url, fetched.started)
            self._due[visit.key] = fetched.ended + INTERVAL

    def _clocks(self, name: str) -> list[str]:
        return [name, "farm"] if name.endswith("farm.test") else [name]

    def _rest(self, name: str, fetched: Fetched, retry_after: float | None) -> float:
        crawl_limits = self.crawl_limits(name) if name in self._rules else CrawlLimits()
        rate, pace = crawl_limits.request_rate, 0.0
        if rate is not None:
            minute = fetched.ended / 60 % 1440
            is_open = rate.window is None or rate.window.start <= minute < rate.window.end
            pace = rate.seconds / rate.requests if is_open else 0.0
        slowness = min(5 * (fetched.ended - fetched.started), 30.0)
        return max(5.0, slowness, crawl_limits.crawl_delay or 0.0, pace, retry_after or 0.0)


@dataclass
class Findings:
    web: Web
    seconds: float
    problems: list[str]
    waits: list[float]  # mean time until the first visit, by level

    @property
    def is_good(self) -> bool:
        return not self.web.violations and not self.problems


def crawl(directory: Path, hosts: int, pages: int, seed: int = 1, days: float = 30.0) -> Findings:
    begun = time.monotonic()
    web = Web(hosts, pages, seed)
    store = open_store(f"sqlite:{directory / 'crawl.db'}", durable=False)
    try:
        store.urls.add(_start(web), START)
        window = hosts // 5  # so that hosts have to wait for each other
        options = options_with(
            politeness=POLITENESS, FRONTIER_ACTIVE_HOSTS=window, FRONTIER_MOST_HOSTS=window, CRAWL_HORIZON="inf",
            COMMIT_INTERVAL=1.0, FRONTIER_LEASE_AHEAD=2.0, revisit=revisits_with(interval=INTERVAL),
        )  # fmt: skip
        simulation = Simulation(
            store, options, web.respond, now=START, draw=BiasedDraw(Random(seed).random), address_of=web.address
        )
        problems: list[str] = []
        for day in range(1, int(days) + 1):
            simulation.run(START + day * DAY)
            problems += _states(store, simulation)
        waits = _waits(web)
        problems += _missing(web, store)
        if waits[-1] < 2 * waits[0] or any(later < earlier * 0.8 for earlier, later in pairwise(waits)):
            problems.append(f"less important levels were visited before more important ones: {waits}")
    finally:
        store.close()
    return Findings(web=web, seconds=time.monotonic() - begun, problems=problems, waits=waits)


def _start(web: Web) -> Iterator[NewUrl]:
    """Yield the front page of each host, at different depths: important hosts must come first."""
    for number in range(web.hosts):
        url = f"http://{web.name(number)}/0"
        yield NewUrl(key=key_of(url), url=url, reason=Reason.LINK, depth=number % LEVELS)


def _waits(web: Web) -> list[float]:
    """Return by level the mean time until a host's front page was fetched, for hosts without visiting hours."""
    waits: defaultdict[int, list[float]] = defaultdict(list)
    for number in range(web.hosts):
        name = web.name(number)
        url = f"http://{name}/0"
        if url in web.first and web.crawl_limits(name).visit_time is None and not name.endswith("farm.test"):
            waits[level_of(PriorityInputs(number % LEVELS))].append(web.first[url] - START)
    return [mean(waits[level]) for level in sorted(waits)]


def _states(store: Store, simulation: Simulation) -> Iterator[str]:
    """Check that known = waiting + leased + parked, and that leased = in flight + uncommitted + not yet released."""
    account = store.crawl.account()
    if account.known != account.waiting + account.leased + account.parked:
        yield f"{account.known} known, but {account.waiting} + {account.leased} + {account.parked}"
    under_way = len(simulation.frontier.in_flight) + simulation.worker.uncommitted + len(simulation.frontier.leased)
    if account.leased != under_way:
        yield f"{account.leased} are leased, but {under_way} are on their way"


def _missing(web: Web, store: Store) -> Iterator[str]:
    for url in web.urls():
        if url not in web.first:
            row = store.urls.find(key_of(url))
            state = f"{row.state.name} {row.reason.name}" if row is not None else "not known"
            if row is None or row.state is not State.PARKED or row.reason is not Reason.QUARANTINED:
                yield f"{url} was never fetched: {state}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.frontier.month", description=__doc__)
    parser.add_argument("--hosts", type=int, default=2_000)
    parser.add_argument("--pages", type=int, default=90, help="of each host")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    print(f"Seed {options.seed}: a month of crawling {options.hosts} hosts with {options.pages} pages each", flush=True)
    with tempfile.TemporaryDirectory(prefix="orbweaver-") as directory:
        found = crawl(Path(directory), options.hosts, options.pages, options.seed)
    print(f"{found.web.visits:,} visits in {found.seconds:.0f} s: {dict(found.web.reasons.most_common())}")
    print("Kept by at least: " + ", ".join(f"{rule} {margin:.3f} s" for rule, margin in found.web.margins.items()))
    print("Mean wait for a first visit, by level: " + ", ".join(f"{wait / 60:.1f} min" for wait in found.waits))
    for problem in [*found.web.violations[:20], *found.problems[:20]]:
        print(f"  PROBLEM: {problem}")
    print(f"{len(found.web.violations)} visits too early, {len(found.problems)} other problems")
    return 0 if found.is_good else 1


if __name__ == "__main__":
    sys.exit(main())
