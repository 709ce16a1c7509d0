"""The rate that the active hosts allow is measured, and the window grows if there are too few."""

from __future__ import annotations

import doctest

import pytest

from crawler.frontier import supply
from crawler.items import Visit, Visited
from crawler.stores.contract.store import Store
from crawler.urls.hosts import host_of
from tests.defaults import politeness_with
from tests.frontier.simulation import Simulation, fetched_page, seeded
from tests.samples import NOW, new_url

PACES = {"fast": 2.0, "slow": 20.0}


def test_the_rate_that_the_hosts_allow_is_known(store: Store) -> None:
    def respond(visit: Visit, started: float) -> Visited:
        return fetched_page(visit, started, took=PACES[visit.url[7:11]] / 10)

    urls = [f"http://{pace}{host}.test/{page}" for pace in PACES for host in range(10) for page in range(30)]
    politeness = politeness_with(min_delay=0.0, latency_factor=9.0, latency_cap=100.0, own_hosts=("*",))
    simulation = Simulation(seeded(store, *urls), respond, politeness)
    simulation.run(until=NOW + 50)
    found = simulation.frontier.supply
    assert found.rate == pytest.approx(10 / 2 + 10 / 20, rel=0.1)
    assert found.hosts_needed(11) == pytest.approx(40, rel=0.1)
    assert found.connection_rate(50) == pytest.approx(50 / found.latency)
    assert 40 < found.starved <= 50


def test_the_window_grows_while_connections_are_free_and_no_host_is_ready(store: Store) -> None:
    store.urls.add([new_url(f"http://h{host}.test/{page}") for host in range(60) for page in range(20)], NOW)
    simulation = Simulation(store, active_hosts=4, FRONTIER_MOST_HOSTS=40, queue_length=10)
    simulation.run(until=NOW + 100)
    assert simulation.frontier.window == 40
    assert len({host_of(url) for url in simulation.urls()}) > 30


def test_the_window_stays_as_it_is_when_there_is_enough_to_do(store: Store) -> None:
    store.urls.add([new_url(f"http://h{host}.test/{page}") for host in range(60) for page in range(20)], NOW)
    politeness = politeness_with(min_delay=0.0, latency_factor=0.0, own_hosts=("*",))
    simulation = Simulation(
        store, politeness=politeness, active_hosts=30, FRONTIER_MOST_HOSTS=60, CONCURRENT_REQUESTS=5
    )
    simulation.run(until=NOW + 10)
    assert simulation.frontier.window == 30


def test_an_urgent_seed_overtakes_the_queue_of_an_active_host(store: Store) -> None:
    store.urls.add([new_url(f"http://a.test/{page}") for page in range(100)], NOW)
    simulation = Simulation(store, queue_length=50)
    simulation.run(until=NOW + 20)
    before = len(simulation.log)
    store.urls.add_seeds([new_url("http://a.test/news"), new_url("http://a.test/99")], simulation.time, urgent=True)
    simulation.run(until=simulation.time + 60)
    assert set(simulation.urls()[before : before + 4]) >= {"http://a.test/news", "http://a.test/99"}


def test_the_examples_are_true() -> None:
    assert doctest.testmod(supply).failed == 0
