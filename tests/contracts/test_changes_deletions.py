"""A published page is deleted from the change feed for certain evidence only."""

from __future__ import annotations

from typing import Any

import pytest

from crawler.items import Kind, Outcome, Reason, State
from crawler.stores.contract.store import Store
from tests.contracts.visits import (
    MOVED,
    POSITION,
    REVISIT,
    SEGMENT,
    SERVER_ERROR,
    URL,
    events,
    fetch,
    fetch_refused,
    latest_change,
    lease_all,
    page,
    row_of,
)
from tests.samples import NOW, answer, link, new_url, visit_result, visited

A, B = "http://a.test/", "http://b.test/"


# ── Reasons ──


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
    fetch(store, A, NOW + REVISIT, **MOVED | {"location": link(B)}, status=301, page=None)
    row = latest_change(store, A)
    assert row is not None
    assert (row.document, row.reason, row.detail) == (None, Reason.REDIRECTED, B)


def test_a_page_that_has_become_a_feed_is_deleted_as_not_a_page(store: Store) -> None:
    fetch(store, A, NOW, page=page("a"))
    fetch(store, A, NOW + REVISIT, page=page("b", kind=Kind.FEED))
    row = latest_change(store, A)
    assert row is not None
    assert (row.document, row.reason) == (None, Reason.NOT_A_PAGE)


# ── At once ──


@pytest.mark.parametrize(
    ("facts", "is_deleted"),
    [
        ({"outcome": Outcome.REFUSED, "reason": Reason.GONE, "status": 410}, True),
        (MOVED | {"status": 301}, True),
        (MOVED | {"status": 308}, True),
        (MOVED | {"status": 302}, False),
        (MOVED | {"status": 307}, False),
        ({"outcome": Outcome.DENIED, "reason": Reason.ROBOTS_DENIED, "page": None}, True),
        ({"outcome": Outcome.FETCHED, "reason": Reason.NOINDEX, "page": page("b")}, True),
        ({"outcome": Outcome.FETCHED, "reason": Reason.OFF_TOPIC, "page": page("b", relevance=0.1)}, True),
        ({"outcome": Outcome.FAILED, "reason": Reason.SERVER_ERROR, "status": 500}, False),
        ({"outcome": Outcome.REFUSED, "reason": Reason.CLIENT_ERROR, "status": 400}, False),
    ],
    ids=lambda value: f"{value['reason'].name} {value.get('status', '')}" if isinstance(value, dict) else None,
)
def test_only_certain_evidence_deletes_at_once(facts: dict[str, Any], is_deleted: bool, store: Store) -> None:
    fetch(store, URL, NOW, page=page("a"))
    fetch(store, URL, NOW + REVISIT, **facts)
    assert events(store, URL) == ["upsert"] + ["delete"] * is_deleted


def test_a_published_page_that_now_has_an_unwanted_type_is_deleted_at_once(store: Store) -> None:
    fetch(store, URL, NOW, page=page("a"))
    fetch_refused(store, URL, NOW + REVISIT, Reason.UNWANTED_TYPE, 200, page=None)
    assert (row_of(store, URL).state, events(store, URL)) == (State.PARKED, ["upsert", "delete"])


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


def test_a_page_that_was_never_published_is_not_deleted(store: Store) -> None:
    fetch_refused(store, URL, NOW, Reason.GONE, 410)
    assert events(store, URL) == []


# ── After several visits ──


@pytest.mark.parametrize(
    ("reason", "status"),
    [
        (Reason.NOT_FOUND, 404),
        (Reason.FORBIDDEN, 403),
        (Reason.LOGIN_WALL, 302),
        (Reason.SOFT_404, 200),
    ],
)
def test_a_page_that_is_missing_twice_is_deleted_and_once_it_is_not(reason: Reason, status: int, store: Store) -> None:
    fetch(store, URL, NOW, page=page("a"))
    fetch_refused(store, URL, NOW + REVISIT, reason, status)
    assert (events(store, URL), row_of(store, URL).missing) == (["upsert"], 1)
    fetch_refused(store, URL, NOW + 2 * REVISIT, reason, status)
    assert (events(store, URL), row_of(store, URL).missing) == (["upsert", "delete"], 2)
    fetch_refused(store, URL, NOW + 5 * REVISIT, reason, status)
    assert events(store, URL) == ["upsert", "delete"]
    fetch(store, URL, NOW + 20 * REVISIT, page=page("a"))
    assert (events(store, URL), row_of(store, URL).missing) == (["upsert", "delete", "upsert"], 0)


def test_only_a_page_that_is_missing_twice_in_a_row_is_deleted(store: Store) -> None:
    fetch(store, URL, NOW, page=page("a"))
    for times in range(3):
        fetch_refused(store, URL, NOW + (2 * times + 1) * REVISIT, Reason.NOT_FOUND, 404)
        fetch(store, URL, NOW + (2 * times + 2) * REVISIT, page=page("a"))
    assert events(store, URL) == ["upsert", "meta", "meta", "meta"]


@pytest.mark.parametrize("reason", [Reason.CLIENT_ERROR, Reason.BAD_LOCATION, Reason.REDIRECT_LOOP])
def test_a_published_page_that_is_refused_twice_is_deleted(reason: Reason, store: Store) -> None:
    fetch(store, URL, NOW, page=page("a"))
    fetch_refused(store, URL, NOW + REVISIT, reason, 400)
    assert (row_of(store, URL).state, events(store, URL)) == (State.WAITING, ["upsert"])
    fetch_refused(store, URL, NOW + 2 * REVISIT, reason, 400)
    assert events(store, URL) == ["upsert", "delete"]


def test_a_failure_does_not_reset_the_count_of_missing_visits(store: Store) -> None:
    fetch(store, URL, NOW, page=page("a"))
    fetch_refused(store, URL, NOW + REVISIT, Reason.NOT_FOUND, 404)
    fetch(store, URL, NOW + 2 * REVISIT, outcome=Outcome.FAILED, reason=Reason.TIMEOUT, page=None)
    fetch_refused(store, URL, NOW + 3 * REVISIT, Reason.NOT_FOUND, 404)
    assert events(store, URL) == ["upsert", "delete"]


def test_failures_neither_park_nor_delete_a_published_page(store: Store) -> None:
    fetch(store, URL, NOW, page=page("a"))
    for times in range(3):
        fetch(store, URL, NOW + REVISIT + times * 100, **SERVER_ERROR, page=None)
    assert row_of(store, URL).state is State.WAITING
    fetch(store, URL, NOW + 3 * REVISIT, page=page("a"))
    assert events(store, URL) == ["upsert", "meta"]


def test_a_temporary_error_never_deletes(store: Store) -> None:
    fetch(store, A, NOW, page=page())
    for number in range(5):
        failed = {"outcome": Outcome.FAILED, "reason": Reason.SERVER_ERROR, "status": 500}
        fetch(store, A, NOW + (number + 1) * 4 * REVISIT, **failed, page=None)
    assert events(store, A) == ["upsert"]
