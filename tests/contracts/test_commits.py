"""A commit answers for each visit: its document, what that is a duplicate of, what the feed says, the links it brought."""

from __future__ import annotations

from crawler.items import ChangeEvent, Outcome, Reason, Tier
from crawler.stores.contract.commits import CommitSummary, CommittedVisit
from crawler.stores.contract.store import Store
from crawler.urls.keys import key_of
from tests.contracts.test_duplicates import ONE, edited, page
from tests.contracts.visits import DAY, PLACE, SEGMENT, fetch, leased, refused
from tests.samples import NOW, answer, link, new_url, visit_result, visited

A, B, C = "http://a.test/x?print=1", "http://b.test/copied", "http://c.test/one"
NEW = [link("http://a.test/1"), link("http://a.test/2"), link("http://d.test/")]


def of(committed: CommitSummary, url: str) -> CommittedVisit:
    return committed.visits[key_of(url)]


def document_of(store: Store, url: str) -> int:
    return store.documents.versions(key_of(url))[0].id


def test_a_new_page_is_reported_with_its_document_and_its_new_links(store: Store) -> None:
    first = of(fetch(store, A, NOW, page=page(ONE, links=NEW[:2])), A)
    assert first == CommittedVisit(document=document_of(store, A), change=ChangeEvent.UPSERT, new_links=2)
    second = of(fetch(store, C, NOW + 1, page=page(edited(ONE, 40), links=NEW)), C)
    assert second.new_links == 1


def test_new_links_are_counted_for_the_visit_that_found_them_first(store: Store) -> None:
    store.urls.add([new_url(A), new_url(B)], NOW)
    visits = [leased(store, url, NOW) for url in (A, B)]
    pages = [page(ONE, links=NEW[:1]), page(edited(ONE, 40), links=NEW)]
    batch = [
        visit_result(visited(visit, fetched=answer(visit.url), page=found), position=PLACE)
        for visit, found in zip(visits, pages, strict=True)
    ]
    committed = store.commits.commit(batch, [SEGMENT], NOW)
    assert [of(committed, url).new_links for url in (A, B)] == [1, 2]
    assert committed.new_urls == 3


def test_a_copy_is_reported_with_its_original_and_its_tier(store: Store) -> None:
    fetch(store, C, NOW, page=page(ONE))
    exact = of(fetch(store, B, NOW + 1, page=page(ONE)), B)
    assert (exact.duplicate_of, exact.similarity, exact.tier) == (document_of(store, C), 1.0, Tier.BODY)
    near = of(fetch(store, A, NOW + 2, page=page(edited(ONE, 1))), A)
    assert (near.duplicate_of, near.tier) == (document_of(store, C), Tier.SKETCH)


def test_a_copy_that_becomes_the_original_is_reported_without_an_original(store: Store) -> None:
    better = A.partition("?")[0]
    fetch(store, A, NOW, page=page(ONE))
    committed = fetch(store, better, NOW + 1, page=page(ONE))
    assert (of(committed, better).duplicate_of, of(committed, better).tier) == (None, Tier.BODY)
    assert store.documents.duplicates(key_of(better)) == [A]
    assert committed.duplicates == 1


def test_the_entry_of_a_visit_in_the_change_feed_is_reported(store: Store) -> None:
    fetch(store, A, NOW, page=page(ONE))
    same = of(fetch(store, A, NOW + 8 * DAY, page=page(ONE)), A)
    changed = of(fetch(store, A, NOW + 16 * DAY, page=page(edited(ONE, 40))), A)
    unchanged = of(fetch(store, A, NOW + 24 * DAY, outcome=Outcome.UNCHANGED, reason=Reason.NOT_MODIFIED), A)
    gone = of(refused(store, A, NOW + 32 * DAY, Reason.GONE, 410, page=None), A)
    assert [visit.change for visit in (same, changed, unchanged, gone)] == [
        *(ChangeEvent.META, ChangeEvent.UPSERT, ChangeEvent.META, ChangeEvent.DELETE)
    ]
    assert unchanged.document is None
    assert gone.document is None
    assert of(refused(store, B, NOW, Reason.NOT_FOUND, 404), B).change is None
