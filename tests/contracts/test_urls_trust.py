"""Statements about changes are checked against the next body, and counted by source."""

from __future__ import annotations

from typing import Any

import pytest

from crawler.frontier.trust import Source, Trust
from crawler.items import Kind, ListedUrl, Outcome, Page, Reason
from crawler.stores.contract.store import Store
from crawler.urls.keys import key_of
from tests.contracts.visits import (
    DAY,
    OTHER,
    POSITION,
    PROMISING,
    REVISIT,
    SAME_HEAD,
    SEGMENT,
    SERVER_ERROR,
    UNCHANGED,
    URL,
    commit,
    fetch,
    lease_url,
    page,
    row_of,
)
from tests.samples import NOW, answer, new_url, visit_result, visited

HOST = key_of(URL).host
DATE, LATER = "Wed, 21 Oct 2015 07:28:00 GMT", "Wed, 21 Oct 2015 07:28:01 GMT"
SITEMAP, FEED = "http://a.test/sitemap.xml", "http://a.test/feed"
RIGHT_CHANGED, WRONG_CHANGED = Trust(changed_right=1), Trust(changed_wrong=1)
RIGHT_SAME, WRONG_SAME = Trust(same_right=1), Trust(same_wrong=1)


# ── Validators ──


def trust_after_refetch(store: Store, before: Page, after: Page, **facts: Any) -> dict[Source, Trust]:
    fetch(store, URL, NOW, page=before, body=b"12345")
    assert store.urls.trust(HOST) == {}
    fetch(store, URL, NOW + REVISIT, page=after, **facts)
    return dict(store.urls.trust(HOST))


@pytest.mark.parametrize(
    ("before", "after", "trust"),
    [
        (page("a", etag="1"), page("a", etag="1"), RIGHT_SAME),
        (page("a", etag="1"), page("b", etag="1"), WRONG_SAME),
        (page("a", etag="1"), page("a", etag="2"), WRONG_CHANGED),
        (page("a", etag="1"), page("b", etag="2"), RIGHT_CHANGED),
        # Last-Modified counts only without an ETag
        (page("a", last_modified=DATE), page("a", last_modified=DATE), RIGHT_SAME),
        (page("a", last_modified=DATE), page("b", last_modified=DATE), WRONG_SAME),
        (page("a", last_modified=DATE), page("a", last_modified=LATER), WRONG_CHANGED),
        (page("a", etag="1", last_modified=DATE), page("a", etag="1", last_modified=LATER), RIGHT_SAME),
        (page("a", etag="1", last_modified=DATE), page("b", last_modified=LATER), RIGHT_CHANGED),
        # without a validator in both answers nothing is counted
        (page("a", etag="1"), page("b"), None),
        (page("a"), page("b", etag="1"), None),
        (page("a"), page("a"), None),
    ],
)
def test_validators_are_checked_against_the_next_body(
    before: Page, after: Page, trust: Trust | None, store: Store
) -> None:
    assert trust_after_refetch(store, before, after) == ({Source.VALIDATORS: trust} if trust else {})


@pytest.mark.parametrize(
    ("length", "body", "trust"),
    [(5, "a", RIGHT_SAME), (5, "b", WRONG_SAME), (6, "a", WRONG_CHANGED), (6, "b", RIGHT_CHANGED)],
)
def test_without_validators_the_content_length_counts_as_the_answer_to_head(
    length: int, body: str, trust: Trust, store: Store
) -> None:
    head = f"HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n".encode()
    assert trust_after_refetch(store, page("a"), page(body), head=head) == {Source.HEAD: trust}


@pytest.mark.parametrize("how", [UNCHANGED | {"page": page("", etag="1")}, SAME_HEAD], ids=["304", "head"])
def test_only_a_full_fetch_changes_trust(how: dict[str, Any], store: Store) -> None:
    fetch(store, URL, NOW, page=page("a", etag="1"))
    fetch(store, URL, NOW + REVISIT, **how)
    assert store.urls.trust(HOST) == {}


def test_observations_add_up_and_belong_to_their_host(store: Store) -> None:
    for times, body in enumerate("aabbc"):
        fetch(store, URL, NOW + times * REVISIT, page=page(body, etag="1"))
    assert store.urls.trust(HOST) == {Source.VALIDATORS: Trust(same_right=2, same_wrong=2)}
    assert store.urls.trust(key_of("http://b.test/").host) == {}
    (load,) = store.frontier.activate("me", NOW + 9 * REVISIT, 9, 9, ())
    assert load.trust == store.urls.trust(HOST)


def test_several_observations_of_one_batch_all_count(store: Store) -> None:
    for url in (URL, OTHER):
        fetch(store, url, NOW, page=page(url, etag="1"))
    results = [
        visited(lease_url(store, url, NOW + REVISIT), page=page("new " + url, etag="1"), fetched=answer(url))
        for url in (URL, OTHER)
    ]
    store.commits.commit([visit_result(result, position=POSITION) for result in results], [SEGMENT], NOW + REVISIT)
    assert store.urls.trust(HOST) == {Source.VALIDATORS: Trust(same_wrong=2)}


def test_an_error_between_two_fetches_is_no_change(store: Store) -> None:
    fetch(store, URL, NOW, page=page("a", etag='"a"'))
    fetch(store, URL, NOW + REVISIT, **SERVER_ERROR, page=page("error"))
    fetch(store, URL, NOW + 2 * REVISIT, page=page("a", etag='"a"'))
    assert store.urls.trust(HOST) == {Source.VALIDATORS: Trust(same_right=1)}
    assert row_of(store, URL).changes == 0


