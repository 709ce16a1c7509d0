"""The bandwidth limits of the whole crawl and of one host."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from crawler.frontier.bandwidth import Bandwidth
from crawler.frontier.politeness import HostClock
from crawler.items import Key, Kind, Visit, Visited
from crawler.stores.contract.store import Store
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
    assert bucket.available_at(10.0) == pytest.approx(13.0)
    assert bucket.available_at(12.5) == pytest.approx(13.0)
    assert bucket.available_at(14.0) == 14.0
