"""A commit acknowledges all visits of a batch in one transaction, or none."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from crawler.frontier.politeness import HostClock
from crawler.items import Outcome, Page, Reason, State
from crawler.stores.contract.commits import LateCommit
from crawler.stores.contract.store import Store
from crawler.urls.keys import key_of
from tests.contracts.visits import (
    MOVED,
    OTHER,
    POSITION,
    REVISIT,
    SEGMENT,
    URL,
    due_urls,
    fetch,
    lease_all,
    publish,
    row_of,
    states,
)
from tests.samples import NOW, acquire, answer, link, new_url, visit_result, visited

A, A_PAGE, B = "http://a.test/", "http://a.test/b", "http://b.test/"


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
    assert acquire(store, "you", 1, NOW + 119, 60, 60) == 0  # the lease has ended, but a request may be in flight
    assert acquire(store, "you", 1, NOW + 121, 60, 60) > 0
    (load,) = store.frontier.activate("you", NOW + 200, 10, 10, ())
    assert store.frontier.lease("you", load.visits, NOW).granted
    with pytest.raises(LateCommit):
        store.commits.commit([visit_result(visited(visit))], [], NOW + 201)
    assert acquire(store, "me", 0, NOW + 122, 60, 60) == 0


def test_a_temporary_redirect_is_visited_again(store: Store) -> None:
    fetch(store, URL, NOW, **MOVED, status=302)
    assert row_of(store, URL).state is State.WAITING
    assert {URL, OTHER} <= due_urls(store, NOW + REVISIT)


@pytest.mark.parametrize(("digest", "followed"), [(7, False), (8, True)])
def test_links_of_a_copy_are_added_only_if_they_differ(digest: int, followed: bool, store: Store) -> None:
    page = Page(body_digest=b"same", payload_digest=b"same", links_digest=7)
    publish(store, A, page=page)
    publish(store, B, page=replace(page, links_digest=digest, links=(link("http://new.test/", "words"),)))
    assert store.documents.versions(key_of(B))[0].duplicate_of == store.documents.versions(key_of(A))[0].id
    assert (store.urls.find(key_of("http://new.test/")) is not None) == followed
