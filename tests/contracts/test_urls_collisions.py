"""Of two URLs with one key the first is stored, and the other is recorded as a collision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from crawler.items import Link, Outcome, Reason, Refusal, State
from crawler.stores.contract.store import Store
from crawler.stores.contract.urls import NewUrl
from crawler.urls.keys import key_of
from tests.contracts.engines import Opener
from tests.contracts.visits import add_and_lease, insert_early, row_of, states
from tests.samples import NOW, link, new_url, visit_result, visit_to, visited

A, A_PAGE, B = "http://a.test/", "http://a.test/b", "http://b.test/"
COLLIDING = "http://a.test/double"  # gets the key of A by hand, for no real collision is known


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
    result = visited(add_and_lease(store, A_PAGE), colliding_link(), link(A))
    return sum(insert_early(store, result).new_links.values())


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
            insert_early(store, visited(visit_to(A_PAGE), colliding_link(), link(A), colliding_link())).new_links == {}
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
    assert row_of(store, A).url == others[0]  # the first that was added
    assert sorted(store.urls.collisions(key_of(A))) == sorted([A, *others[1:]])
    assert (states(store)[0], store.crawl.account().collisions) == (1, 3)


def test_a_link_that_was_seen_many_times_does_not_hide_another_with_its_key(store: Store) -> None:
    store.urls.add([new_url(A)], NOW)
    for number in range(5):
        insert_early(store, visited(visit_to(A_PAGE), link(A), link(f"http://a.test/{number}")))
    assert store.urls.collisions(key_of(A)) == []
    early = insert_early(store, visited(visit_to(A_PAGE), link(A), colliding_link(), link(A), colliding_link()))
    assert (early.new_links, set(early.hosts_with_new)) == ({}, set())
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
