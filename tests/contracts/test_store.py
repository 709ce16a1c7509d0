"""What every store promises."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from msgspec.structs import replace

from crawler.frontier.next_state import NextState
from crawler.frontier.politeness import HostClock
from crawler.items import (
    CrawlLimits,
    DailyWindow,
    Kind,
    Link,
    Outcome,
    Page,
    Reason,
    Refusal,
    RequestRate,
    RobotsFile,
    State,
    Visit,
)
from crawler.stores.contract.commits import LateCommit
from crawler.stores.contract.store import Store
from crawler.stores.contract.urls import Judge, NewUrl, ScopeReview
from crawler.urls.hosts import host_of
from crawler.urls.keys import key_of
from crawler.urls.scope import SCOPE_REASONS
from tests.contracts.engines import ENGINES, Opener
from tests.contracts.visits import POSITION, SEGMENT, add_and_lease, found_url, lease_all, publish, row_of, states
from tests.defaults import politeness_with
from tests.samples import NOW, acquire, answer, link, new_url, visit_result, visit_to, visited

A, A_PAGE, B = "http://a.test/", "http://a.test/b", "http://b.test/"


# ── URLs are made known ──


def test_a_url_is_new_only_once(store: Store) -> None:
    assert store.urls.add([new_url(A), new_url(A_PAGE)], NOW) == 2
    assert store.urls.add([new_url(A_PAGE), new_url(B)], NOW + 1) == 1
    assert states(store) == (3, 3, 0, 0)


def test_a_refused_url_is_known_and_parked(store: Store) -> None:
    store.urls.add([new_url(A, refused=Refusal(Reason.OUT_OF_SCOPE, "hosts"))], NOW)
    row = store.urls.find(key_of(A))
    assert row is not None
    assert (row.state, row.reason, row.detail) == (State.PARKED, Reason.OUT_OF_SCOPE, "hosts")
    assert lease_all(store) == []


def test_a_seed_that_was_out_of_scope_waits_again(store: Store) -> None:
    store.urls.add([new_url(A, refused=Refusal(Reason.OUT_OF_SCOPE), depth=3)], NOW)
    store.urls.add_seeds([new_url(A)], NOW)
    assert [visit.url for visit in lease_all(store)] == [A]
    assert [url for _, url in store.urls.seeds()] == [A]


def test_seeds_are_listed_after_a_serial_number(store: Store) -> None:
    store.urls.add_seeds([new_url(A)], NOW)
    last = max(serial for serial, _ in store.urls.seeds())
    store.urls.add_seeds([new_url(A), new_url(A_PAGE)], NOW)
    assert [url for _, url in store.urls.seeds(last)] == [A_PAGE]


# ── two URLs with one key ──

COLLIDING = "http://a.test/double"  # given the key of A by hand: nobody knows two real ones


def colliding_url(url: str = COLLIDING, **facts: Any) -> NewUrl:
    return new_url(url, **{"key": key_of(A), "reason": Reason.LINK} | facts)


def colliding_link(url: str = COLLIDING, anchor: str = "") -> Link:
    return link(url, anchor)._replace(key=key_of(A))


def find_in_one_add(store: Store) -> int:
    return store.urls.add([new_url(A_PAGE), new_url(A), colliding_url(), new_url(A), colliding_url()], NOW) - 2


def find_in_two_adds(store: Store) -> int:
    store.urls.add([new_url(A), new_url(A_PAGE)], NOW)
    return store.urls.add([colliding_url(), new_url(A), colliding_url()], NOW)


def find_as_link(store: Store) -> int:
    store.urls.add([new_url(A)], NOW)
    return store.commits.commit(
        [visit_result(visited(add_and_lease(store, A_PAGE), colliding_link()))], [], NOW
    ).new_urls


def find_both_as_links(store: Store) -> int:
    result = visited(add_and_lease(store, A_PAGE), link(A), colliding_link(), link(A), colliding_link())
    return store.commits.commit([visit_result(result)], [], NOW).new_urls - 1


def find_as_early_link(store: Store) -> int:
    store.urls.add([new_url(A)], NOW)
    return store.commits.add_links(add_and_lease(store, A_PAGE), [colliding_link(), link(A)], NOW).new_urls


def find_as_redirect_target(store: Store) -> int:
    store.urls.add([new_url(A)], NOW)
    facts = {"outcome": Outcome.REDIRECTED, "reason": Reason.REDIRECTED, "detail": COLLIDING}
    return store.commits.commit(
        [visit_result(visited(add_and_lease(store, A_PAGE), location=colliding_link(), **facts))], [], NOW
    ).new_urls


def find_as_seed(store: Store) -> int:
    store.urls.add([new_url(A), new_url(A_PAGE)], NOW)
    return store.urls.add_seeds([colliding_url(reason=Reason.SEED)], NOW)


WAYS_TO_FIND = [
    find_in_one_add,
    find_in_two_adds,
    find_as_link,
    find_both_as_links,
    find_as_early_link,
    find_as_redirect_target,
    find_as_seed,
]


@pytest.mark.parametrize("find", WAYS_TO_FIND)
def test_of_two_urls_with_one_key_the_first_is_stored_and_the_other_is_a_collision(
    find: Callable[[Store], int], store: Store
) -> None:
    assert find(store) == 0
    account, host = store.crawl.account(), store.urls.find_host(key_of(A).host, NOW)
    assert row_of(store, A).url == A
    assert store.urls.collisions(key_of(A)) == [COLLIDING]
    assert store.urls.collisions(key_of(A_PAGE)) == []
    assert account.known == account.waiting + account.leased + account.parked == 2
    assert account.collisions == 1
    assert host is not None
    assert host.known == 2
    assert COLLIDING not in [
        visit.url for load in store.frontier.activate("me", NOW, 9, 9, ()) for visit in load.visits
    ]


@pytest.mark.parametrize("find", WAYS_TO_FIND)
def test_a_collision_is_counted_once_however_often_it_is_found(
    find: Callable[[Store], int], store: Store, opener: Opener
) -> None:
    find(store)
    for _ in range(3):
        assert store.urls.add([new_url(A), colliding_url(), colliding_url(), new_url(A)], NOW) == 0
        assert (
            store.commits.add_links(visit_to(A_PAGE), [colliding_link(), link(A), colliding_link()], NOW).new_urls == 0
        )
    another = opener()
    assert another.urls.add([colliding_url(), new_url(A)], NOW) == 0
    assert (another.urls.collisions(key_of(A)), another.crawl.account().collisions) == ([COLLIDING], 1)
    assert another.urls.find(key_of(A)) == store.urls.find(key_of(A))
    another.close()
    assert states(store)[0] == 2


def test_several_urls_may_collide_with_one(store: Store) -> None:
    others = [f"http://a.test/double{number}" for number in range(3)]
    store.urls.add([colliding_url(url) for url in others], NOW)
    store.urls.add([new_url(A)], NOW)
    assert row_of(store, A).url == others[0]  # whichever came first
    assert sorted(store.urls.collisions(key_of(A))) == sorted([A, *others[1:]])
    assert (states(store)[0], store.crawl.account().collisions) == (1, 3)


def test_a_link_that_was_seen_many_times_does_not_hide_another_with_its_key(store: Store) -> None:
    store.urls.add([new_url(A)], NOW)
    for number in range(5):
        store.commits.add_links(visit_to(A_PAGE), [link(A), link(f"http://a.test/{number}")], NOW)
    assert store.urls.collisions(key_of(A)) == []
    committed = store.commits.add_links(visit_to(A_PAGE), [link(A), colliding_link(), link(A)], NOW)
    assert (committed.new_urls, list(committed.hosts_with_new)) == (0, [])
    assert store.urls.collisions(key_of(A)) == [COLLIDING]
    assert row_of(store, A).url == A


def test_a_colliding_url_does_not_add_its_host(store: Store) -> None:
    store.urls.add([new_url(A), colliding_url(B)], NOW)
    assert store.urls.collisions(key_of(A)) == [B]
    assert store.crawl.account().hosts == 1


def test_a_colliding_seed_does_not_reopen_the_stored_url(store: Store) -> None:
    store.urls.add([new_url(A, refused=Refusal(Reason.EXCLUDED, "exclude.txt:1"))], NOW)
    store.urls.add_seeds([colliding_url(reason=Reason.SEED)], NOW)
    assert store.urls.collisions(key_of(A)) == [COLLIDING]
    assert (row_of(store, A).state, row_of(store, A).reason) == (State.PARKED, Reason.EXCLUDED)


def test_anchors_of_a_colliding_url_are_not_stored_for_the_first(store: Store) -> None:
    store.urls.add([new_url(A), new_url(B)], NOW)
    (visit,) = store.frontier.lease("me", [visit_to(B)], NOW).granted
    store.commits.commit(
        [visit_result(visited(visit, link(A, "of the first"), colliding_link(anchor="of the other")))], [], NOW
    )
    assert store.documents.anchors(key_of(A)) == [("b.test", "of the first")]


# ── hosts are activated ──


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


# ── leases ──


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
    assert store.frontier.lease("me", [robots], NOW).granted == [robots]  # on demand, again


def test_a_robots_txt_that_was_added_as_a_page_is_the_same_url(store: Store) -> None:
    url = "http://a.test/robots.txt"
    store.urls.add([new_url(url)], NOW)
    assert store.frontier.lease("me", [visit_to(url, kind=Kind.ROBOTS)], NOW).granted
    assert states(store) == (1, 0, 1, 0)


# ── commits ──


def test_format_encoding_and_metadata_of_a_document_are_stored(store: Store) -> None:
    store.urls.add([new_url(A)], NOW)
    (visit,) = lease_all(store)
    page = Page(
        format="pdf",
        encoding="KOI8-R",
        encoding_source="detected",
        problem="truncated",
        published=NOW - 5,
        metadata={"author": "Ąćę \N{SPIDER}", "pages": "3"},
    )
    store.commits.commit([visit_result(visited(visit, page=page), position=POSITION)], [SEGMENT], NOW)
    (document,) = store.documents.versions(visit.key)
    assert (document.format, document.encoding, document.encoding_source) == ("pdf", "KOI8-R", "detected")
    assert (document.problem, document.published) == ("truncated", NOW - 5)
    assert document.metadata == {"author": "Ąćę \N{SPIDER}", "pages": "3"}


def test_a_commit_acknowledges_everything_at_once(store: Store) -> None:
    store.urls.add([new_url(A)], NOW)
    (visit,) = lease_all(store)
    page = Page(title="A title", body_digest=b"d", text_digest=b"t", content_type="text/html")
    links = (link(A_PAGE, "inside"), link(B, "outside"), link("http://c.test/", refused=Reason.OUT_OF_SCOPE))
    clock = HostClock(next_visit=NOW + 5, latency=0.1, last_end=NOW)
    result = visited(visit, page=replace(page, links=links))
    committed = store.commits.commit([visit_result(result, clock=clock, position=POSITION)], [SEGMENT], NOW)
    assert committed.new_urls == 3
    assert set(committed.hosts_with_new) == {key_of(A).host, key_of(B).host}
    assert states(store) == (4, 3, 0, 1)
    row, host = store.urls.find(visit.key), store.urls.find_host(visit.key.host, NOW)
    assert row is not None
    assert host is not None
    assert (row.state, row.reason, row.last_reason, row.status) == (State.WAITING, Reason.REVISIT, Reason.OK, 200)
    assert (host.clock, host.visits, host.pages, host.known, host.address) == (clock, 1, 1, 2, "127.0.0.1")
    (document,) = store.documents.versions(visit.key)
    assert (document.title, document.position, document.status) == ("A title", POSITION, 200)
    assert store.archive.segments() == [SEGMENT]
    assert store.documents.anchors(key_of(B)) == [("a.test", "outside")]
    assert store.documents.anchors(key_of(A_PAGE)) == []
    linked = store.urls.find(key_of(A_PAGE))
    assert linked is not None
    assert (linked.depth, linked.via, linked.reason) == (1, A, Reason.LINK)


def test_a_redirect_adds_its_target_one_hop_further(store: Store) -> None:
    store.urls.add([new_url(A)], NOW)
    (visit,) = lease_all(store)
    moved = {"outcome": Outcome.REDIRECTED, "reason": Reason.REDIRECTED, "fetched": answer(A, status=301)}
    result = visited(visit, location=link(A_PAGE), detail=A_PAGE, **moved)
    store.commits.commit([visit_result(result)], [], NOW)
    target, source = store.urls.find(key_of(A_PAGE)), store.urls.find(key_of(A))
    assert target is not None
    assert source is not None
    assert (target.hops, target.depth, target.reason) == (1, 0, Reason.REDIRECT_TARGET)
    assert (source.state, source.detail) == (State.PARKED, A_PAGE)


def test_a_late_commit_changes_nothing(store: Store) -> None:
    store.urls.add([new_url(A), new_url(B)], NOW)
    first, second = lease_all(store)
    store.frontier.unlease([first], NOW)
    before = store.crawl.account()
    batch = [visit_result(visited(first, link("http://new.test/"))), visit_result(visited(second))]
    with pytest.raises(LateCommit) as caught:
        store.commits.commit(batch, [SEGMENT], NOW)
    assert caught.value.keys == {first.key}
    assert store.crawl.account() == before
    assert store.archive.segments() == []


def test_a_commit_under_an_old_epoch_is_late(store: Store) -> None:
    store.urls.add([new_url(A)], NOW)
    (visit,) = lease_all(store)
    assert acquire(store, "you", 1, NOW + 119, 60, 60) == 0  # the lease is over, but a request may still be out
    assert acquire(store, "you", 1, NOW + 121, 60, 60) > 0
    (load,) = store.frontier.activate("you", NOW + 200, 10, 10, ())
    assert store.frontier.lease("you", load.visits, NOW).granted
    with pytest.raises(LateCommit):
        store.commits.commit([visit_result(visited(visit))], [], NOW + 201)
    assert acquire(store, "me", 0, NOW + 122, 60, 60) == 0


def test_a_page_that_is_gone_is_deleted_only_if_it_was_published(store: Store) -> None:
    store.urls.add([new_url(A), new_url(B)], NOW)
    here, never = sorted(lease_all(store), key=lambda visit: visit.url)
    gone = {"outcome": Outcome.REFUSED, "reason": Reason.GONE}
    store.commits.commit(
        [visit_result(visited(here), position=POSITION), visit_result(visited(never, **gone))], [SEGMENT], NOW
    )
    (again,) = store.frontier.lease(
        "me", [visit for load in store.frontier.activate("me", NOW + 1e6, 9, 9, ()) for visit in load.visits], NOW
    ).granted
    store.commits.commit(
        [visit_result(visited(again, fetched=answer(A, status=410), **gone), position=POSITION)], [SEGMENT], NOW + 1e6
    )
    assert [(change, url) for change, url in store.changes.entries()] == [("upsert", A), ("delete", A)]


def test_anchors_are_stored_once_and_up_to_a_limit(store: Store) -> None:
    store.urls.add([new_url(A)], NOW)
    (visit,) = lease_all(store)
    links = [link(B, f"text {n % 70}") for n in range(140)]
    store.commits.commit([visit_result(visited(visit, *links))], [], NOW)
    assert len(store.documents.anchors(key_of(B))) == 64


def test_links_inserted_ahead_of_the_commit_are_not_new_in_it(store: Store) -> None:
    store.urls.add([new_url(A)], NOW)
    (visit,) = lease_all(store)
    assert store.commits.add_links(visit, [link(A_PAGE)], NOW).new_urls == 1
    assert store.commits.commit([visit_result(visited(visit, link(A_PAGE)))], [], NOW).new_urls == 0
    assert states(store) == (2, 2, 0, 0)


# ── the scope changes ──

REFUSAL = Refusal(Reason.EXCLUDED, "exclude.txt:1 http://a.test/")
NO_CHANGE = ScopeReview(opened=0, closed=0)


def admit_all(url: str, depth: int) -> Refusal | None:
    """A scope to which every URL belongs."""
    return None


def refuse_all(url: str, depth: int) -> Refusal | None:
    """One to which none does."""
    return REFUSAL


@pytest.mark.parametrize("reason", sorted(SCOPE_REASONS))
def test_a_url_parked_by_the_scope_waits_when_the_scope_admits_it(reason: Reason, store: Store) -> None:
    store.urls.add([found_url(A, refused=Refusal(reason, "so"), depth=3), found_url(A_PAGE)], NOW)
    lease_all(store)
    assert store.frontier.outlook().next_due is None or store.frontier.load(key_of(A).host, NOW, 9) == []
    assert store.urls.review_scope(admit_all, NOW + 1) == ScopeReview(opened=1, closed=0)
    row = row_of(store, A)
    assert (row.state, row.reason, row.detail, row.due) == (State.WAITING, Reason.LINK, "", NOW + 1)
    assert (row.depth, row.level, row.found) == (3, 5, NOW)
    assert store.frontier.outlook().next_due == NOW + 1
    assert [visit.url for visit in lease_all(store, NOW + 1)] == [A]
    assert store.urls.review_scope(admit_all, NOW + 2) == NO_CHANGE


@pytest.mark.parametrize("reason", [Reason.LINK, Reason.REDIRECT_TARGET])
def test_an_unvisited_url_is_parked_when_the_scope_refuses_it(reason: Reason, store: Store) -> None:
    store.urls.add([found_url(A, reason=reason, hops=int(reason is Reason.REDIRECT_TARGET))], NOW)
    assert store.urls.review_scope(refuse_all, NOW + 1) == ScopeReview(opened=0, closed=1)
    row = row_of(store, A)
    assert (row.state, row.reason, row.detail) == (State.PARKED, *REFUSAL)
    assert states(store) == (1, 0, 0, 1)
    assert lease_all(store, NOW + 1) == []
    assert store.urls.review_scope(refuse_all, NOW + 2) == NO_CHANGE


def test_a_reopened_redirect_target_keeps_its_hops(store: Store) -> None:
    source = add_and_lease(store, A_PAGE)
    facts = {"outcome": Outcome.REDIRECTED, "reason": Reason.REDIRECTED, "detail": A}
    store.commits.commit([visit_result(visited(source, location=link(A, refused=Reason.EXCLUDED), **facts))], [], NOW)
    assert store.urls.review_scope(admit_all, NOW).opened == 1
    (visit,) = lease_all(store)
    assert (visit.url, visit.hops, visit.via) == (A, 1, A_PAGE)
    assert row_of(store, A_PAGE).reason is Reason.REDIRECTED


def test_seeds_and_requested_urls_are_never_parked(store: Store) -> None:
    store.urls.add_seeds([new_url(A)], NOW)
    store.urls.add([new_url(A_PAGE, reason=Reason.REQUESTED)], NOW)
    assert store.urls.review_scope(refuse_all, NOW + 1) == NO_CHANGE
    assert {visit.url for visit in lease_all(store)} == {A, A_PAGE}


def test_a_seed_that_was_found_as_a_link_before_is_not_parked(store: Store) -> None:
    store.urls.add([found_url(A)], NOW)
    store.urls.add_seeds([new_url(A)], NOW)
    assert store.urls.review_scope(refuse_all, NOW + 1) == NO_CHANGE
    assert [visit.url for visit in lease_all(store)] == [A]


def test_a_seed_that_was_in_flight_when_a_worker_died_is_not_parked(store: Store) -> None:
    store.urls.add_seeds([new_url(A)], NOW)
    lease_all(store)
    store.partitions.recover([0], NOW, lambda name, clock: clock)
    assert store.urls.review_scope(refuse_all, NOW + 1) == NO_CHANGE
    assert row_of(store, A).state is State.WAITING


def test_leased_urls_are_not_reviewed(store: Store) -> None:
    store.urls.add([found_url(A)], NOW)
    (visit,) = lease_all(store)
    assert store.urls.review_scope(refuse_all, NOW + 1) == NO_CHANGE
    assert states(store) == (1, 0, 1, 0)
    store.commits.commit([visit_result(visited(visit))], [], NOW + 1)
    assert row_of(store, A).reason is Reason.REVISIT


@pytest.mark.parametrize(
    "after",
    [
        NextState(state=State.WAITING, reason=Reason.REVISIT, due=NOW),
        NextState(state=State.WAITING, reason=Reason.TIMEOUT, due=NOW, tries=1),
        NextState(state=State.WAITING, reason=Reason.BUSY, due=NOW),
        *(
            NextState(state=State.PARKED, reason=reason)
            for reason in Reason
            if reason.value >= 30 and reason not in {*SCOPE_REASONS, Reason.SAME_PAGE, Reason.OVER_BUDGET}
        ),
    ],
    ids=lambda after: f"{after.state.name} {after.reason.name}",
)
@pytest.mark.parametrize("judge", [admit_all, refuse_all])
def test_visited_urls_are_not_reviewed(judge: Judge, after: NextState, store: Store) -> None:
    store.urls.add([found_url(A)], NOW)
    (visit,) = lease_all(store)
    store.commits.commit([visit_result(visited(visit), next_state=after)], [], NOW)
    before = store.urls.find(key_of(A))
    assert store.urls.review_scope(judge, NOW + 1) == NO_CHANGE
    assert store.urls.find(key_of(A)) == before


def test_a_link_that_was_in_flight_when_a_worker_died_counts_as_unvisited(store: Store) -> None:
    store.urls.add([found_url(A)], NOW)
    lease_all(store)
    store.partitions.recover([0], NOW, lambda name, clock: clock)
    assert store.urls.review_scope(refuse_all, NOW + 1) == ScopeReview(opened=0, closed=1)
    assert (row_of(store, A).state, row_of(store, A).reason) == (State.PARKED, Reason.EXCLUDED)


def test_a_link_that_waits_for_its_robots_txt_counts_as_unvisited(store: Store) -> None:
    store.urls.add([found_url(A)], NOW)
    store.frontier.postpone([(visit_to(A), NOW + 100)], Reason.ROBOTS_UNAVAILABLE)
    assert store.urls.review_scope(refuse_all, NOW + 1) == ScopeReview(opened=0, closed=1)
    assert (row_of(store, A).state, row_of(store, A).reason) == (State.PARKED, Reason.EXCLUDED)


ROBOTS = "http://a.test/robots.txt"


def test_a_robots_txt_is_not_reviewed(store: Store) -> None:
    store.urls.add([new_url(A_PAGE)], NOW)
    robots = visit_to(ROBOTS, kind=Kind.ROBOTS, origin="http://a.test")
    store.frontier.lease("me", [robots], NOW)
    store.commits.commit([visit_result(visited(robots))], [], NOW)
    before = store.urls.find(robots.key)
    for judge in (admit_all, refuse_all):
        assert store.urls.review_scope(judge, NOW + 1) == NO_CHANGE
        assert store.urls.find(robots.key) == before


@pytest.mark.parametrize("change", ["scope", "seed"])
def test_a_robots_txt_that_was_also_a_refused_link_never_waits(change: str, store: Store) -> None:
    store.urls.add([new_url(A_PAGE), found_url(ROBOTS, refused=REFUSAL)], NOW)
    robots = visit_to(ROBOTS, kind=Kind.ROBOTS, origin="http://a.test")
    assert store.frontier.lease("me", [robots], NOW).granted == [robots]
    store.frontier.unlease([robots], NOW)  # the crawl was stopped before it was sent
    if change == "scope":
        store.urls.review_scope(admit_all, NOW)
    else:
        store.urls.add_seeds([new_url(ROBOTS)], NOW)
    row = row_of(store, ROBOTS)
    assert (row.kind, row.state) in [(Kind.ROBOTS, State.PARKED), (Kind.PAGE, State.WAITING)]


def test_a_url_that_is_now_refused_for_another_reason_gets_that_reason(store: Store) -> None:
    store.urls.add(
        [found_url(A, refused=Refusal(Reason.OUT_OF_SCOPE, "hosts")), found_url(A_PAGE, refused=REFUSAL)], NOW
    )
    current = Refusal(Reason.EXCLUDED, "exclude.txt:7 ~test")
    assert store.urls.review_scope(lambda url, depth: current, NOW + 1) == NO_CHANGE
    for url in (A, A_PAGE):
        row = row_of(store, url)
        assert (row.state, row.reason, row.detail) == (State.PARKED, *current), url


def test_the_judge_gets_each_url_once_with_its_depth(store: Store) -> None:
    store.urls.add([found_url(f"http://a.test/{depth}", depth=depth, refused=REFUSAL) for depth in range(4)], NOW)
    store.urls.add([found_url(f"http://b.test/{depth}", depth=depth) for depth in range(4)], NOW)
    store.urls.add_seeds([new_url(A)], NOW)
    judged: list[tuple[str, int]] = []

    def judge(url: str, depth: int) -> Refusal | None:
        judged.append((url, depth))
        return Refusal(Reason.TOO_FAR, f"{depth} links, 1 at most") if depth > 1 else None

    assert store.urls.review_scope(judge, NOW + 1) == ScopeReview(opened=2, closed=2)
    assert sorted(judged) == sorted((f"http://{host}.test/{depth}", depth) for host in "ab" for depth in range(4))
    assert row_of(store, "http://b.test/2").detail == "2 links, 1 at most"


@pytest.mark.parametrize("target", ["http://a.test/target", "http://b.test/target"])
def test_a_shorter_path_reopens_a_url_even_with_the_same_anchor_of_the_same_host(target: str, store: Store) -> None:
    store.urls.add([new_url(A), new_url("http://a.test/2")], NOW)
    first, second = lease_all(store)
    store.commits.commit([visit_result(visited(first, link(target, "words", Reason.TOO_FAR)))], [], NOW)
    assert row_of(store, target).reason is Reason.TOO_FAR
    store.commits.commit([visit_result(visited(second, link(target, "words")))], [], NOW)
    assert (row_of(store, target).state, row_of(store, target).reason) == (State.WAITING, Reason.LINK)


SITE = ["example.test", "www.example.test", "a.b.example.test"]
OTHER_HOSTS = [
    *("not-example.test", "example0.test", "example.tes", "xample.test", "example-test", "test"),
    *("example.test.evil.test", "www.example.test2", "127.0.0.1"),
]


@pytest.mark.parametrize(
    ("site", "judged"),
    [
        ("example.test", SITE),
        ("www.example.test", SITE[1:2]),
        ("b.example.test", SITE[2:]),
        ("127.0.0.1", ["127.0.0.1"]),
        ("0.0.1", []),
        ("::1", []),
        ("nobody.test", []),
    ],
)
@pytest.mark.parametrize("is_wider", [True, False])
def test_a_site_is_a_host_and_its_subdomains(is_wider: bool, site: str, judged: list[str], store: Store) -> None:
    hosts = {*SITE, *OTHER_HOSTS}
    refused, judge = (REFUSAL, admit_all) if is_wider else (None, refuse_all)
    store.urls.add([found_url(f"http://{host}/{page}", refused=refused) for host in hosts for page in range(2)], NOW)
    count = 2 * len(judged)
    expected = ScopeReview(opened=count, closed=0) if is_wider else ScopeReview(opened=0, closed=count)
    assert store.urls.review_scope(judge, NOW + 1, site) == expected
    waiting = {host for host in hosts if row_of(store, f"http://{host}/0").state is State.WAITING}
    assert waiting == (set(judged) if is_wider else hosts - set(judged))


def test_an_ip_address_is_a_site_of_its_own(store: Store) -> None:
    urls = ["http://[::1]/", "http://[::1]:8080/", "http://[::2]/", "http://1.127.0.0.1.test/"]
    store.urls.add([found_url(url, refused=REFUSAL) for url in urls], NOW)
    assert store.urls.review_scope(admit_all, NOW, "::1") == ScopeReview(opened=2, closed=0)
    assert {visit.url for visit in lease_all(store)} == set(urls[:2])


def test_a_reopened_url_does_not_end_the_hold_of_its_host(store: Store) -> None:
    store.urls.add([found_url(A), found_url(A_PAGE, refused=REFUSAL)], NOW)
    (visit,) = lease_all(store)
    busy = visited(visit, outcome=Outcome.BUSY, reason=Reason.BUSY, page=None)
    store.commits.commit([visit_result(busy, clock=HostClock(held_until=NOW + 600, next_visit=NOW + 600))], [], NOW)
    assert store.urls.review_scope(admit_all, NOW + 1).opened == 1
    assert store.frontier.outlook().next_due == NOW + 600
    assert store.frontier.activate("me", NOW + 599, 9, 9, ()) == []
    assert [len(load.visits) for load in store.frontier.activate("me", NOW + 600, 9, 9, ())] == [2]


def test_when_all_waiting_urls_are_parked_nothing_is_due(store: Store) -> None:
    hosts = [f"http://h{number}.test/" for number in range(30)]
    store.urls.add([found_url(url + page, depth=depth) for url in hosts for depth, page in enumerate("abc")], NOW)
    assert store.urls.review_scope(refuse_all, NOW + 1) == ScopeReview(opened=0, closed=90)
    for _ in range(30):  # a look takes only some hosts, but it takes them for good
        assert store.frontier.activate("me", NOW + 1, 5, 9, ()) == []
        if store.frontier.outlook().next_due is None:
            break
    assert store.frontier.outlook().next_due is None
    assert store.crawl.account().next_due is None
    assert all(store.frontier.load(key_of(url).host, NOW + 1, 9) == [] for url in hosts)


def test_hosts_without_waiting_urls_do_not_hide_hosts_with_some(store: Store) -> None:
    store.urls.add([found_url(f"http://h{number}.test/") for number in range(30)], NOW)
    store.urls.add([found_url(A), found_url(A_PAGE)], NOW + 1)
    store.urls.review_scope(lambda url, depth: None if url == A_PAGE else REFUSAL, NOW + 1)
    visits: list[Visit] = []
    for _ in range(31):
        visits += [visit for load in store.frontier.activate("me", NOW + 2, 1, 9, ()) for visit in load.visits]
    assert {visit.url for visit in visits} == {A_PAGE}


def test_a_url_that_was_parked_after_it_was_loaded_is_not_leased(store: Store) -> None:
    store.urls.add([found_url(A), found_url(A_PAGE)], NOW)
    (load,) = store.frontier.activate("me", NOW, 9, 9, ())
    store.urls.review_scope(lambda url, depth: None if url == A_PAGE else REFUSAL, NOW)
    assert [visit.url for visit in store.frontier.lease("me", load.visits, NOW).granted] == [A_PAGE]
    assert states(store) == (2, 0, 1, 1)


def test_reviews_neither_add_nor_lose_urls(store: Store) -> None:
    urls = [f"http://h{host}.test/{page}" for host in range(3) for page in range(5)]
    store.urls.add([found_url(url, refused=REFUSAL if number % 2 else None) for number, url in enumerate(urls)], NOW)
    rows = {url: row_of(store, url) for url in urls}
    for judge in (admit_all, refuse_all, admit_all):
        store.urls.review_scope(judge, NOW + 1)
        account = store.crawl.account()
        assert account.known == account.waiting + account.leased + account.parked == 15
        hosts = [store.urls.find_host(key_of(f"http://h{host}.test/").host, NOW) for host in range(3)]
        assert [host.known for host in hosts if host is not None] == [5, 5, 5]
    for url, row in rows.items():
        current = row_of(store, url)
        assert (current.state, current.depth, current.via, current.found) == (
            State.WAITING,
            row.depth,
            row.via,
            row.found,
        )


def test_facts_are_stored_for_later_processes(store: Store, opener: Opener) -> None:
    assert store.crawl.facts().keys() == {"identity"}
    store.crawl.set_facts({"url_scope": "1", "url_spelling": "ä\n"})
    store.crawl.set_facts({"url_scope": "2", "": ""})
    store.commits.commit([], [], NOW)  # the store's own notes are none of them
    expected = {"identity": store.crawl.facts()["identity"], "url_scope": "2", "url_spelling": "ä\n", "": ""}
    assert store.crawl.facts() == expected
    assert store.commits.last() == NOW
    another = opener()
    assert another.crawl.facts() == expected
    another.close()


# ── a directory and its index page, when the scope changes ──

DIRECTORY, INDEX = "http://a.test/dir/", "http://a.test/dir/index.html"


def visit_directory(store: Store, **facts: Any) -> None:
    """It is fetched, unless the facts say something else."""
    (visit,) = store.frontier.lease("me", [visit_to(DIRECTORY)], NOW).granted
    store.commits.commit([visit_result(visited(visit, **facts))], [], NOW)


def state_of(store: Store, url: str) -> tuple[State, Reason]:
    row = row_of(store, url)
    return row.state, row.reason


def test_an_index_page_is_parked_while_its_directory_is_there(store: Store) -> None:
    store.urls.add([found_url(DIRECTORY), found_url(INDEX)], NOW)
    visit_directory(store)
    assert state_of(store, INDEX) == (State.PARKED, Reason.SAME_PAGE)
    for judge in (admit_all, refuse_all, admit_all):
        store.urls.review_scope(judge, NOW)
        assert row_of(store, INDEX).state is State.PARKED
    visit_directory(store, outcome=Outcome.REFUSED, reason=Reason.GONE)
    assert state_of(store, INDEX) == (State.WAITING, Reason.LINK)


def test_an_index_page_that_the_scope_admits_stays_parked_if_its_directory_was_fetched(store: Store) -> None:
    store.urls.add([found_url(DIRECTORY), found_url(INDEX, refused=REFUSAL)], NOW)
    visit_directory(store)
    store.urls.review_scope(admit_all, NOW)
    assert row_of(store, INDEX).state is State.PARKED


def test_an_index_page_that_the_scope_refuses_stays_parked_when_its_directory_is_gone(store: Store) -> None:
    store.urls.add([found_url(DIRECTORY), found_url(INDEX)], NOW)
    visit_directory(store)
    store.urls.review_scope(refuse_all, NOW)
    visit_directory(store, outcome=Outcome.REFUSED, reason=Reason.GONE)
    assert row_of(store, INDEX).state is State.PARKED


@pytest.mark.parametrize("was_found", [False, True])
def test_an_index_page_that_is_a_seed_is_not_parked(was_found: bool, store: Store) -> None:
    store.urls.add([found_url(DIRECTORY), *([found_url(INDEX)] if was_found else [])], NOW)
    store.urls.add_seeds([new_url(INDEX)], NOW)
    visit_directory(store)
    assert row_of(store, INDEX).state is State.WAITING


# ── what is published ──


def delete(store: Store, url: str, now: float) -> None:
    gone = answer(url, status=410)
    waits = NextState(state=State.WAITING, reason=Reason.GONE, due=now)
    (visit,) = store.frontier.lease("me", [visit_to(url)], NOW).granted
    result = visited(visit, fetched=gone, outcome=Outcome.REFUSED, reason=Reason.GONE)
    store.commits.commit([visit_result(result, next_state=waits, position=POSITION)], [SEGMENT], now)


def published_titles(store: Store, after: int = 0) -> list[tuple[str, str | None]]:
    return [(row.url, row.document and row.document.title) for row in store.changes.published(after)]


def test_each_url_is_published_once_with_its_latest_change_in_order_of_versions(store: Store) -> None:
    assert (list(store.changes.published()), store.changes.version()) == ([], 0)
    for number, url in enumerate([A, A_PAGE, B, A]):
        publish(store, url, NOW + number, page=Page(title=f"title {number}"))
    delete(store, A_PAGE, NOW + 9)
    assert published_titles(store) == [(B, "title 2"), (A, "title 3"), (A_PAGE, None)]
    versions = [row.version for row in store.changes.published()]
    assert versions == sorted(versions)
    assert store.changes.version() == versions[-1]
    assert [row.key for row in store.changes.published()] == [key_of(B), key_of(A), key_of(A_PAGE)]


def test_a_reader_gets_the_changes_after_the_version_it_has(store: Store) -> None:
    publish(store, A)
    publish(store, A_PAGE)
    seen = store.changes.version()
    assert published_titles(store, seen) == []
    publish(store, A, NOW + 1, page=Page(title="new"))
    assert published_titles(store, seen) == [(A, "new")]
    delete(store, A, NOW + 2)
    publish(store, B, NOW + 3)
    assert published_titles(store, seen) == [(A, None), (B, "")]


def test_a_copy_is_published_with_the_url_of_its_original(store: Store) -> None:
    page = Page(body_digest=b"same", payload_digest=b"same")
    for url in (A, A_PAGE, B):
        publish(store, url, page=page if url != A_PAGE else Page(body_digest=b"other"))
    assert [(row.url, row.duplicate_of) for row in store.changes.published()] == [(A, None), (A_PAGE, None), (B, A)]


@pytest.mark.parametrize(("digest", "followed"), [(7, False), (8, True)])
def test_links_of_a_copy_are_added_only_if_they_differ(digest: int, followed: bool, store: Store) -> None:
    page = Page(body_digest=b"same", payload_digest=b"same", links_digest=7)
    publish(store, A, page=page)
    publish(store, B, page=replace(page, links_digest=digest, links=(link("http://new.test/", "words"),)))
    assert store.documents.versions(key_of(B))[0].duplicate_of == store.documents.versions(key_of(A))[0].id
    assert (store.urls.find(key_of("http://new.test/")) is not None) == followed


def test_published_changes_are_read_from_one_snapshot(opener: Opener, store: Store) -> None:
    publish(store, A)
    publish(store, A_PAGE)
    reader = opener()
    rows = reader.changes.published()
    first = next(rows)
    publish(store, B, page=Page(links=(link(A_PAGE, "new words"),)))
    publish(store, A_PAGE, NOW + 1, page=Page(title="new"))
    assert reader.documents.anchors(key_of(A_PAGE)) == []
    assert [(row.url, row.document and row.document.title) for row in (first, *rows)] == [(A, ""), (A_PAGE, "")]
    assert reader.documents.anchors(key_of(A_PAGE)) == [("b.test", "new words")]
    reader.close()


def test_a_document_is_found_by_its_number(store: Store) -> None:
    publish(store, A, page=Page(title="old"))
    publish(store, A, NOW + 1, page=Page(title="new"))
    new, old = store.documents.versions(key_of(A))
    assert (store.documents.find(old.id), store.documents.find(new.id)) == (old, new)
    assert store.documents.find(new.id + 1) is None


# ── the dead ──


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
    for death in range(1, 7):
        acquire(store, "me", 0, NOW, 60, 60)
        (visit,) = lease_all(store)
        assert visit.crashes == death - 1
        recovered = store.partitions.recover([0], NOW, lambda name, clock: clock)
        assert recovered.quarantined == (death == 6)
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


# ── files ──


def test_a_segment_grows_with_commits_and_can_be_closed(store: Store) -> None:
    store.commits.commit([], [SEGMENT], NOW)
    store.commits.commit([], [dataclasses.replace(SEGMENT, length=300, records=9)], NOW)
    store.archive.close_segment(SEGMENT.name)
    assert store.archive.segments(0) == [dataclasses.replace(SEGMENT, length=300, records=9, closed=True)]
    assert store.archive.segments(1) == []


# ── everything survives ──


def test_committed_rows_are_there_for_the_next_process(opener: Opener) -> None:
    store = opener()
    acquire(store, "me", 0, NOW, 60, 60)
    store.urls.add_seeds([new_url(A)], NOW)
    (visit,) = lease_all(store)
    store.commits.commit([visit_result(visited(visit, link(A_PAGE)), position=POSITION)], [SEGMENT], NOW)
    store.partitions.leave("me")
    account = store.crawl.account()
    store.close()
    again = opener()
    assert again.crawl.account() == account
    assert again.commits.last() == NOW
    assert acquire(again, "you", 0, NOW, 60, 60) > 0
    assert again.crawl.check() is None
    again.close()


# ── the law ──

URLS = [f"http://h{host}.test/{page}" for host in range(3) for page in range(4)]
urls_given = st.lists(st.sampled_from(URLS), max_size=6)
AFTER = {
    Outcome.FETCHED: NextState(state=State.WAITING, reason=Reason.REVISIT, due=NOW),
    Outcome.FAILED: NextState(state=State.WAITING, reason=Reason.TIMEOUT, due=NOW, tries=1),
    Outcome.REFUSED: NextState(state=State.PARKED, reason=Reason.GONE),
}


def refuse_only(refused: set[str]) -> Judge:
    return lambda url, depth: REFUSAL if url in refused else None


@pytest.mark.parametrize("engine", ENGINES)
def test_known_is_waiting_plus_leased_plus_parked_whatever_happens(
    engine: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    class StoreMachine(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            self.store = ENGINES[engine](tmp_path_factory.mktemp("store"))()
            acquire(self.store, "me", 0, NOW, 60, 60)
            self.known: set[str] = set()
            self.seeds: set[str] = set()
            self.out: list[Visit] = []

        @rule(urls=urls_given, parked=st.booleans())
        def add(self, urls: list[str], parked: bool) -> None:
            new = self.store.urls.add([found_url(url, refused=REFUSAL if parked else None) for url in urls], NOW)
            assert new == len(set(urls) - self.known)
            self.known |= set(urls)

        @rule(urls=urls_given)
        def seed(self, urls: list[str]) -> None:
            assert self.store.urls.add_seeds([new_url(url) for url in urls], NOW) == len(set(urls) - self.known)
            self.known |= set(urls)
            self.seeds |= set(urls)

        @rule(refused=st.sets(st.sampled_from(URLS)), site=st.sampled_from([None, "h0.test", "test"]))
        def change_the_scope(self, refused: set[str], site: str | None) -> None:
            before = {url: row_of(self.store, url) for url in self.known}
            judge = refuse_only(refused)
            judged = self.store.urls.review_scope(judge, NOW, site)
            after = {url: row_of(self.store, url) for url in self.known}
            changed = {url for url in self.known if before[url] != after[url]}
            assert all(site in (None, "test", host_of(url)) for url in changed)
            assert not any(after[url].state is State.PARKED for url in changed & self.seeds)
            if site != "h0.test":
                assert {url for url, row in after.items() if row.reason in SCOPE_REASONS} <= refused - self.seeds
                never = {url for url, row in after.items() if row.visited is None and row.state is State.WAITING}
                assert never & refused <= self.seeds
            states = [(before[url].state, after[url].state) for url in changed]
            assert judged.opened == states.count((State.PARKED, State.WAITING))
            assert judged.closed == states.count((State.WAITING, State.PARKED))

        @rule(hosts=st.integers(1, 3), urls=st.integers(1, 3))
        def lease(self, hosts: int, urls: int) -> None:
            loads = self.store.frontier.activate("me", NOW, hosts, urls, {visit.key.host for visit in self.out})
            self.out += self.store.frontier.lease("me", [visit for load in loads for visit in load.visits], NOW).granted

        @rule(outcome=st.sampled_from(list(AFTER)), links=urls_given)
        def commit(self, outcome: Outcome, links: list[str]) -> None:
            batch = [
                visit_result(visited(visit, *map(link, links), outcome=outcome), next_state=AFTER[outcome])
                for visit in self.out
            ]
            self.store.commits.commit(batch, [], NOW)
            self.known |= set(links) if batch else set()
            self.out = []

        @rule()
        def give_back(self) -> None:
            self.store.frontier.unlease(self.out, NOW)
            self.out = []

        @rule()
        def die(self) -> None:
            self.store.partitions.recover([0], NOW, lambda name, clock: clock)
            acquire(self.store, "me", 0, NOW, 60, 60)
            self.out = []

        @invariant()
        def adds_up(self) -> None:
            account = self.store.crawl.account()
            assert account.known == account.waiting + account.leased + account.parked == len(self.known)
            assert account.leased == len(self.out) == self.store.frontier.outlook().leased

        def teardown(self) -> None:
            self.store.close()

    StoreMachine.TestCase.settings = settings(
        max_examples=60, stateful_step_count=20, deadline=None, suppress_health_check=list(HealthCheck)
    )
    StoreMachine.TestCase("runTest").runTest()


# ── holds and crawl limits ──


def test_a_held_host_is_not_loaded_until_the_hold_ends(store: Store) -> None:
    store.urls.add([new_url(A), new_url(B)], NOW)
    store.frontier.hold([(key_of(A).host, NOW + 100)])
    assert [load.name for load in store.frontier.activate("me", NOW + 99, 9, 9, ())] == ["b.test"]
    assert store.frontier.load(key_of(A).host, NOW + 99, 9) == []
    assert {load.name for load in store.frontier.activate("me", NOW + 100, 9, 9, ())} == {"a.test", "b.test"}
    host = store.urls.find_host(key_of(A).host, NOW)
    assert host is not None
    assert host.clock.held_until == host.clock.next_visit == NOW + 100


@pytest.mark.parametrize(
    "limits",
    [
        CrawlLimits(),
        CrawlLimits(crawl_delay=2.5),
        CrawlLimits(request_rate=RequestRate(1, 60)),
        CrawlLimits(
            crawl_delay=0.0, request_rate=RequestRate(3, 7, DailyWindow(0, 1439)), visit_time=DailyWindow(1320, 360)
        ),
    ],
)
def test_crawl_limits_are_stored_with_the_robots_txt_and_the_host(limits: CrawlLimits, store: Store) -> None:
    store.urls.add([new_url(A)], NOW)
    (visit,) = lease_all(store)
    rules = RobotsFile(
        host=visit.key.host,
        origin="http://a.test",
        status=200,
        body=b"x",
        fetched=NOW,
        expires=NOW + 9,
        crawl_limits=limits,
    )
    store.commits.commit([visit_result(visited(visit, rules=rules), clock=HostClock(crawl_limits=limits))], [], NOW)
    assert store.urls.find_robots("http://a.test") == rules
    host = store.urls.find_host(visit.key.host, NOW)
    assert host is not None
    assert host.clock.crawl_limits == limits
