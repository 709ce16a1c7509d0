"""Partitions, addresses and remote robots.txt files are shared by several workers."""

from __future__ import annotations

import pytest

from crawler.items import Kind, Reason, RobotsFile, Visit
from crawler.stores.contract.commits import LateCommit
from crawler.stores.contract.partitions import PARTITIONS
from crawler.stores.contract.store import Store
from crawler.urls.hosts import partition_of
from crawler.urls.keys import host_key, key_of
from tests.contracts.engines import Opener
from tests.contracts.visits import ME, YOU, renew_lease
from tests.samples import NOW, new_url, visit_result, visited

ADDRESS = "192.0.2.1"
HOSTS = [f"h{number}.test" for number in range(200)]


def hosts_of(owner: str, store: Store) -> set[str]:
    """The names of the hosts that a worker may visit."""
    return {load.name for load in store.frontier.activate(owner, NOW, 10_000, 1, ())}


@pytest.fixture
def shared_store(opener: Opener) -> Store:
    store = opener()
    store.urls.add([new_url(f"http://{host}/") for host in HOSTS], NOW)
    renew_lease(store, ME, expected=2)
    renew_lease(store, YOU)
    return store


# ── Shares ──


def test_partitions_are_shared_and_each_host_belongs_to_one_worker(shared_store: Store) -> None:
    assert (
        len(renew_lease(shared_store, ME).partitions)
        == len(renew_lease(shared_store, YOU).partitions)
        == PARTITIONS // 2
    )
    mine, yours = hosts_of(ME, shared_store), hosts_of(YOU, shared_store)
    assert mine | yours == set(HOSTS)
    assert mine & yours == set()
    assert len(mine) > 50


