"""The change feed, as whoever keeps an index needs it: promises of every store."""

from __future__ import annotations

import pytest

from crawler.items import Kind, Outcome, Page, Reason
from crawler.stores.contract.changes import PublishedChange
from crawler.stores.contract.store import Store
from crawler.urls.keys import key_of
from tests.contracts.engines import Opener
from tests.contracts.visits import REVISIT, fetch, fetch_refused, page
from tests.samples import NOW, link

A, B, C = "http://a.test/", "http://b.test/", "http://c.test/"


def page_linking_to(url: str, anchor: str) -> Page:
    """A page that calls another something."""
    return page(f"{url} {anchor}", links=(link(url, anchor),))


def latest_change(store: Store, url: str, after: int = 0) -> PublishedChange | None:
    return next((row for row in store.changes.published(after) if row.url == url), None)


def events(store: Store, url: str) -> list[str]:
    return [change for change, of in store.changes.entries() if of == url]


# ── what is new ──


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


# ── what is gone ──


@pytest.mark.parametrize(
    ("reason", "status", "visits"),
    [(Reason.GONE, 410, 1), (Reason.NOT_FOUND, 404, 2), (Reason.FORBIDDEN, 403, 2), (Reason.SOFT_404, 200, 2)],
)
def test_a_deletion_is_published_with_its_reason(reason: Reason, status: int, visits: int, store: Store) -> None:
    fetch(store, A, NOW, page=page())
    for number in range(visits):
        fetch_refused(store, A, NOW + (number + 1) * REVISIT, reason, status)
    row = latest_change(store, A)
    assert row is not None
    assert (row.document, row.reason, row.detail) == (None, reason, "")


def test_a_page_that_has_moved_is_deleted_with_its_new_url(store: Store) -> None:
    fetch(store, A, NOW, page=page())
    fetch(
        store, A, NOW + REVISIT, outcome=Outcome.REDIRECTED, reason=Reason.REDIRECTED, status=301, location=link(B), page=None
    )  # fmt: skip
    row = latest_change(store, A)
    assert row is not None
    assert (row.document, row.reason, row.detail) == (None, Reason.REDIRECTED, B)


def test_a_page_that_has_become_a_feed_is_deleted_as_not_a_page(store: Store) -> None:
    fetch(store, A, NOW, page=page("a"))
    fetch(store, A, NOW + REVISIT, page=page("b", kind=Kind.FEED))
    row = latest_change(store, A)
    assert row is not None
    assert (row.document, row.reason) == (None, Reason.NOT_A_PAGE)


def test_a_temporary_error_never_deletes(store: Store) -> None:
    fetch(store, A, NOW, page=page())
    for number in range(5):
        failed = {"outcome": Outcome.FAILED, "reason": Reason.SERVER_ERROR, "status": 500}
        fetch(store, A, NOW + (number + 1) * 4 * REVISIT, **failed, page=None)
    assert events(store, A) == ["upsert"]


# ── what others call a page ──


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
    assert row.seen == row.document.fetched  # nobody has looked at it since
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


# ── of the crawl itself ──


def test_a_crawl_has_a_permanent_identity(store: Store, opener: Opener) -> None:
    another = opener()
    assert another.crawl.facts()["identity"] == store.crawl.facts()["identity"]
    another.close()


def test_summaries_of_runs_are_returned_in_order(store: Store) -> None:
    assert store.crawl.runs() == []
    store.crawl.add_run({"pages": 1, "finished": "dönè"}, NOW)
    store.crawl.add_run({"pages": 2}, NOW + 1)
    assert store.crawl.runs() == [{"pages": 1, "finished": "dönè", "ended": NOW}, {"pages": 2, "ended": NOW + 1}]
