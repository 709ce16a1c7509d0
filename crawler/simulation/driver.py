"""Drive a crawl under a virtual clock: weeks of crawling in minutes.

Frontier, politeness, worker and store are the real ones. Only the network is replaced, by a function that returns the
result of a visit and when it ends.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Collection, Sequence
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
from crawler.stores.contract.store import Store
from crawler.worker.committer import CommitAnswer
from crawler.worker.focus_learner import FocusLearner
from crawler.worker.runtime import PageReader, Runtime, ignore_result
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


class VirtualClock:
    """Time that passes only from one event to the next."""

    def __init__(self, now: float) -> None:
        self.time = now
        self._events: list[tuple[float, int, SimulatedEvent]] = []  # (time, order of scheduling, event)
        self._order = 0

    def now(self) -> float:
        return self.time

    def later(self, delay: float, act: Callable[[], object]) -> SimulatedEvent:
        self._order += 1
        event = SimulatedEvent(act)
        heapq.heappush(self._events, (self.time + delay, self._order, event))
        return event

    @property
    def next_event(self) -> float:
        """The time of the next event; infinite if there is none."""
        while self._events and self._events[0][2].act is None:
            heapq.heappop(self._events)
        return self._events[0][0] if self._events else math.inf

    def run_next_event(self) -> None:
        """Advance to the next event and run it."""
        at, _, event = heapq.heappop(self._events)
        self.time = max(self.time, at)
        if event.act is not None:
            event.act()


class SimulatedStoreThread:
    """Runs calls of the store at once, and delivers their results after a delay."""

    def __init__(self, clock: VirtualClock, delay: float) -> None:
        self._clock = clock
        self._delay = delay

    def run(self, act: Callable[[], T], then: Callable[[T], None]) -> None:
        self._clock.later(self._delay, partial(then, act()))


class Simulation:
    """One worker under a virtual clock; it also is the store access, the host names and the engine of that worker."""

    owner = "simulation"
    slot = 0
    learner: FocusLearner | None = None

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
        page_reader: PageReader | None = None,
    ) -> None:
        options = replace(options, partition_lease=lease)
        self.store = store
        self.options = options
        self.clock = VirtualClock(now)
        self.respond = respond
        self.most_in_flight = 0
        self._address_of = address_of
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
        runtime = Runtime(
            clock=self.clock,
            store_thread=SimulatedStoreThread(self.clock, store_time),
            store_access=self,
            host_names=self,
            engine=self,
            page_reader=page_reader,
        )
        self.worker = Worker(runtime, options, self.frontier, draw, look_when_idle=math.inf, renew_every=math.inf)
        self.worker.open(self.renew_lease(), now)

    @property
    def time(self) -> float:
        return self.clock.time

    def run(self, until: float = math.inf) -> None:
        """Crawl until nothing is due within the horizon, or until a time."""
        self.worker.look_now()
        while not self.worker.is_done and self.clock.next_event <= until and self.clock.next_event < math.inf:
            self.step()
        if not self.worker.is_done and until < math.inf:
            self.clock.time = max(self.time, until)

    def step(self) -> None:
        """Advance the clock to the next event and run it, then send the visits that are ready."""
        self.clock.run_next_event()
        if self._is_awake:
            self._is_awake = False
            self._send_visits()

    def _send_visits(self) -> None:
        while (visit := self.worker.next_visit()) is not None:
            self.most_in_flight = max(self.most_in_flight, len(self.frontier.in_flight))
            visited = self.respond(visit, self.time)
            ended = visited.fetched.ended if visited.fetched is not None else self.time
            self.clock.later(ended - self.time, partial(self.worker.finish_visit, visited, ignore_result))

    # ── the store access of the worker ──

    def commit(self, batch: Sequence[VisitResult], wanted: Collection[Key]) -> CommitAnswer:
        late: set[Key] = set()
        while True:
            ours = [result for result in batch if result.visited.visit.key not in late]
            try:
                return CommitAnswer(self.store.commits.commit(ours, [], self.time), late)
            except LateCommit as error:
                late.update(error.keys)

    def renew_lease(self) -> Assignment:
        worker = WorkerStatus(slot=self.slot, owner=self.owner)
        lease, longest = self.options.partition_lease, self.options.fetch.limits.timeout
        return self.store.partitions.renew_lease(worker, self.time, lease, longest, self._full_rest)

    def _full_rest(self, name: str, clock: HostClock) -> HostClock:
        return self.options.politeness.after_unclean_stop(name, clock, self.time)

    def new_seeds(self) -> list[str]:
        return []  # no other process adds any

    def open_scope(self, seeds: Sequence[str]) -> None: ...

    # ── its host names ──

    def known_address(self, host: str) -> str | None:
        return self._address_of(host) or None

    def look_up(self, host: str, then: Callable[[], None]) -> None:
        self.clock.later(0.0, then)

    # ── its engine ──

    def may_release(self) -> bool:
        return True

    def wake(self) -> None:
        self._is_awake = True

    def visit_acknowledged(self, host: str, visited: Visited) -> None: ...

    def batch_committed(self, summary: CommitSummary) -> None: ...

    def lease_renewed(self) -> None: ...

    def seeds_added(self, seeds: Sequence[str]) -> None: ...

    def count(self, stat: str, times: int = 1) -> None: ...

    def fail(self, error: BaseException) -> None:
        raise error
