"""Who may visit what: partitions, servers, groups and errands, for several workers."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from crawler.frontier.politeness import HostClock
from crawler.items import Kind, Reason, Refusal, RobotsFile, State, Visit
from crawler.stores.contract.commits import LateCommit
from crawler.stores.contract.partitions import Assignment, WorkerStatus
from crawler.stores.contract.store import Store
from crawler.stores.sqlite.schema import PARTITIONS
from crawler.urls.hosts import partition_of
from crawler.urls.keys import host_key, key_of
from tests.contracts.engines import Opener
from tests.samples import NOW, link, new_url, visit_result, visited

ME, YOU = "me", "you"
SERVER = "192.0.2.1"
HOSTS = [f"h{number}.test" for number in range(200)]


def kept(store: Store, owner: str, now: float = NOW, *, expected: int = 1, rest: float = 0.0) -> Assignment:
    def full_rest(name: str, clock: HostClock) -> HostClock:
        return replace(clock, next_visit=now + rest)

    worker = WorkerStatus(slot=[ME, YOU].index(owner), owner=owner, pages=7, expected=expected)
    return store.partitions.renew_lease(worker, now, 60.0, 60.0, full_rest)


def of(owner: str, store: Store) -> set[str]:
    """The hosts that one may visit."""
    return {load.name for load in store.frontier.activate(owner, NOW, 10_000, 1, ())}


@pytest.fixture
def shared(opener: Opener) -> Store:
    store = opener()
    store.urls.add([new_url(f"http://{host}/") for host in HOSTS], NOW)
    kept(store, ME, expected=2)
    kept(store, YOU)
    return store


def test_partitions_are_shared_and_each_host_belongs_to_one_worker(shared: Store) -> None:
    assert len(kept(shared, ME).partitions) == len(kept(shared, YOU).partitions) == PARTITIONS // 2
    mine, yours = of(ME, shared), of(YOU, shared)
    assert mine | yours == set(HOSTS)
    assert mine & yours == set()
    assert len(mine) > 50


def test_a_single_worker_holds_all_partitions_until_another_joins(opener: Opener) -> None:
    store = opener()
    assert len(kept(store, ME).partitions) == PARTITIONS
    late = kept(store, YOU)
    assert (len(late.partitions), late.workers, late.share) == (0, 2, PARTITIONS // 2)
    mine = kept(store, ME)
    assert len(mine.partitions) - mine.share == PARTITIONS // 2  # to be given back
    store.partitions.release(ME, sorted(mine.partitions)[: PARTITIONS // 2])
    assert len(kept(store, YOU).partitions) == PARTITIONS // 2
    store.partitions.leave(ME)
    assert len(kept(store, YOU).partitions) == PARTITIONS
    assert [worker.owner for worker in store.partitions.workers()] == [YOU]


def test_workers_see_the_status_of_each_other(shared: Store) -> None:
    tenure = kept(shared, ME)
    assert (tenure.workers, tenure.pages_of_others) == (2, 7)
    first, second = shared.partitions.workers()
    assert (first.owner, first.slot, first.pages, first.partitions) == (ME, 0, 7, PARTITIONS // 2)
    assert second.lease_end == NOW + 60


def test_a_partition_with_a_leased_url_is_not_released(shared: Store) -> None:
    load = shared.frontier.activate(ME, NOW, 1, 1, ())[0]
    shared.frontier.lease(ME, load.visits, NOW)
    shared.partitions.release(ME, range(PARTITIONS))
    assert len(kept(shared, YOU).partitions) == PARTITIONS // 2
    assert load.partition not in kept(shared, YOU).partitions


def test_partitions_of_a_silent_worker_are_taken_over_when_its_requests_must_have_ended(shared: Store) -> None:
    load = shared.frontier.activate(ME, NOW, 1, 1, ())[0]
    (visit,) = shared.frontier.lease(ME, load.visits, NOW).granted
    assert len(kept(shared, YOU, NOW + 119).partitions) == PARTITIONS // 2
    taken = kept(shared, YOU, NOW + 121, rest=9.0)
    assert (len(taken.partitions), taken.returned) == (PARTITIONS, 1)
    assert taken.partitions[load.partition] > load.epoch
    row, host = shared.urls.find(visit.key), shared.urls.find_host(load.host, NOW)
    assert row is not None
    assert host is not None
    assert (row.reason, host.clock.next_visit) == (Reason.RETURNED, NOW + 130)
    with pytest.raises(LateCommit):
        shared.commits.commit([visit_result(visited(visit))], [], NOW + 122)
    assert not shared.frontier.lease(ME, load.visits, NOW + 122).granted


# ── servers and groups ──


def test_hosts_on_one_address_move_to_one_partition(shared: Store) -> None:
    mine, yours = sorted(of(ME, shared)), sorted(of(YOU, shared))
    first, second = host_key(mine[0]), host_key(mine[1])
    assert shared.partitions.claim_hosts(ME, [(first, SERVER)]) == {first}
    stranger = host_key(yours[0])
    assert shared.partitions.claim_hosts(YOU, [(stranger, SERVER)]) == set()  # it has moved
    assert yours[0] in of(ME, shared)
    assert shared.partitions.claim_hosts(ME, [(stranger, SERVER)]) == {stranger}
    shared.partitions.claim_hosts(ME, [(second, SERVER)])
    assert shared.partitions.claim_hosts(ME, [(second, SERVER)]) == {second}


def group_of(name: str) -> str:
    return "farm" if name.startswith("h1") else ""


def test_a_group_is_in_one_partition_and_gets_the_address_that_it_needs(opener: Opener) -> None:
    store = opener(group_of=group_of)
    store.urls.add([new_url(f"http://{host}/") for host in HOSTS], NOW)
    kept(store, ME, expected=2)
    kept(store, YOU)
    home = partition_of("farm", PARTITIONS)
    owner = ME if home in kept(store, ME).partitions else YOU
    other = YOU if owner == ME else ME
    farm = {name for name in HOSTS if group_of(name)}
    assert farm <= of(owner, store)
    host, guest = host_key(min(farm)), host_key(min(of(other, store)))
    assert store.partitions.claim_hosts(other, [(guest, SERVER)]) == {guest}
    assert store.partitions.claim_hosts(owner, [(host, SERVER)]) == set()  # not moved, for its group is not
    assert min(farm) in of(owner, store)
    assert kept(store, other).wanted == [SERVER]
    store.partitions.hand_over_addresses(other, [SERVER])
    assert store.partitions.claim_hosts(owner, [(host, SERVER)]) == {host}
    assert store.partitions.claim_hosts(other, [(guest, SERVER)]) == set()  # it follows its server


def test_regrouping_moves_hosts_to_the_partition_of_their_group(opener: Opener) -> None:
    store = opener()
    store.urls.add([new_url(f"http://{host}/") for host in HOSTS], NOW)
    store.close()
    store = opener(group_of=group_of)
    store.partitions.regroup()
    kept(store, ME)
    partitions = {load.name: load.partition for load in store.frontier.activate(ME, NOW, 10_000, 1, ())}
    assert {partitions[name] for name in HOSTS if group_of(name)} == {partition_of("farm", PARTITIONS)}
    assert len({partitions[name] for name in HOSTS if not group_of(name)}) > 20


# ── errands ──


def errand(origin: str, url: str) -> Visit:
    home = key_of(f"{origin}/robots.txt")
    return Visit(key=home, url=url, kind=Kind.ROBOTS, epoch=0, origin=origin, host_key=key_of(url).host, hops=1)


def test_a_remote_robots_txt_is_queued_for_the_owner_of_its_host_until_it_is_fetched(shared: Store) -> None:
    mine, yours = sorted(of(ME, shared)), sorted(of(YOU, shared))
    shared.partitions.add_remote_robots([errand(f"http://{mine[0]}", f"http://{yours[0]}/rules")])
    assert shared.partitions.remote_robots(ME, NOW) == []
    (found,) = shared.partitions.remote_robots(YOU, NOW)
    assert (found.origin, found.url, found.hops) == (f"http://{mine[0]}", f"http://{yours[0]}/rules", 1)
    (granted,) = shared.frontier.lease(YOU, [found], NOW).granted
    shared.frontier.unlease([granted], NOW)
    assert shared.partitions.remote_robots(YOU, NOW) == [found]  # until there is an answer
    (granted,) = shared.frontier.lease(YOU, [found], NOW).granted
    rules = RobotsFile(host=granted.key.host, origin=granted.origin, status=200, body=b"", fetched=NOW, expires=NOW + 9)
    shared.commits.commit([visit_result(visited(granted, rules=rules))], [], NOW)
    assert shared.partitions.remote_robots(YOU, NOW) == []
    assert shared.urls.find_robots(granted.origin) == rules


def test_a_remote_robots_txt_on_a_held_host_holds_its_origin(shared: Store) -> None:
    mine, yours = sorted(of(ME, shared)), sorted(of(YOU, shared))
    shared.partitions.add_remote_robots([errand(f"http://{mine[0]}", f"http://{yours[0]}/rules")])
    shared.frontier.hold([(host_key(yours[0]), NOW + 500)])
    assert shared.partitions.remote_robots(YOU, NOW) == []
    rules = shared.urls.find_robots(f"http://{mine[0]}")
    assert rules is not None
    assert (rules.held_until, rules.expires, rules.fetched) == (NOW + 500, NOW + 500, NOW)
    assert shared.partitions.remote_robots(YOU, NOW + 600) == []  # it is answered


def test_a_shorter_path_reopens_a_url_that_another_process_parked_as_too_far(opener: Opener) -> None:
    mine, yours = opener(), opener()
    kept(mine, ME)
    far, near = "http://a.test/far", "http://a.test/near"
    too_far = Refusal(Reason.TOO_FAR, "9 links from a seed")
    mine.urls.add([new_url(near, reason=Reason.LINK)], NOW)  # it has looked, and there was none
    yours.urls.add([new_url(far, reason=Reason.LINK, refused=too_far)], NOW)
    mine.urls.add([new_url("http://a.test/2", reason=Reason.LINK, refused=too_far)], NOW)
    mine.urls.add([new_url(far, reason=Reason.LINK, depth=2)], NOW)
    row = mine.urls.find(key_of(far))
    assert row is not None
    assert (row.state, row.depth) == (State.WAITING, 2)
    yours.close()


def test_two_processes_store_no_more_anchors_than_one(opener: Opener) -> None:
    mine, yours = opener(), opener()
    kept(mine, ME)
    sources = [f"http://s{number}.test/" for number in range(90)]
    mine.urls.add([new_url(url) for url in sources], NOW)
    visits = [visit for load in mine.frontier.activate(ME, NOW, 100, 1, ()) for visit in load.visits]
    granted = mine.frontier.lease(ME, visits, NOW).granted
    for number, visit in enumerate(granted):
        page = visited(visit, link("http://target.test/", f"words {number}"))
        (mine, yours)[number % 2].commits.commit([visit_result(page)], [], NOW)
    assert len(mine.documents.anchors(key_of("http://target.test/"))) == 64
    yours.close()
