"""The change feed lists the latest change of each URL, in the order of versions."""

from __future__ import annotations

from typing import Any

import pytest

from crawler.frontier.next_state import NextState
from crawler.items import Outcome, Page, Reason, State
from crawler.stores.contract.store import Store
from crawler.urls.keys import key_of
from tests.contracts.engines import Opener
from tests.contracts.visits import (
    POSITION,
    REVISIT,
    SAME_HEAD,
    SEGMENT,
    UNCHANGED,
    URL,
    events,
    fetch,
    fetch_refused,
    latest_change,
    page,
    publish,
)
from tests.samples import NOW, answer, link, visit_result, visit_to, visited

A, A_PAGE, B, C = "http://a.test/", "http://a.test/b", "http://b.test/", "http://c.test/"


# ── Reading the feed ──


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


# ── New or confirmed ──


def test_a_page_that_was_fetched_again_unchanged_is_not_new(store: Store) -> None:
    fetch(store, A, NOW, page=page(title="one"))
    seen = store.changes.version()
    fetch(store, A, NOW + REVISIT, page=page(title="one"))
    row = latest_change(store, A, seen)
    assert row is not None
    assert row.document is not None
    assert (row.is_new, row.seen) == (False, row.document.fetched)
    assert row.seen > NOW


def test_a_page_that_changed_after_the_readers_version_is_new_whatever_came_last(store: Store) -> None:
    fetch(store, A, NOW, page=page("one"))
    seen = store.changes.version()
    fetch(store, A, NOW + REVISIT, page=page("two"))
    fetch(store, A, NOW + 2 * REVISIT, page=page("two"))
    row = latest_change(store, A, seen)
    assert row is not None
    assert row.is_new


def test_the_same_bytes_in_another_encoding_are_an_upsert(store: Store) -> None:
    fetch(store, A, NOW, page=page(encoding="UTF-8"))
    fetch(store, A, NOW + REVISIT, page=page(encoding="windows-1252"))
    assert events(store, A) == ["upsert", "upsert"]


def test_a_page_that_becomes_a_copy_is_new(store: Store) -> None:
    fetch(store, A, NOW, page=page("a"))
    fetch(store, B, NOW + 1, page=page("b"))
    seen = store.changes.version()
    fetch(store, B, NOW + REVISIT, page=page("a"))
    row = latest_change(store, B, seen)
    assert row is not None
    assert (row.is_new, row.duplicate_of) == (True, A)


def test_a_304_confirms_the_published_document(store: Store) -> None:
    fetch(store, A, NOW, page=page())
    before = latest_change(store, A)
    fetch(store, A, NOW + REVISIT, outcome=Outcome.UNCHANGED, reason=Reason.NOT_MODIFIED, status=304, page=page(""))
    after = latest_change(store, A, before.version if before is not None else 0)
    assert before is not None
    assert after is not None
    assert after.document == before.document
    assert (after.is_new, after.seen - before.seen) == (False, REVISIT)


def test_a_truncated_page_is_not_replaced_by_its_earlier_version(store: Store) -> None:
    fetch(store, A, NOW, page=page("same"))
    fetch(store, B, NOW + 1, page=page("same"))
    fetch(store, B, NOW + REVISIT, page=page("cut", title="new"), reason=Reason.CUT_LENGTH)
    fetch_refused(store, A, NOW + 2 * REVISIT, Reason.GONE, 410)
    row = latest_change(store, B)
    assert row is not None
    assert row.document is not None
    assert (row.document.title, row.duplicate_of) == ("new", None)


def test_a_page_is_no_longer_a_copy_when_its_original_comes_truncated(store: Store) -> None:
    fetch(store, A, NOW, page=page("same"))
    fetch(store, B, NOW + 1, page=page("same"))
    fetch(store, A, NOW + REVISIT, page=page("cut"), reason=Reason.CUT_LENGTH)
    row = latest_change(store, B)
    assert row is not None
    assert row.duplicate_of is None


@pytest.mark.parametrize("how", [UNCHANGED | {"page": page("")}, SAME_HEAD], ids=["304", "head"])
def test_an_unchanged_page_gets_a_meta_entry(how: dict[str, Any], store: Store) -> None:
    fetch(store, URL, NOW, page=page("a"))
    fetch(store, URL, NOW + REVISIT, **how)
    assert events(store, URL) == ["upsert", "meta"]
    (published,) = store.changes.published()
    assert published.document == store.documents.versions(key_of(URL))[0]


def test_an_unchanged_page_that_was_never_published_gets_no_entry(store: Store) -> None:
    fetch(store, URL, NOW, page=page("a"), reason=Reason.NOINDEX)
    fetch(store, URL, NOW + REVISIT, **UNCHANGED, page=page(""))
    assert events(store, URL) == []


def test_an_unchanged_page_that_was_deleted_gets_no_entry(store: Store) -> None:
    fetch(store, URL, NOW, page=page("a"))
    fetch(store, URL, NOW + REVISIT, page=page("b"), reason=Reason.NOINDEX)
    fetch(store, URL, NOW + 2 * REVISIT, **UNCHANGED, page=page(""))
    assert events(store, URL) == ["upsert", "delete"]


# ── Anchors ──


def page_linking_to(url: str, anchor: str) -> Page:
    """A page with one link, to a URL with this anchor."""
    return page(f"{url} {anchor}", links=(link(url, anchor),))


def test_all_new_anchors_of_a_page_are_published_in_one_entry(store: Store) -> None:
    fetch(store, A, NOW, page=page())
    fetch(store, B, NOW, page=page_linking_to(A, "one"))
    fetch(store, C, NOW, page=page_linking_to(A, "two"))
    seen = store.changes.version()
    assert store.changes.publish_anchors() == 1
    row = latest_change(store, A, seen)
    assert row is not None
    assert (row.is_new, store.documents.anchors(key_of(A))) == (False, [("b.test", "one"), ("c.test", "two")])
    assert row.document is not None
    assert row.seen == row.document.fetched  # no visit has confirmed it since
    assert store.changes.publish_anchors() == 0


def test_anchors_found_before_the_page_are_published_with_it(store: Store) -> None:
    fetch(store, B, NOW, page=page_linking_to(A, "one"))
    fetch(store, A, NOW + REVISIT, page=page())
    assert store.changes.publish_anchors() == 0
    assert events(store, A) == ["upsert"]


def test_anchors_of_urls_without_a_document_are_not_published(store: Store) -> None:
    fetch(store, C, NOW, page=page())
    fetch_refused(store, C, NOW + REVISIT, Reason.GONE, 410)
    fetch(store, B, NOW + REVISIT, page=page_linking_to(C, "one"))
    fetch(store, B, NOW + 2 * REVISIT, page=page_linking_to("http://d.test/", "two"))
    assert store.changes.publish_anchors() == 0


def test_a_link_without_anchor_text_publishes_nothing(store: Store) -> None:
    fetch(store, A, NOW, page=page())
    fetch(store, B, NOW, page=page_linking_to(A, ""))
    assert store.changes.publish_anchors() == 0


def test_anchors_found_by_one_process_can_be_published_by_another(store: Store, opener: Opener) -> None:
    fetch(store, A, NOW, page=page())
    fetch(store, B, NOW, page=page_linking_to(A, "one"))
    another = opener()
    assert another.changes.publish_anchors() == 1
    another.close()
    assert store.changes.publish_anchors() == 0
