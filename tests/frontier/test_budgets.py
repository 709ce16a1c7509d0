"""The daily budgets of sites, under a virtual clock and on a real store."""

from __future__ import annotations

import doctest
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from crawler.frontier import budgets as module
from crawler.frontier.budgets import DAY, Budgets, day_of
from crawler.items import Kind, State, Visit, Visited
from crawler.stores.contract.store import Store
from crawler.stores.open import open_store
from crawler.urls.hosts import host_of
from crawler.urls.keys import key_of
from tests.defaults import politeness_with
from tests.frontier.simulation import Respond, Simulation, fetched_page
from tests.samples import NOW, link, new_url

FAST = politeness_with(min_delay=1.0, latency_factor=0.0)


@pytest.fixture
def farm(tmp_path: Path) -> Iterator[Store]:
    """A store with a budget of 20 visits a day for each site."""
    store = open_store(f"sqlite:{tmp_path / 'crawl.db'}", budgets=Budgets(domain_day=20))
    yield store
    store.close()


def linking(pages: int, hosts: int = 1) -> Respond:
    """A site whose front page links to all its pages, on several hosts."""

    def respond(visit: Visit, started: float) -> Visited:
        result = fetched_page(visit, started)
        if visit.kind is Kind.PAGE and visit.url.endswith(".site.test/") and result.page is not None:
            found = [link(f"http://h{page % hosts}.site.test/{page}") for page in range(pages)]
            return replace(result, page=replace(result.page, links=found))
        return result

    return respond


def visits_by_day(simulation: Simulation) -> Counter[int]:
    return Counter(
        day_of(request.started) for request in simulation.log if "site" in request.url and "robots" not in request.url
    )


@pytest.mark.parametrize("hosts", [1, 6])
def test_a_large_site_is_spread_over_days_and_visited_to_the_end(hosts: int, farm: Store) -> None:
    farm.urls.add_seeds([new_url("http://h0.site.test/")], NOW)
    simulation = Simulation(farm, linking(90, hosts), FAST, horizon=2 * DAY, REVISIT_INTERVAL=100 * DAY)
    simulation.run()
    days = visits_by_day(simulation)
    assert sum(days.values()) == 91
    assert max(days.values()) == 20
    assert list(days.values()) == [20, 20, 20, 20, 11]


def test_revisits_are_counted_too(farm: Store) -> None:
    farm.urls.add_seeds([new_url(f"http://h0.site.test/{page}") for page in range(30)], NOW)
    simulation = Simulation(farm, politeness=FAST, horizon=5 * DAY, REVISIT_INTERVAL=3 * DAY)
    simulation.run(until=NOW + 15 * DAY)
    assert max(visits_by_day(simulation).values()) == 20
    assert sum(visits_by_day(simulation).values()) > 90


def test_other_sites_do_not_wait(farm: Store) -> None:
    farm.urls.add_seeds([new_url("http://h0.site.test/"), *(new_url(f"http://other{n}.test/") for n in range(20))], NOW)
    simulation = Simulation(farm, linking(500), FAST)
    simulation.run()
    assert simulation.time < NOW + 100
    assert {host_of(url) for url in simulation.urls()} == {"h0.site.test", *(f"other{n}.test" for n in range(20))}
    parked = [farm.urls.find(key_of(f"http://h0.site.test/{page}")) for page in range(500)]
    assert sum(row is not None and row.state is State.PARKED for row in parked) == 481


def test_the_examples_are_true() -> None:
    assert doctest.testmod(module).failed == 0
