"""A review of the scope parks URLs that it refuses now, and reopens those that it admits."""

from __future__ import annotations

from typing import Any

import pytest

from crawler.frontier.next_state import NextState
from crawler.frontier.politeness import HostClock
from crawler.items import Kind, Outcome, Reason, Refusal, State, Visit
from crawler.stores.contract.store import Store
from crawler.stores.contract.urls import Judge, ScopeReview
from crawler.urls.keys import key_of
from crawler.urls.scope import SCOPE_REASONS
from tests.contracts.visits import REFUSAL, add_and_lease, found_url, lease_all, row_of, states
from tests.samples import NOW, link, new_url, visit_result, visit_to, visited

A, A_PAGE, B = "http://a.test/", "http://a.test/b", "http://b.test/"
NO_CHANGE = ScopeReview(opened=0, closed=0)
ROBOTS = "http://a.test/robots.txt"
SITE = ["example.test", "www.example.test", "a.b.example.test"]
OTHER_HOSTS = [
    *("not-example.test", "example0.test", "example.tes", "xample.test", "example-test", "test"),
    *("example.test.evil.test", "www.example.test2", "127.0.0.1"),
]


def admit_all(url: str, depth: int) -> Refusal | None:
    """A scope to which every URL belongs."""
    return None


def refuse_all(url: str, depth: int) -> Refusal | None:
    """A scope to which no URL belongs."""
    return REFUSAL


# ── Which URLs are reviewed ──


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


# ── One site ──


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


# ── The frontier after a review ──


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
    for _ in range(30):  # each call removes a few hosts without waiting URLs
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


# ── Index pages ──

DIRECTORY, INDEX = "http://a.test/dir/", "http://a.test/dir/index.html"


def visit_directory(store: Store, **facts: Any) -> None:
    """Visit the directory; it is fetched unless the facts differ."""
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
