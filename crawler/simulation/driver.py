"""Drive a crawl under a virtual clock: weeks of crawling in minutes.

Frontier, politeness, worker and store are the real ones. Only the network is replaced, by a function that returns the
result of a visit and when it ends.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from crawler.frontier.frontier import Frontier
from crawler.frontier.politeness import HostClock
from crawler.frontier.priority import Draw
from crawler.items import Key, Visit, Visited
from crawler.options import Options
from crawler.stores.contract.commits import CommitSummary, LateCommit, VisitResult
from crawler.stores.contract.partitions import Assignment, WorkerStatus
from crawler.stores.contract.similarity import TemplateJob, TemplateResult, UndecidedPage
from crawler.stores.contract.store import Store
from crawler.worker.committer import CommitAnswer, SimilarArchivedPage
from crawler.worker.worker import Worker

T = TypeVar("T")
_FOREVER = 1e12
Respond = Callable[[Visit, float], Visited]  # returns the result of a visit that starts at a time


@dataclass(slots=True)
class SimulatedEvent:
    """An event of the virtual clock: an action to run at a time, unless it is cancelled."""

    act: Callable[[], object] | None

    def cancel(self) -> None:
        self.act = None


class Simulation:
    """One worker under a virtual clock, with everything that it needs from its runtime."""

    owner = "simulation"
    slot = 0

    def __init__(
        self,
        store: Store,
        options: Options,
        respond: Respond,
        *,
        now: float,
        draw: Draw,
        address_of: Callable[[str], str],
        store_time: float = 0.005,
        lease: float = _FOREVER,  # there is no other worker
    ) -> None:
        options = replace(options, partition_lease=lease)
        self.store = store
        self.options = options
        self.time = now
        self.respond = respond
        self.most_in_flight = 0
        self._address_of = address_of
        self._store_time = store_time  # seconds that each call of the store takes
        self._events: list[tuple[float, int, SimulatedEvent]] = []  # (time, order of scheduling, event)
        self._order = 0
        self._is_awake = False
        self.frontier = Frontier(
            options.politeness,
            active_hosts=options.frontier.active_hosts,
            in_flight=options.concurrent_requests,
            ahead=options.frontier.lease_ahead,
            most_hosts=options.frontier.most_hosts,
            bandwidth=options.bandwidth_limit,
        )
        self.frontier.restore_gates(store.frontier.gates())
        self.worker = Worker(self, options, self.frontier, draw, patience=math.inf, keep_every=math.inf)
        self.worker.open(self.renew_lease(), now)

    def run(self, until: float = math.inf) -> None:
        """Crawl until nothing is due within the horizon, or until a time."""
        self.worker.look_now()
        while not self.worker.is_done and self.next_event <= until and self.next_event < math.inf:
            self.step()
        if not self.worker.is_done and until < math.inf:
            self.time = max(self.time, until)

    @property
    def next_event(self) -> float:
        """The time of the next event; infinite if there is none."""
        while self._events and self._events[0][2].act is None:
            heapq.heappop(self._events)
        return self._events[0][0] if self._events else math.inf

    def step(self) -> None:
        """Advance the clock to the next event and run it."""
        at, _, event = heapq.heappop(self._events)
        self.time = max(self.time, at)
        if event.act is not None:
            event.act()
        if self._is_awake:
            self._is_awake = False
            self._release()

    def _release(self) -> None:
        while (visit := self.worker.next()) is not None:
            self.most_in_flight = max(self.most_in_flight, len(self.frontier.in_flight))
            visited = self.respond(visit, self.time)
            ended = visited.fetched.ended if visited.fetched is not None else self.time
            self.later(ended - self.time, partial(self.worker.settle, visited, _ignore))

    # ── what the worker needs from its runtime ──

    def now(self) -> float:
        return self.time

    def later(self, delay: float, act: Callable[[], object]) -> SimulatedEvent:
        self._order += 1
        event = SimulatedEvent(act)
        heapq.heappush(self._events, (self.time + delay, self._order, event))
        return event

    def in_store(self, act: Callable[[], T], then: Callable[[T], None]) -> None:
        self.later(self._store_time, partial(then, act()))

    def commit(self, batch: Sequence[VisitResult]) -> CommitAnswer:
        late: set[Key] = set()
        while True:
            ours = [settled for settled in batch if settled.visited.visit.key not in late]
            try:
                return CommitAnswer(self.store.commits.commit(ours, [], self.time), late)
            except LateCommit as error:
                late.update(error.keys)

    def compare(
        self, visited: Visited, others: Sequence[SimilarArchivedPage], then: Callable[[Mapping[int, float]], None]
    ) -> None:
        raise AssertionError("a simulation has no texts")

    def reconsider(self, unsure: UndecidedPage, then: Callable[[Mapping[int, float]], None]) -> None:
        raise AssertionError("a simulation has no texts")

    def study(self, lesson: TemplateJob, then: Callable[[TemplateResult], None]) -> None:
        raise AssertionError("a simulation has no texts")

    def renew_lease(self) -> Assignment:
        worker = WorkerStatus(slot=self.slot, owner=self.owner)
        lease, longest = self.options.partition_lease, self.options.fetch.limits.timeout
        return self.store.partitions.renew_lease(worker, self.time, lease, longest, self._full_rest)

    def lease_renewed(self) -> None: ...

    def _full_rest(self, name: str, clock: HostClock) -> HostClock:
        return self.options.politeness.after_unclean_stop(name, clock, self.time)

    def new_seeds(self) -> list[str]:
        return []

    def extend_scope(self, seeds: Sequence[str]) -> Callable[[], None]:
        raise AssertionError("a simulation has no seeds from outside")

    def known_address(self, host: str) -> str | None:
        return self._address_of(host) or None

    def look_up(self, host: str, then: Callable[[], None]) -> None:
        self.later(0.0, then)

    def may_release(self) -> bool:
        return True

    def wake(self) -> None:
        self._is_awake = True

    def acknowledged(self, host: str, visited: Visited) -> None: ...

    def committed(self, committed: CommitSummary) -> None: ...

    def count(self, what: str, times: int = 1) -> None: ...

    def fail(self, error: BaseException) -> None:
        raise error


def _ignore(_: BaseException | None) -> None:
    pass
