"""Every active host is in one state."""

from __future__ import annotations

from crawler.frontier.census import Census, census
from crawler.items import Visit, Visited
from crawler.stores.contract.store import Store
from tests.defaults import politeness_with
from tests.frontier.simulation import Simulation, fetched_page, seeded

URLS = [f"http://h{host}.test/{page}" for host in range(6) for page in range(4)]


def test_an_empty_frontier_has_no_active_hosts(store: Store) -> None:
    assert census(Simulation(store).frontier, 0.0) == Census()


def test_each_host_is_counted_once_at_any_time(store: Store) -> None:
    seen: list[Census] = []

    def respond(visit: Visit, started: float) -> Visited:
        seen.append(census(simulation.frontier, started))
        assert seen[-1].active == len(simulation.frontier.hosts)
        assert seen[-1].visiting == len(simulation.frontier.in_flight)
        return fetched_page(visit, started, took=1.0 + int(visit.url[8]))  # so that they do not keep step

    simulation = Simulation(seeded(store, *URLS), respond)
    simulation.run()
    assert max(taken.visiting for taken in seen) >= 1
    assert max(taken.resting for taken in seen) >= 4
    assert max(taken.queued for taken in seen) >= 18
    assert census(simulation.frontier, simulation.time) == Census()


def test_hosts_of_one_server_rest_with_it(store: Store) -> None:
    """While one is visited and the group allows no second connection, the others count as resting, not as ready."""
    seen: list[Census] = []

    def respond(visit: Visit, started: float) -> Visited:
        seen.append(census(simulation.frontier, started))
        return fetched_page(visit, started)

    politeness = politeness_with(groups=("*.test",))
    simulation = Simulation(seeded(store, *URLS), respond, politeness)
    simulation.run()
    assert {taken.ready for taken in seen[6:]} == {0}
    assert {taken.visiting for taken in seen} == {1}
