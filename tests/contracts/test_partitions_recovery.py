"""URLs that a dead worker had leased are returned or quarantined."""

from __future__ import annotations

from msgspec.structs import replace

from crawler.items import Kind, Reason, State
from crawler.stores.contract.store import Store
from crawler.urls.keys import key_of
from tests.contracts.visits import lease_all, states
from tests.defaults import politeness_with
from tests.samples import NOW, acquire, new_url, visit_result, visit_to, visited

A, B = "http://a.test/", "http://b.test/"


def test_urls_leased_by_a_dead_worker_wait_again_and_their_hosts_rest(store: Store) -> None:
    store.urls.add([new_url(A), new_url(B)], NOW)
    (load, _) = store.frontier.activate("me", NOW, 10, 10, ())
    store.frontier.lease("me", load.visits, NOW)
    politeness = politeness_with(min_delay=5, latency_factor=0)
    recovered = store.partitions.recover(
        [0], NOW + 1, lambda name, clock: politeness.after_unclean_stop(name, clock, NOW + 1)
    )
    assert (recovered.returned, recovered.quarantined) == (1, 0)
    assert states(store) == (2, 2, 0, 0)
    row, host = store.urls.find(load.visits[0].key), store.urls.find_host(load.host, NOW)
    other = store.urls.find_host(next(key_of(url).host for url in (A, B) if key_of(url).host != load.host), NOW)
    assert row is not None
    assert host is not None
    assert other is not None
    assert (row.reason, row.crashes) == (Reason.RETURNED, 1)
    assert (host.clock.next_visit, other.clock.next_visit) == (NOW + 6, 0)


def test_recovering_twice_changes_nothing(store: Store) -> None:
    store.urls.add([new_url(A)], NOW)
    lease_all(store)
    store.partitions.recover([0], NOW, lambda name, clock: clock)
    again = store.partitions.recover([0], NOW, lambda name, clock: clock)
    assert (again.returned, again.quarantined) == (0, 0)


def test_leases_of_other_slots_are_not_touched(store: Store) -> None:
    store.urls.add([new_url(A)], NOW)
    lease_all(store)
    assert store.partitions.recover([1], NOW, lambda name, clock: clock).returned == 0
    assert states(store) == (1, 0, 1, 0)


def test_a_url_is_quarantined_only_after_a_worker_died_while_it_visited_nothing_else(store: Store) -> None:
    store.urls.add([new_url(A)], NOW)
    for crash in range(1, 7):
        acquire(store, "me", 0, NOW, 60, 60)
        (visit,) = lease_all(store)
        assert visit.crashes == crash - 1
        recovered = store.partitions.recover([0], NOW, lambda name, clock: clock)
        assert recovered.quarantined == (crash == 6)
    row = store.urls.find(key_of(A))
    assert row is not None
    assert (row.state, row.reason) == (State.PARKED, Reason.CRASHED)


def test_a_committed_visit_resets_the_crash_count(store: Store) -> None:
    store.urls.add([new_url(A)], NOW)
    lease_all(store)
    store.partitions.recover([0], NOW, lambda name, clock: clock)
    acquire(store, "me", 0, NOW, 60, 60)
    (visit,) = lease_all(store)
    store.commits.commit([visit_result(visited(visit))], [], NOW)
    row = store.urls.find(key_of(A))
    assert row is not None
    assert row.crashes == 0


def test_a_robots_txt_that_is_quarantined_holds_its_origin_for_an_hour(store: Store) -> None:
    store.urls.add([new_url(A)], NOW)
    robots = visit_to("http://a.test/robots.txt", kind=Kind.ROBOTS, origin="http://a.test")
    for _ in range(6):
        acquire(store, "me", 0, NOW, 60, 60)
        (load,) = store.frontier.activate("me", NOW, 10, 10, ())
        store.frontier.lease("me", [replace(robots, epoch=load.epoch)], NOW)
        store.partitions.recover([0], NOW, lambda name, clock: clock)
    rules = store.urls.find_robots("http://a.test")
    assert rules is not None
    assert rules.held_until == NOW + 3_600


def test_the_contacted_host_rests_and_not_the_host_of_the_key(store: Store) -> None:
    store.urls.add([new_url(A), new_url(B)], NOW)
    robots = visit_to("http://a.test/robots.txt", kind=Kind.ROBOTS, host_key=key_of(B).host)
    store.frontier.lease("me", [robots], NOW)
    store.partitions.recover([0], NOW, lambda name, clock: replace(clock, next_visit=NOW + 5))
    key_host, contacted = store.urls.find_host(key_of(A).host, NOW), store.urls.find_host(key_of(B).host, NOW)
    assert key_host is not None
    assert contacted is not None
    assert (key_host.clock.next_visit, contacted.clock.next_visit) == (0, NOW + 5)
