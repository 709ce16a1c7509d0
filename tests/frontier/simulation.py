"""Drive the real frontier and a real store under a virtual clock: hours of crawling in a moment."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import pairwise

from crawler.frontier.aftermath import RevisitPolicy
from crawler.frontier.frontier import Frontier
from crawler.frontier.politeness import Politeness
from crawler.frontier.priority import Draw, most_important
from crawler.items import Kind, OriginRules, Outcome, Reason, Visit, Visited
from crawler.stores.contract import Settled, Store
from crawler.urls.hosts import host_of
from tests.samples import NOW, answer, new_url, visited

Respond = Callable[[Visit, float], Visited]  # what becomes of a visit that starts at a time


@dataclass(frozen=True, slots=True)
class Request:
    """One request as the server would log it."""

    url: str
    host: str
    started: float
    ended: float


def seeded(store: Store, *urls: str) -> Store:
    store.add([new_url(url) for url in urls], NOW)
    return store


def fetched_page(visit: Visit, started: float, took: float = 0.1) -> Visited:
    """A visit that goes well; a robots.txt that says nothing."""
    fetched = answer(visit.url, started=started, ended=started + took, address=f"address of {host_of(visit.url)}")
    rules = None
    if visit.kind is Kind.ROBOTS:
        rules = OriginRules(
            host=visit.key.host, origin=visit.origin, status=404, body=None, fetched=started, expires=started + 86_400
        )
    return visited(visit, fetched=fetched, rules=rules)


@dataclass
class Simulation:
    """One worker. `run` goes on until nothing is due within the horizon."""

    store: Store
    respond: Respond = fetched_page
    politeness: Politeness = field(default_factory=Politeness)
    active_hosts: int = 100
    queue_length: int = 5
    commit_delay: float = 0.05
    draw: Draw = most_important
    address_of: Callable[[str], str] = "address of {}".format
    now: float = NOW
    log: list[Request] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.frontier = Frontier(self.politeness, active_hosts=self.active_hosts, in_flight=50, ahead=0.5)
        self.frontier.lease_end = float("inf")
        self.frontier.restore_gates(self.store.gates())
        self.store.acquire("me", 0, self.now, 1e12, 60)
        self.revisit = RevisitPolicy()
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._order = 0
        self.most_in_flight = 0

    def run(self, horizon: float = 60.0, until: float = float("inf")) -> None:
        while self.now < until:
            self._pump()
            visit = self.frontier.next(self.now)
            if visit is not None:
                self._send(visit)
                continue
            times = [self._events[0][0]] if self._events else []
            ready = self.frontier.next_time(self.now)
            times += [ready] if ready is not None else []
            if not times and self.frontier.is_quiet:
                due = self.store.outlook().next_due
                if due is None or due > self.now + horizon:
                    return
                times.append(max(due, self.now + 0.01))
            self.now = max(self.now, min(times))
            while self._events and self._events[0][0] <= self.now:
                heapq.heappop(self._events)[2]()

    def _pump(self) -> None:
        frontier, store = self.frontier, self.store
        for host in frontier.wants_refill():
            frontier.refill(host, store.load(host, self.now, self.queue_length), self.now)
        store.send_back(frontier.to_send_back(), self.now)
        room = frontier.wants_hosts()
        if room:
            for load in store.activate("me", self.now, room, self.queue_length, set(frontier.hosts), self.draw):
                frontier.activate(replace(load, address=self.address_of(load.name)), self.now)
        visits = frontier.to_lease(self.now)
        frontier.leased(visits, store.lease("me", visits))
        while frontier.errands:
            visit = frontier.errands.popleft()
            load = store.load_host("me", visit.asked, host_of(visit.url), self.now, 0)
            assert load is not None
            frontier.activate(load, self.now, errand=visit)
        store.hold(frontier.to_hold())
        store.postpone(frontier.to_postpone(), Reason.ROBOTS_UNAVAILABLE)

    def _send(self, visit: Visit) -> None:
        self.most_in_flight = max(self.most_in_flight, len(self.frontier.in_flight))
        result = self.respond(visit, self.now)
        ended = result.fetched.ended if result.fetched is not None else self.now
        if result.outcome is not Outcome.DENIED:
            self.log.append(Request(visit.url, host_of(visit.url), self.now, ended))
        self._at(ended, lambda: self._end(result))

    def _end(self, result: Visited) -> None:
        clocks = self.frontier.ended(result, self.now)
        clock = clocks[result.visit.asked]
        excused = self.frontier.network.is_down or clock.backoff > 1
        after = self.revisit.after(result, self.now, clock.next_visit, excused=excused)
        gates = self.frontier.gate_times(result.visit.asked)
        settled = Settled(visited=result, aftermath=after, clocks=clocks, gates=gates)
        self._at(self.now + self.commit_delay, lambda: self._commit(settled))

    def _commit(self, settled: Settled) -> None:
        committed = self.store.commit([settled], [], self.now)
        self.frontier.committed(settled.visited)
        self.frontier.found(committed.hosts_with_new, self.now)

    def _at(self, time: float, act: Callable[[], None]) -> None:
        self._order += 1
        heapq.heappush(self._events, (time, self._order, act))

    # ── what to ask of the log ──

    def urls(self) -> list[str]:
        return [request.url for request in self.log]

    def gaps(self, host: str) -> list[float]:
        mine = [request for request in self.log if request.host == host]
        return [later.started - earlier.ended for earlier, later in pairwise(mine)]
