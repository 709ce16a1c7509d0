"""The front queues choose which host comes next, under a virtual clock and on a real store."""

from __future__ import annotations

import doctest
from collections import Counter
from random import Random

import pytest

from crawler.frontier import priority
from crawler.frontier.priority import LEVELS, BiasedDraw
from crawler.items import Visit, Visited
from crawler.stores.contract.store import Store
from crawler.urls.keys import key_of
from tests.frontier.simulation import Simulation, fetched_page
from tests.samples import NOW, new_url


def pages(simulation: Simulation) -> list[str]:
    return [url for url in simulation.urls() if not url.endswith("robots.txt")]


def test_each_level_is_drawn_about_twice_as_often_as_the_next() -> None:
    draw = BiasedDraw(Random(5).random)
    counts = Counter(draw(range(LEVELS)) for _ in range(31_000))
    assert [counts[level] for level in range(LEVELS)] == pytest.approx(
        [31_000 * 0.5**n for n in range(1, LEVELS + 1)], rel=0.25
    )


def test_an_empty_level_is_never_drawn() -> None:
    draw = BiasedDraw(Random(5).random)
    assert {draw([1, 4]) for _ in range(1_000)} == {1, 4}


def test_important_hosts_come_first_and_no_host_waits_for_all_of_them(store: Store) -> None:
    important = [new_url(f"http://i{host}.test/{n}", depth=0) for host in range(40) for n in range(3)]
    other = [new_url(f"http://o{host}.test/{n}", depth=1) for host in range(40) for n in range(3)]
    store.urls.add([*other, *important], NOW)
    simulation = Simulation(store, active_hosts=10, queue_length=3, draw=BiasedDraw(Random(1).random))
    simulation.run()
    order = [url[7] for url in pages(simulation)]
    assert len(order) == 240
    first = order[:120]
    assert first.count("i") > 80
    assert first.count("o") > 4


def test_hosts_with_much_to_visit_take_turns_with_those_outside_the_window(store: Store) -> None:
    store.urls.add([new_url(f"http://big{host}.test/{n}") for host in range(4) for n in range(200)], NOW)
    store.urls.add([new_url(f"http://small{host}.test/") for host in range(30)], NOW + 1)
    simulation = Simulation(store, active_hosts=4, queue_length=10, now=NOW + 1)
    simulation.run()
    urls = pages(simulation)
    assert len(set(urls)) == len(urls) == 4 * 200 + 30
    last_small = max(place for place, url in enumerate(urls) if "small" in url)
    assert last_small < 200  # not behind the 800 pages of the big ones


def test_the_window_is_never_larger_than_allowed(store: Store) -> None:
    store.urls.add([new_url(f"http://h{host}.test/{n}") for host in range(50) for n in range(5)], NOW)
    sizes: set[int] = set()

    def respond(visit: Visit, started: float) -> Visited:
        sizes.add(len(simulation.frontier.hosts))
        return fetched_page(visit, started)

    simulation = Simulation(store, respond, active_hosts=7, queue_length=2)
    simulation.run()
    assert max(sizes) == 7
    assert len(pages(simulation)) == 250


def test_urgent_seeds_come_before_everything_that_waits(store: Store) -> None:
    store.urls.add([new_url(f"http://h{host}.test/{n}") for host in range(10) for n in range(5)], NOW)
    news = [new_url("http://news.test/breaking"), new_url("http://h3.test/4")]
    store.urls.add_seeds(news, NOW + 5, urgent=True)
    simulation = Simulation(store, active_hosts=2, queue_length=2, now=NOW + 5)
    simulation.run()
    assert set(pages(simulation)[:2]) == {"http://news.test/breaking", "http://h3.test/4"}


def test_an_urgent_seed_is_visited_again(store: Store) -> None:
    store.urls.add([new_url("http://a.test/")], NOW)
    first = Simulation(store)
    first.run()
    store.urls.add_seeds([new_url("http://a.test/")], first.time, urgent=True)
    second = Simulation(store, now=first.time + 60)
    second.run()
    assert pages(second) == ["http://a.test/"]
    row = store.urls.find(key_of("http://a.test/"))
    assert row is not None
    assert row.due > NOW + 86_400


def test_the_examples_are_true() -> None:
    assert doctest.testmod(priority).failed == 0