# ── Sitemaps and feeds ──


def fetch_list(store: Store, list_url: str, now: float, **facts: Any) -> None:
    kind = Kind.FEED if list_url == FEED else Kind.SITEMAP
    store.urls.add([new_url(list_url, kind=kind)], now)
    entry = ListedUrl(key_of(URL), URL, None, guid=1)._replace(**facts)
    fetch(store, list_url, now, page=Page(kind=kind, listed=[entry], body_digest=str(now).encode()))


@pytest.mark.parametrize(("list_url", "source"), [(SITEMAP, Source.LASTMOD), (FEED, Source.FEED)])
@pytest.mark.parametrize(
    ("modified", "body", "trust"),
    [
        (NOW + 50, "b", RIGHT_CHANGED),
        (NOW + 50, "a", WRONG_CHANGED),
        (NOW - 50, "b", WRONG_SAME),
        (NOW - 50, "a", RIGHT_SAME),
    ],
)
def test_dates_in_lists_are_checked_against_the_next_body(
    list_url: str, source: Source, modified: float, body: str, trust: Trust, store: Store
) -> None:
    fetch(store, URL, NOW, page=page("a"))
    fetch_list(store, list_url, NOW + DAY, modified=modified)
    fetch(store, URL, NOW + REVISIT, page=page(body))
    assert store.urls.trust(HOST) == {source: trust}


@pytest.mark.parametrize(
    ("interval", "body", "trust"),
    [
        (3_600.0, "b", RIGHT_CHANGED),
        (3_600.0, "a", WRONG_CHANGED),
        (30 * DAY, "b", WRONG_SAME),
        (30 * DAY, "a", RIGHT_SAME),
    ],
)
def test_change_frequencies_are_checked_against_the_next_body(
    interval: float, body: str, trust: Trust, store: Store
) -> None:
    fetch(store, URL, NOW, page=page("a"))
    fetch_list(store, SITEMAP, NOW + DAY, interval=interval)
    fetch(store, URL, NOW + REVISIT, page=page(body))
    assert store.urls.trust(HOST) == {Source.CHANGEFREQ: trust}


def test_a_list_that_was_not_read_since_the_last_visit_is_not_checked(store: Store) -> None:
    fetch_list(store, SITEMAP, NOW, modified=NOW - 50, interval=DAY)
    fetch(store, URL, NOW + 50, page=page("a"))
    fetch(store, URL, NOW + REVISIT, page=page("b"))
    assert store.urls.trust(HOST) == {}


# ── HEAD ──


@pytest.mark.parametrize(
    ("head_status", "status", "trust"),
    [
        (200, 200, RIGHT_CHANGED),
        (404, 404, RIGHT_CHANGED),
        (404, 200, WRONG_SAME),
        (200, 404, WRONG_SAME),
        (500, 200, WRONG_SAME),
        # a host that refuses HEAD counts double
        (405, 200, Trust(same_wrong=2)),
        (501, 200, Trust(same_wrong=2)),
        (0, 200, Trust(same_wrong=2)),
        (405, 405, RIGHT_CHANGED),
        (405, 404, RIGHT_CHANGED),  # it is missing for both methods
    ],
)
def test_the_answer_to_head_is_checked_against_the_answer_to_get(
    head_status: int, status: int, trust: Trust, store: Store
) -> None:
    fetch(store, URL, NOW, **PROMISING, status=head_status)
    visit = lease_url(store, URL, NOW + 5)
    assert visit.head_status == (head_status or 1)
    facts = {} if status == 200 else {"outcome": Outcome.REFUSED, "reason": Reason.NOT_FOUND}
    commit(store, visit, NOW + 5, status=status, page=page("a"), **facts)
    assert store.urls.trust(HOST) == {Source.HEAD: trust}
    assert [visit.head_status for visit in store.frontier.load(HOST, NOW + 9 * REVISIT, 9)] == [0]


def test_the_answer_to_head_is_not_checked_if_get_fails(store: Store) -> None:
    fetch(store, URL, NOW, **PROMISING, status=200)
    fetch(store, URL, NOW + 5, outcome=Outcome.FAILED, reason=Reason.TIMEOUT, status=0, page=None)
    assert store.urls.trust(HOST) == {}


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_temporary_error_does_not_count_against_head(status: int, store: Store) -> None:
    fetch(store, URL, NOW, **PROMISING, status=200)
    fetch(store, URL, NOW + 5, outcome=Outcome.BUSY, reason=Reason.BUSY, status=status, page=None)
    assert store.urls.trust(HOST) == {}


def test_head_does_not_count_as_a_visit_to_the_page(store: Store) -> None:
    """Dates in lists are compared with the last visit to the page itself."""
    fetch(store, URL, NOW, page=page("a"))
    fetch_list(store, SITEMAP, NOW + DAY, modified=NOW + 50)
    fetch(store, URL, NOW + REVISIT, **PROMISING, status=200)
    row = row_of(store, URL)
    assert (row.visits, row.visited, row.last_reason) == (1, NOW, Reason.HEAD_SEEN)
    fetch(store, URL, NOW + REVISIT, page=page("b"))
    assert (row_of(store, URL).visits, row_of(store, URL).visited) == (2, NOW + REVISIT)
    assert store.urls.trust(HOST) == {Source.HEAD: RIGHT_CHANGED, Source.LASTMOD: RIGHT_CHANGED}
