"""The bandwidth limits of the whole crawl and of one host."""

from __future__ import annotations

import random

import pytest
from msgspec.structs import replace

from crawler.frontier.bandwidth import Bandwidth
from crawler.frontier.politeness import HostClock
from crawler.items import Key, Kind, Visit, Visited
from crawler.stores.contract.store import Store
from crawler.worker.worker import SETTLE_RENEWALS
from tests.defaults import politeness_with
from tests.frontier.simulation import Respond, Simulation, fetched_page, seeded
from tests.samples import NOW

SIZE = 100_000


def answering(size: int) -> Respond:
    def respond(visit: Visit, started: float) -> Visited:
        result = fetched_page(visit, started, took=0.05)
        assert result.fetched is not None
        body = b"x" * size if visit.kind is Kind.PAGE else b""
        return replace(result, fetched=replace(result.fetched, body=body))

    return respond


def test_all_hosts_together_send_no_more_than_the_limit(store: Store) -> None:
    urls = [f"http://h{host}.test/{page}" for host in range(100) for page in range(3)]
    simulation = Simulation(seeded(store, *urls), answering(SIZE), BANDWIDTH_LIMIT=1_000_000)
    simulation.run()
    answer_received = sorted(request.ended for request in simulation.log if not request.url.endswith("robots.txt"))
    assert len(answer_received) == 300
    assert answer_received[-1] - answer_received[0] == pytest.approx(
        300 * SIZE / 1_000_000, abs=3
    )  # it is the limit that it waits for
    for first in range(0, 300, 10):
        within = [end for end in answer_received if answer_received[first] <= end < answer_received[first] + 5]
        assert len(within) * SIZE <= 1_000_000 * (5 + 1) + 50 * SIZE  # a second's worth at once, and what is under way


def test_without_a_limit_nobody_waits(store: Store) -> None:
    urls = [f"http://h{host}.test/" for host in range(40)]
    simulation = Simulation(seeded(store, *urls), answering(SIZE))
    simulation.run()
    assert simulation.time - NOW < 8


def test_a_host_rests_until_its_bandwidth_allows_the_next_visit(store: Store) -> None:
    urls = [f"http://a.test/{page}" for page in range(6)]
    politeness = politeness_with(min_delay=1.0, latency_factor=0.0, bandwidth_host_limit=10_000)
    simulation = Simulation(seeded(store, *urls), answering(SIZE), politeness)
    simulation.run()
    pages = [request for request in simulation.log if not request.url.endswith("robots.txt")]
    assert len(pages) == 6
    seconds = pages[-1].started - pages[0].started
    assert 5 * SIZE / seconds <= 10_000
    assert seconds < 5 * (SIZE + 200) / 10_000 + 2


def test_the_length_of_the_last_answer_demands_a_rest() -> None:
    clock = HostClock(latency=2.0, last_bytes=50_000)
    assert politeness_with(min_delay=1, latency_factor=0, bandwidth_host_limit=1_000).rest("a.test", clock) == 48.0
    assert politeness_with(min_delay=1, latency_factor=0).rest("a.test", clock) == 1.0


def test_an_empty_bucket_knows_when_the_next_request_may_be_sent() -> None:
    bucket = Bandwidth(1_000)
    assert bucket.available_at(10.0) == 10.0
    bucket.request_sent(Key(1, 1), 10.0)
    bucket.answer_received(Key(1, 1), 4_000)
    assert bucket.available_at(10.0) == pytest.approx(13.5)
    assert bucket.available_at(12.5) == pytest.approx(13.5)
    assert bucket.available_at(14.0) == 14.0


# ── several workers ──

LIMIT = 1_000_000.0
RENEW_EVERY, LEASE = 2.0, 20.0


class SharingWorker:
    """A worker that always has a host to visit, with its bucket; it knows of others since its last renewal."""

    def __init__(self, number: int, started: float, chance: random.Random) -> None:
        self.bucket = Bandwidth(LIMIT)
        self.number = number
        self.renew_at = started
        self.is_alive = True
        self.pending: list[tuple[float, Key, int]] = []  # answers under way: when they end, of what length
        self._chance = chance
        self._sent = 0
        self._is_new = True

    def renew(self, now: float, living: int) -> None:
        self.bucket.divide(living, now)
        if self._is_new and living > 1:
            self.bucket.pause(now + SETTLE_RENEWALS * RENEW_EVERY)
        self._is_new = False
        self.renew_at = now + RENEW_EVERY * self._chance.uniform(1.0, 1.2)

    def step(self, now: float) -> int:
        """Receive what has arrived, send what may be sent, and return the bytes that were received."""
        arrived = [answer for answer in self.pending if answer[0] <= now]
        self.pending = [answer for answer in self.pending if answer[0] > now]
        for _, key, size in arrived:
            self.bucket.answer_received(key, size)
        while self.is_alive and self.bucket.available_at(now) <= now and len(self.pending) < 1_000:
            self._sent += 1
            key, size = Key(self.number, self._sent), int(self._chance.lognormvariate(9.5, 0.8))
            self.bucket.request_sent(key, now)
            self.pending.append((now + self._chance.uniform(0.05, 0.5), key, size))
        return sum(size for *_, size in arrived)


@pytest.mark.parametrize("seed", range(5))
def test_workers_that_join_and_die_receive_no_more_than_the_limit_together(seed: int) -> None:
    chance = random.Random(seed)
    workers = [SharingWorker(0, 0.0, chance)]
    joins = {chance.uniform(10, 15): 1, chance.uniform(20, 30): 2, chance.uniform(30, 31): 3}
    deaths = {chance.uniform(40, 45): 1, chance.uniform(60, 65): 2}
    seen: dict[int, float] = {}  # worker → when its lease ends, as the store has it
    received: list[tuple[float, int]] = []
    for tick in range(10_000):
        now = tick / 100
        for started, number in list(joins.items()):
            if started <= now:
                del joins[started]
                workers.append(SharingWorker(number, now, chance))
        for at, number in deaths.items():
            if at <= now:
                workers[number].is_alive = False
        for worker in workers:
            if worker.is_alive and worker.renew_at <= now:
                seen[worker.number] = now + LEASE
                worker.renew(now, sum(end > now for end in seen.values()))
            received.append((now, worker.step(now)))
    assert len(seen) == 4
    for start in range(1, 90):
        within = sum(size for at, size in received if start <= at < start + 10)
        assert within <= 1.1 * 10 * LIMIT
    quiet = sum(size for at, size in received if 85 <= at < 95)  # the dead ones' parts are in use again
    assert quiet > 0.9 * 10 * LIMIT
