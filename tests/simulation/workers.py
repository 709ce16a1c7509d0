"""Several workers on one store under a virtual clock: they join, end, die, and are stopped and wake again."""

from __future__ import annotations

import math
from pathlib import Path
from random import Random

from crawler.frontier.priority import BiasedDraw
from crawler.items import Key, Visit, Visited
from crawler.options import Options
from crawler.simulation.driver import Simulation
from crawler.stores.contract.store import Store
from crawler.stores.contract.urls import NewUrl
from crawler.stores.open import open_store
from tests.defaults import options_with
from tests.frontier.month import POLITENESS, START, Web

LEASE = 30.0
LONGEST = 20.0  # request


class Worker(Simulation):
    """One of them."""

    def __init__(self, crew: Crew, slot: int, store: Store, options: Options, now: float) -> None:
        self.owner, self.slot = f"worker {slot}", slot
        self._crew = crew
        self.asleep_until = 0.0
        self.ends: dict[Key, float] = {}  # of answers
        draw = BiasedDraw(Random(slot).random)
        super().__init__(
            store, options, self._respond, now=now, draw=draw, address_of=crew.web.address, lease=LEASE, store_time=0.005
        )  # fmt: skip
        self.late = 0

    def _respond(self, visit: Visit, started: float) -> Visited:
        visited = self._crew.web.respond(visit, started)
        assert visited.fetched is not None
        self.ends[visit.key] = visited.fetched.ended
        return visited

    @property
    def wakes_at(self) -> float:
        return max(self.clock.next_event, self.asleep_until)

    def count(self, what: str, times: int = 1) -> None:
        self.late += times if what == "commit/late" else 0


class Crew:
    """Workers, and the web that judges what they do together."""

    def __init__(self, directory: Path, web: Web, urls: list[NewUrl]) -> None:
        self.web = web
        self.time = START
        self.workers: list[Worker] = []
        self.uncommitted = 0  # visits of workers that died
        self._slots = 0
        self.store = open_store(f"sqlite:{directory / 'crawl.db'}", durable=False, group_of=POLITENESS.group_of)
        self.store.urls.add(urls, START)

    def join(self) -> Worker:
        options = options_with(
            politeness=POLITENESS, FRONTIER_ACTIVE_HOSTS=40, FRONTIER_MOST_HOSTS=40, CRAWL_HORIZON=3_600,
            COMMIT_INTERVAL=1.0, FRONTIER_LEASE_AHEAD=1.0, REVISIT_INTERVAL=1e9, FETCH_TIMEOUT=LONGEST,
        )  # fmt: skip
        worker = Worker(self, self._slots, self.store, options, self.time)
        self._slots += 1
        self.workers.append(worker)
        return worker

    def kill(self, worker: Worker) -> None:
        """Nothing of it happens any more; its slot's lock is free, and somebody notices."""
        self.lose(worker)
        # Here servers answer a dead worker to the end; it is noticed then.
        self.run(max([0.0, *(worker.ends[key] - self.time for key in worker.frontier.in_flight)]))
        now = self.time
        self.store.partitions.recover(
            [worker.slot], now, lambda name, clock: POLITENESS.after_unclean_stop(name, clock, now)
        )

    def lose(self, worker: Worker) -> None:
        """Nothing of it happens any more, and nobody can tell but by its lease."""
        self.workers.remove(worker)
        self.uncommitted += len(worker.frontier.in_flight) + worker.worker.uncommitted

    def stop(self, worker: Worker, seconds: float) -> None:
        worker.asleep_until = self.time + seconds

    def end(self, worker: Worker) -> None:
        """It stops in good order."""
        worker.worker.stop()
        while worker.frontier.in_flight or worker.worker.uncommitted or worker.worker.is_waiting:
            if not worker.frontier.in_flight and not worker.worker.is_waiting:
                worker.worker.flush()
            worker.step()
        self.store.partitions.leave(worker.owner)
        self.workers.remove(worker)

    def run(self, seconds: float = math.inf) -> None:
        """Until all are done, or for a time."""
        until = self.time + seconds
        while True:
            busy = [worker for worker in self.workers if not worker.worker.is_done]
            worker = min(busy, key=lambda worker: worker.wakes_at, default=None)
            if worker is None or worker.wakes_at > until:
                break
            worker.clock.time = self.time = max(self.time, worker.wakes_at)
            worker.step()
        if seconds < math.inf:
            self.time = max(self.time, until)
