"""Hosts and URLs that are due are activated, loaded and leased."""

from __future__ import annotations

from msgspec.structs import replace

from crawler.frontier.politeness import HostClock
from crawler.items import CrawlLimits, Kind, Outcome, Reason, RobotsFile
from crawler.stores.contract.store import Store
from crawler.urls.keys import key_of
from tests.contracts.visits import lease_all, states
from tests.samples import NOW, new_url, visit_result, visit_to, visited

A, A_PAGE, B = "http://a.test/", "http://a.test/b", "http://b.test/"


# ── Activation ──


def test_due_urls_are_loaded_the_most_important_first(store: Store) -> None:
    store.urls.add([new_url(A_PAGE, depth=3), new_url(A, depth=1)], NOW)
    store.urls.add([new_url("http://a.test/later")], NOW + 50)
    (load,) = store.frontier.activate("me", NOW, 10, 10, ())
    assert [visit.url for visit in load.visits] == [A, A_PAGE]
    assert load.name == "a.test"


def test_important_hosts_are_activated_first_and_excluded_ones_not_at_all(store: Store) -> None:
    store.urls.add([new_url(A, depth=2), new_url(B, depth=0)], NOW)
    assert [load.name for load in store.frontier.activate("me", NOW, 10, 10, ())] == ["b.test", "a.test"]
    assert [load.name for load in store.frontier.activate("me", NOW, 10, 10, {key_of(B).host})] == ["a.test"]


def test_a_host_without_due_urls_is_activated_when_its_next_is_due(store: Store) -> None:
    store.urls.add([new_url(A)], NOW)
    (visit,) = lease_all(store)
    store.commits.commit([visit_result(visited(visit))], [], NOW)
    assert store.frontier.load(key_of(A).host, NOW, 10) == []
    assert store.frontier.outlook().next_due == NOW + 7 * 86_400
    assert len(store.frontier.activate("me", NOW + 8 * 86_400, 10, 10, ())) == 1


def test_a_hold_in_the_far_future_is_clamped_after_the_clock_was_set_back(store: Store) -> None:
    store.urls.add([new_url(A), new_url(A_PAGE)], NOW)
    (first, second) = lease_all(store)
    far = NOW + 1e9
    busy = visited(first, outcome=Outcome.BUSY, reason=Reason.BUSY, page=None)
    store.commits.commit([visit_result(busy, clock=HostClock(held_until=far, next_visit=far))], [], NOW)
    store.frontier.unlease([second], NOW)
    store.frontier.clamp_future_times(NOW + 100)
    (load,) = store.frontier.activate("me", NOW + 101, 10, 10, ())
    assert load.clock.next_visit == NOW + 100


def test_hosts_of_another_worker_are_neither_activated_nor_leased(store: Store) -> None:
    store.urls.add([new_url(A)], NOW)
    assert store.frontier.activate("you", NOW, 10, 10, ()) == []
    assert store.frontier.lease("you", [visit_to(A)], NOW).granted == []
    assert store.frontier.load_host("you", key_of(A).host, "a.test", NOW, 10) is None


def test_a_host_can_be_loaded_before_any_url_of_it_is_known(store: Store) -> None:
    load = store.frontier.load_host("me", key_of(A).host, "a.test", NOW, 10)
    assert load is not None
    assert (load.name, list(load.visits)) == ("a.test", [])


def test_a_host_held_by_a_commit_is_not_activated_until_the_hold_ends(store: Store) -> None:
    store.urls.add([new_url(A), new_url(A_PAGE)], NOW)
    (first, second) = lease_all(store)
    busy = visited(first, outcome=Outcome.BUSY, reason=Reason.BUSY, page=None)
    clock = HostClock(held_until=NOW + 600, next_visit=NOW + 600)
    store.commits.commit([visit_result(busy, clock=clock)], [], NOW)
    store.frontier.unlease([second], NOW)
    assert store.frontier.activate("me", NOW + 599, 10, 10, ()) == []
    assert store.frontier.outlook().next_due == NOW + 600
    store.urls.add([new_url("http://a.test/new")], NOW + 1)
    assert store.frontier.outlook().next_due == NOW + 600
    assert len(store.frontier.activate("me", NOW + 600, 10, 10, ())) == 1


def test_postponed_urls_wait_until_their_due_time(store: Store) -> None:
    store.urls.add([new_url(A)], NOW)
    store.frontier.postpone([(visit_to(A), NOW + 100)], Reason.ROBOTS_UNAVAILABLE)
    assert store.frontier.activate("me", NOW + 99, 10, 10, ()) == []
    assert len(store.frontier.activate("me", NOW + 100, 10, 10, ())) == 1


def test_a_held_host_is_not_loaded_until_the_hold_ends(store: Store) -> None:
    store.urls.add([new_url(A), new_url(B)], NOW)
    store.frontier.hold([(key_of(A).host, NOW + 100)])
    assert [load.name for load in store.frontier.activate("me", NOW + 99, 9, 9, ())] == ["b.test"]
    assert store.frontier.load(key_of(A).host, NOW + 99, 9) == []
    assert {load.name for load in store.frontier.activate("me", NOW + 100, 9, 9, ())} == {"a.test", "b.test"}
    host = store.urls.find_host(key_of(A).host, NOW)
    assert host is not None
    assert host.clock.held_until == host.clock.next_visit == NOW + 100


# ── Leases ──


def test_a_url_is_leased_once(store: Store) -> None:
    store.urls.add([new_url(A)], NOW)
    (visit,) = lease_all(store)
    assert store.frontier.lease("me", [visit], NOW).granted == []
    assert states(store) == (1, 0, 1, 0)
    assert store.frontier.outlook().leased == 1


def test_a_returned_lease_leaves_the_url_waiting(store: Store) -> None:
    store.urls.add([new_url(A)], NOW)
    visits = lease_all(store)
    store.frontier.unlease(visits, NOW)
    assert states(store) == (1, 1, 0, 0)
    assert [visit.url for visit in lease_all(store)] == [A]


def test_a_robots_txt_is_added_when_it_is_leased(store: Store) -> None:
    store.urls.add([new_url(A)], NOW)
    robots = visit_to("http://a.test/robots.txt", kind=Kind.ROBOTS, origin="http://a.test")
    assert store.frontier.lease("me", [robots], NOW).granted == [robots]
    assert states(store) == (2, 1, 1, 0)
    rules = RobotsFile(
        host=robots.key.host, origin="http://a.test", status=200, body=b"User-agent: *", fetched=NOW, expires=NOW + 9
    )
    store.commits.commit(
        [visit_result(visited(robots, rules=replace(rules, crawl_limits=CrawlLimits(crawl_delay=3.0))))], [], NOW
    )
    assert states(store) == (2, 1, 0, 1)
    assert store.urls.find_robots("http://a.test") == replace(rules, crawl_limits=CrawlLimits(crawl_delay=3.0))
    assert store.frontier.lease("me", [robots], NOW).granted == [robots]  # it can be leased again at any time


def test_a_robots_txt_that_was_added_as_a_page_is_the_same_url(store: Store) -> None:
    url = "http://a.test/robots.txt"
    store.urls.add([new_url(url)], NOW)
    assert store.frontier.lease("me", [visit_to(url, kind=Kind.ROBOTS)], NOW).granted
    assert states(store) == (1, 0, 1, 0)
