"""Hosts of one group or one server share a clock, under a virtual clock and on a real store."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import partial
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from crawler.frontier.gates import Gates
from crawler.items import CrawlLimits, Outcome, Reason, Visit, Visited
from crawler.stores.contract.store import Store
from crawler.stores.open import open_store
from crawler.urls.hosts import host_of
from crawler.urls.keys import key_of
from tests.defaults import politeness_with
from tests.frontier.simulation import Request, Respond, Simulation, fetched_page, seeded
from tests.samples import NOW, new_url


def served_from(*addresses: str, took: float = 0.1) -> Respond:
    """Hosts h0, h1, … take turns with these addresses."""

    def respond(visit: Visit, started: float) -> Visited:
        result = fetched_page(visit, started, took)
        assert result.fetched is not None
        return replace(result, fetched=replace(result.fetched, address=address_in(addresses, host_of(visit.url))))

    return respond


def address_in(addresses: Sequence[str], host: str) -> str:
    return addresses[int(host.split(".")[0].strip("h")) % len(addresses)]


def most_at_once(requests: list[Request]) -> int:
    events = sorted([(each.started, 1) for each in requests] + [(each.ended, -1) for each in requests])
    now = most = 0
    for _, change in events:
        now += change
        most = max(most, now)
    return most


def gaps(requests: list[Request]) -> list[float]:
    ordered = sorted(requests, key=lambda each: each.started)
    return [later.started - earlier.ended for earlier, later in pairwise(ordered)]


GROUPED = politeness_with(groups=("*.farm.test", "one.test"))


def test_hosts_of_a_group_are_visited_as_one(store: Store) -> None:
    urls = [f"http://h{host}.farm.test/{n}" for host in range(8) for n in range(3)]
    simulation = Simulation(seeded(store, *urls, "http://h0.else.test/"), politeness=GROUPED)
    simulation.run()
    farm = [request for request in simulation.log if "farm" in request.host]
    assert {request.url for request in farm} >= set(urls)
    assert min(gaps(farm)) >= 5 - 1e-6
    assert max(gaps(farm)) < 7  # and do not wait longer than one host would


def test_a_group_takes_its_hosts_in_turn(store: Store) -> None:
    urls = [f"http://h{host}.farm.test/{n}" for host in range(5) for n in range(10)]
    simulation = Simulation(seeded(store, *urls), politeness=GROUPED)
    simulation.run()
    first = [request.host for request in simulation.log][:15]
    assert all(first.count(f"h{host}.farm.test") >= 2 for host in range(5))


def test_a_retry_after_holds_the_whole_group(store: Store) -> None:
    busy_at: list[float] = []

    def respond(visit: Visit, started: float) -> Visited:
        result = fetched_page(visit, started)
        if visit.url.endswith("/busy") and not busy_at:
            busy_at.append(started)
            return replace(result, outcome=Outcome.BUSY, reason=Reason.BUSY, retry_after=600.0, page=None)
        return result

    urls = [f"http://h{host}.farm.test/{n}" for host in range(4) for n in (1, 2, 3, "busy")]
    simulation = Simulation(seeded(store, *urls), respond, GROUPED, horizon=1000)
    simulation.run()
    later = [request.started for request in simulation.log if request.started > busy_at[0]]
    assert min(later) >= busy_at[0] + 600
    assert {request.url for request in simulation.log} >= set(urls)


def test_a_group_rests_across_crawls(store: Store) -> None:
    simulation = Simulation(seeded(store, "http://h0.farm.test/"), politeness=GROUPED)
    simulation.run()
    last = max(request.ended for request in simulation.log)
    store.urls.add([new_url("http://h1.farm.test/")], NOW)
    again = Simulation(store, politeness=GROUPED, now=last + 0.1)
    again.run()
    assert min(request.started for request in again.log) >= last + 5


def test_a_server_with_many_names_has_four_visitors_at_most_and_a_gap_between(store: Store) -> None:
    urls = [f"http://h{host}.test/{n}" for host in range(40) for n in range(4)]
    simulation = Simulation(seeded(store, *urls), served_from("shared", took=2.0), address_of=lambda host: "shared")
    simulation.run()
    assert {request.url for request in simulation.log} >= set(urls)
    assert most_at_once(simulation.log) == 4
    ends = sorted(request.ended for request in simulation.log)
    for request in simulation.log:
        before = [end for end in ends if end <= request.started]
        assert not before or request.started - before[-1] >= 0.5 - 1e-6


def test_servers_do_not_wait_for_each_other(store: Store) -> None:
    urls = [f"http://h{host}.test/{n}" for host in range(20) for n in range(3)]
    servers = [f"server {n}" for n in range(20)]
    simulation = Simulation(seeded(store, *urls), served_from(*servers), address_of=partial(address_in, servers))
    simulation.run()
    assert simulation.time - NOW < 3 * (5.0 + 0.2) + 6


def test_own_hosts_share_a_server_without_a_gap(store: Store) -> None:
    politeness = politeness_with(min_delay=0.1, own_hosts=("*.test",))
    urls = [f"http://h{host}.test/{n}" for host in range(8) for n in range(5)]
    simulation = Simulation(seeded(store, *urls), served_from("shared"), politeness, address_of=lambda host: "shared")
    simulation.run()
    assert simulation.time - NOW < 8
    assert most_at_once(simulation.log) <= 4


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_gate_is_ever_passed_early_and_every_url_is_visited(data: st.DataObject, tmp_path_factory: object) -> None:
    assert isinstance(tmp_path_factory, pytest.TempPathFactory)
    store = open_store(f"sqlite:{tmp_path_factory.mktemp('gates') / 'crawl.db'}")
    try:
        hosts = data.draw(st.integers(1, 12))
        addresses = data.draw(st.lists(st.sampled_from("ABC"), min_size=1, max_size=4))
        grouped = data.draw(st.integers(0, hosts))
        names = [f"h{n}.{'farm.test' if n < grouped else 'test'}" for n in range(hosts)]
        counts = {name: data.draw(st.integers(1, 4)) for name in names}
        urls = [f"http://{name}/{n}" for name, count in counts.items() for n in range(count)]
        took = data.draw(st.sampled_from([0.01, 0.3, 3.0]))
        simulation = Simulation(
            seeded(store, *urls),
            served_from(*addresses, took=took),
            dataclasses.replace(GROUPED, address_connections=2),
            address_of=partial(address_in, addresses),
        )
        simulation.run()
        assert {request.url for request in simulation.log} >= set(urls)
        farm = [request for request in simulation.log if "farm" in request.host]
        assert all(gap >= 5 - 1e-6 for gap in gaps(farm))
        for name in names:
            assert all(gap >= 5 - 1e-6 for gap in simulation.gaps(name))
        for address in set(addresses):
            mine = {name for name in names if address_in(addresses, name) == address}
            assert most_at_once([request for request in simulation.log if request.host in mine]) <= 2
    finally:
        store.close()


def test_a_gate_that_became_unused_twice_is_dropped_once() -> None:
    gates = Gates()
    for _ in range(2):
        gates.leave(gates.enter("server", 4, NOW))
    gates.enter("other", 4, NOW + 1)  # drops unused gates, and only once
    second = gates.enter("server", 4, NOW + 2)
    gates.enter("another", 4, NOW + 3)
    assert gates.enter("server", 4, NOW + 4) is second


def test_a_leased_visit_waits_for_the_server_whose_answer_has_just_ended(store: Store) -> None:
    urls = [f"http://h{host}.test/{n}" for host in range(3) for n in range(12)]
    simulation = Simulation(seeded(store, *urls), served_from("shared", took=0.7), address_of=lambda host: "shared")
    simulation.run()
    ends = sorted(request.ended for request in simulation.log)
    for request in simulation.log:
        before = [end for end in ends if end <= request.started]
        assert not before or request.started - before[-1] >= 0.5 - 1e-6


def test_a_busy_host_of_a_group_delays_the_whole_group(store: Store) -> None:
    def respond(visit: Visit, started: float) -> Visited:
        result = fetched_page(visit, started)
        if result.rules is not None and visit.url.startswith("http://h0."):
            return replace(result, rules=replace(result.rules, crawl_limits=CrawlLimits(crawl_delay=60.0)))
        return result

    urls = [f"http://h{host}.farm.test/{n}" for host in range(3) for n in range(2)]
    simulation = Simulation(seeded(store, *urls), respond, GROUPED)
    simulation.run()
    for request, later in pairwise(simulation.log):
        assert later.started - request.ended >= (60 if request.host.startswith("h0.") else 5) - 1e-6


def test_a_leased_visit_obeys_a_rest_that_its_host_demands_meanwhile(store: Store) -> None:
    frontier = Simulation(seeded(store, "http://a.test/1", "http://b.test/")).frontier
    for load in store.frontier.activate("me", NOW, 9, 9, ()):
        frontier.activate(load, NOW)
    visits = frontier.to_lease(NOW)
    frontier.leases_granted(visits, store.frontier.lease("me", visits, NOW).granted)
    back = frontier.hosts[key_of("http://a.test/").host]
    back.clock = replace(back.clock, next_visit=NOW + 40)
    first, second = frontier.next(NOW), frontier.next(NOW)
    assert first is not None
    assert (first.host_key, second) == (key_of("http://b.test/").host, None)
    assert frontier.next(NOW + 39) is None
    assert frontier.next_time(NOW + 1) == NOW + 40
    last = frontier.next(NOW + 40)
    assert last is not None
    assert last.host_key == back.host
