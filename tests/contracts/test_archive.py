"""Archive files have committed lengths, and bodies are found in their records."""

from __future__ import annotations

import dataclasses

from crawler.stores.contract.archive import ArchivedBody
from crawler.stores.contract.store import Store
from crawler.urls.keys import key_of
from tests.contracts.visits import OTHER, REVISIT, SEGMENT, SERVER_ERROR, UNCHANGED, URL, fetch, page
from tests.samples import NOW


def test_a_segment_grows_with_commits_and_can_be_closed(store: Store) -> None:
    store.commits.commit([], [SEGMENT], NOW)
    store.commits.commit([], [dataclasses.replace(SEGMENT, length=300, records=9)], NOW)
    store.archive.close_segment(SEGMENT.name)
    assert store.archive.segments(0) == [dataclasses.replace(SEGMENT, length=300, records=9, closed=True)]
    assert store.archive.segments(1) == []


def test_the_last_body_is_that_of_the_last_document(store: Store) -> None:
    assert store.archive.last_body(key_of(URL)) is None
    fetch(store, URL, NOW, page=page("a"))
    fetch(store, URL, NOW + REVISIT, page=page("b"))
    last = ArchivedBody(url=URL, started=NOW + REVISIT - 0.1, payload_digest=b"b")
    assert store.archive.last_body(key_of(URL)) == last
    fetch(store, URL, NOW + 2 * REVISIT, **UNCHANGED, page=page(""))
    assert store.archive.last_body(key_of(URL)) == last
    assert store.archive.last_body(key_of(OTHER)) is None


def test_the_body_of_an_error_is_not_the_last_body(store: Store) -> None:
    fetch(store, URL, NOW, page=page("a"))
    fetch(store, URL, NOW + REVISIT, **SERVER_ERROR, page=page("error"))
    assert store.archive.last_body(key_of(URL)) == ArchivedBody(url=URL, started=NOW - 0.1, payload_digest=b"a")


def test_the_last_body_may_be_archived_under_another_url(store: Store) -> None:
    fetch(store, OTHER, NOW, page=page("a"))
    fetch(store, URL, NOW + 5, page=page("a"), is_revisit=True)
    assert store.archive.last_body(key_of(URL)) == ArchivedBody(url=OTHER, started=NOW - 0.1, payload_digest=b"a")
