"""The summary of a commit reports for each visit its document, original, change entry and new links."""

from __future__ import annotations

from crawler.items import ChangeEvent, Outcome, Reason, Tier
from crawler.stores.contract.commits import CommitSummary, CommittedVisit
from crawler.stores.contract.store import Store
from crawler.urls.keys import key_of
from tests.contracts.similar_texts import ONE, edited, text_page
from tests.contracts.visits import DAY, POSITION, SEGMENT, fetch, fetch_refused, lease_url
from tests.samples import NOW, answer, link, new_url, visit_result, visited

A_PRINT, B, C = "http://a.test/x?print=1", "http://b.test/copied", "http://c.test/one"
LINKS = [link("http://a.test/1"), link("http://a.test/2"), link("http://d.test/")]


def committed_visit(committed: CommitSummary, url: str) -> CommittedVisit:
    return committed.visits[key_of(url)]


def document_number(store: Store, url: str) -> int:
    return store.documents.versions(key_of(url))[0].id


def test_a_new_page_is_reported_with_its_document_and_its_new_links(store: Store) -> None:
    first = committed_visit(fetch(store, A_PRINT, NOW, page=text_page(ONE, links=LINKS[:2])), A_PRINT)
    assert first == CommittedVisit(document=document_number(store, A_PRINT), change=ChangeEvent.UPSERT, new_links=2)
    second = committed_visit(fetch(store, C, NOW + 1, page=text_page(edited(ONE, 40), links=LINKS)), C)
    assert second.new_links == 1


def test_new_links_are_counted_for_the_visit_that_found_them_first(store: Store) -> None:
    store.urls.add([new_url(A_PRINT), new_url(B)], NOW)
    visits = [lease_url(store, url, NOW) for url in (A_PRINT, B)]
    pages = [text_page(ONE, links=LINKS[:1]), text_page(edited(ONE, 40), links=LINKS)]
    batch = [
        visit_result(visited(visit, fetched=answer(visit.url), page=found), position=POSITION)
        for visit, found in zip(visits, pages, strict=True)
    ]
    committed = store.commits.commit(batch, [SEGMENT], NOW)
    assert [committed_visit(committed, url).new_links for url in (A_PRINT, B)] == [1, 2]
    assert committed.new_urls == 3


def test_a_copy_is_reported_with_its_original_and_its_tier(store: Store) -> None:
    fetch(store, C, NOW, page=text_page(ONE))
    exact = committed_visit(fetch(store, B, NOW + 1, page=text_page(ONE)), B)
    assert (exact.duplicate_of, exact.similarity, exact.tier) == (document_number(store, C), 1.0, Tier.BODY)
    near = committed_visit(fetch(store, A_PRINT, NOW + 2, page=text_page(edited(ONE, 1))), A_PRINT)
    assert (near.duplicate_of, near.tier) == (document_number(store, C), Tier.SKETCH)


def test_a_copy_that_becomes_the_original_is_reported_without_an_original(store: Store) -> None:
    better = A_PRINT.partition("?")[0]
    fetch(store, A_PRINT, NOW, page=text_page(ONE))
    committed = fetch(store, better, NOW + 1, page=text_page(ONE))
    assert (committed_visit(committed, better).duplicate_of, committed_visit(committed, better).tier) == (
        None,
        Tier.BODY,
    )
    assert store.documents.duplicates(key_of(better)) == [A_PRINT]
    assert committed.duplicates == 1


def test_the_entry_of_a_visit_in_the_change_feed_is_reported(store: Store) -> None:
    fetch(store, A_PRINT, NOW, page=text_page(ONE))
    same = committed_visit(fetch(store, A_PRINT, NOW + 8 * DAY, page=text_page(ONE)), A_PRINT)
    changed = committed_visit(fetch(store, A_PRINT, NOW + 16 * DAY, page=text_page(edited(ONE, 40))), A_PRINT)
    unchanged = committed_visit(
        fetch(store, A_PRINT, NOW + 24 * DAY, outcome=Outcome.UNCHANGED, reason=Reason.NOT_MODIFIED), A_PRINT
    )
    gone = committed_visit(fetch_refused(store, A_PRINT, NOW + 32 * DAY, Reason.GONE, 410, page=None), A_PRINT)
    assert [visit.change for visit in (same, changed, unchanged, gone)] == [
        *(ChangeEvent.META, ChangeEvent.UPSERT, ChangeEvent.META, ChangeEvent.DELETE)
    ]
    assert unchanged.document is None
    assert gone.document is None
    assert committed_visit(fetch_refused(store, B, NOW, Reason.NOT_FOUND, 404), B).change is None