def test_a_single_worker_holds_all_partitions_until_another_joins(opener: Opener) -> None:
    store = opener()
    assert len(renew_lease(store, ME).partitions) == PARTITIONS
    joined = renew_lease(store, YOU)
    assert (len(joined.partitions), joined.workers, joined.share) == (0, 2, PARTITIONS // 2)
    mine = renew_lease(store, ME)
    assert len(mine.partitions) - mine.share == PARTITIONS // 2  # to be released
    store.partitions.release(ME, sorted(mine.partitions)[: PARTITIONS // 2])
    assert len(renew_lease(store, YOU).partitions) == PARTITIONS // 2
    store.partitions.leave(ME)
    assert len(renew_lease(store, YOU).partitions) == PARTITIONS
    assert [worker.owner for worker in store.partitions.workers()] == [YOU]


def test_workers_see_the_status_of_each_other(shared_store: Store) -> None:
    assignment = renew_lease(shared_store, ME)
    assert (assignment.workers, assignment.pages_of_others) == (2, 7)
    first, second = shared_store.partitions.workers()
    assert (first.owner, first.slot, first.pages, first.partitions) == (ME, 0, 7, PARTITIONS // 2)
    assert second.lease_end == NOW + 60


def test_a_partition_with_a_leased_url_is_not_released(shared_store: Store) -> None:
    load = shared_store.frontier.activate(ME, NOW, 1, 1, ())[0]
    shared_store.frontier.lease(ME, load.visits, NOW)
    shared_store.partitions.release(ME, range(PARTITIONS))
    assert len(renew_lease(shared_store, YOU).partitions) == PARTITIONS // 2
    assert load.partition not in renew_lease(shared_store, YOU).partitions


def test_partitions_of_a_silent_worker_are_taken_over_when_its_requests_must_have_ended(shared_store: Store) -> None:
    load = shared_store.frontier.activate(ME, NOW, 1, 1, ())[0]
    (visit,) = shared_store.frontier.lease(ME, load.visits, NOW).granted
    assert len(renew_lease(shared_store, YOU, NOW + 119).partitions) == PARTITIONS // 2
    assignment = renew_lease(shared_store, YOU, NOW + 121, rest=9.0)
    assert (len(assignment.partitions), assignment.returned) == (PARTITIONS, 1)
    assert assignment.partitions[load.partition] > load.epoch
    row, host = shared_store.urls.find(visit.key), shared_store.urls.find_host(load.host, NOW)
    assert row is not None
    assert host is not None
    assert (row.reason, host.clock.next_visit) == (Reason.RETURNED, NOW + 130)
    with pytest.raises(LateCommit):
        shared_store.commits.commit([visit_result(visited(visit))], [], NOW + 122)
    assert not shared_store.frontier.lease(ME, load.visits, NOW + 122).granted


# ── Addresses and groups ──


def test_hosts_on_one_address_move_to_one_partition(shared_store: Store) -> None:
    mine, yours = sorted(hosts_of(ME, shared_store)), sorted(hosts_of(YOU, shared_store))
    first, second = host_key(mine[0]), host_key(mine[1])
    assert shared_store.partitions.claim_hosts(ME, [(first, ADDRESS)]) == {first}
    moved = host_key(yours[0])
    assert shared_store.partitions.claim_hosts(YOU, [(moved, ADDRESS)]) == set()  # it has moved
    assert yours[0] in hosts_of(ME, shared_store)
    assert shared_store.partitions.claim_hosts(ME, [(moved, ADDRESS)]) == {moved}
    shared_store.partitions.claim_hosts(ME, [(second, ADDRESS)])
    assert shared_store.partitions.claim_hosts(ME, [(second, ADDRESS)]) == {second}


def group_of(name: str) -> str:
    return "farm" if name.startswith("h1") else ""


def test_a_group_is_in_one_partition_and_gets_the_address_that_it_needs(opener: Opener) -> None:
    store = opener(group_of=group_of)
    store.urls.add([new_url(f"http://{host}/") for host in HOSTS], NOW)
    renew_lease(store, ME, expected=2)
    renew_lease(store, YOU)
    group_partition = partition_of("farm", PARTITIONS)
    owner = ME if group_partition in renew_lease(store, ME).partitions else YOU
    other = YOU if owner == ME else ME
    farm = {name for name in HOSTS if group_of(name)}
    assert farm <= hosts_of(owner, store)
    host, other_host = host_key(min(farm)), host_key(min(hosts_of(other, store)))
    assert store.partitions.claim_hosts(other, [(other_host, ADDRESS)]) == {other_host}
    assert store.partitions.claim_hosts(owner, [(host, ADDRESS)]) == set()  # it stays with its group
    assert min(farm) in hosts_of(owner, store)
    assert renew_lease(store, other).wanted == [ADDRESS]
    store.partitions.hand_over_addresses(other, [ADDRESS])
    assert store.partitions.claim_hosts(owner, [(host, ADDRESS)]) == {host}
    assert store.partitions.claim_hosts(other, [(other_host, ADDRESS)]) == set()  # it moves with its address


def test_regrouping_moves_hosts_to_the_partition_of_their_group(opener: Opener) -> None:
    store = opener()
    store.urls.add([new_url(f"http://{host}/") for host in HOSTS], NOW)
    store.close()
    store = opener(group_of=group_of)
    store.partitions.regroup()
    renew_lease(store, ME)
    partitions = {load.name: load.partition for load in store.frontier.activate(ME, NOW, 10_000, 1, ())}
    assert {partitions[name] for name in HOSTS if group_of(name)} == {partition_of("farm", PARTITIONS)}
    assert len({partitions[name] for name in HOSTS if not group_of(name)}) > 20


# ── Remote robots.txt files ──


def remote_robots_visit(origin: str, url: str) -> Visit:
    robots_key = key_of(f"{origin}/robots.txt")
    return Visit(key=robots_key, url=url, kind=Kind.ROBOTS, epoch=0, origin=origin, host_key=key_of(url).host, hops=1)


def test_a_remote_robots_txt_is_queued_for_the_owner_of_its_host_until_it_is_fetched(shared_store: Store) -> None:
    mine, yours = sorted(hosts_of(ME, shared_store)), sorted(hosts_of(YOU, shared_store))
    shared_store.partitions.add_remote_robots([remote_robots_visit(f"http://{mine[0]}", f"http://{yours[0]}/rules")])
    assert shared_store.partitions.remote_robots(ME, NOW) == []
    (found,) = shared_store.partitions.remote_robots(YOU, NOW)
    assert (found.origin, found.url, found.hops) == (f"http://{mine[0]}", f"http://{yours[0]}/rules", 1)
    (granted,) = shared_store.frontier.lease(YOU, [found], NOW).granted
    shared_store.frontier.unlease([granted], NOW)
    assert shared_store.partitions.remote_robots(YOU, NOW) == [found]  # until its visit is committed
    (granted,) = shared_store.frontier.lease(YOU, [found], NOW).granted
    rules = RobotsFile(host=granted.key.host, origin=granted.origin, status=200, body=b"", fetched=NOW, expires=NOW + 9)
    shared_store.commits.commit([visit_result(visited(granted, rules=rules))], [], NOW)
    assert shared_store.partitions.remote_robots(YOU, NOW) == []
    assert shared_store.urls.find_robots(granted.origin) == rules


def test_a_remote_robots_txt_on_a_held_host_holds_its_origin(shared_store: Store) -> None:
    mine, yours = sorted(hosts_of(ME, shared_store)), sorted(hosts_of(YOU, shared_store))
    shared_store.partitions.add_remote_robots([remote_robots_visit(f"http://{mine[0]}", f"http://{yours[0]}/rules")])
    shared_store.frontier.hold([(host_key(yours[0]), NOW + 500)])
    assert shared_store.partitions.remote_robots(YOU, NOW) == []
    rules = shared_store.urls.find_robots(f"http://{mine[0]}")
    assert rules is not None
    assert (rules.held_until, rules.expires, rules.fetched) == (NOW + 500, NOW + 500, NOW)
    assert shared_store.partitions.remote_robots(YOU, NOW + 600) == []  # its origin has an answer


# ── Worker numbers ──


def test_a_worker_number_belongs_to_one_directory(opener: Opener) -> None:
    store = opener()
    assert [store.partitions.new_slot("here"), store.partitions.new_slot("there")] == [0, 1]
    assert store.partitions.claim_slot("here", 0)
    assert not store.partitions.claim_slot("there", 0)
    assert store.partitions.claim_slot("there", 1)
    assert store.partitions.claim_slot("there", 7)  # nobody had it
    assert not store.partitions.claim_slot("here", 7)
    assert [store.partitions.new_slot("here") for _ in range(6)] == [2, 3, 4, 5, 6, 8]


def test_numbers_that_were_used_before_directories_were_known_are_not_given_again(opener: Opener) -> None:
    store = opener()
    renew_lease(store, ME)
    renew_lease(store, YOU)
    assert store.partitions.new_slot("there") == 2
    assert store.partitions.claim_slot("here", 0)
    store.partitions.leave(ME)
    store.partitions.leave(YOU)
    assert store.partitions.new_slot("there") == 1
