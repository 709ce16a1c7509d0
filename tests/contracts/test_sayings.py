"""What hosts say of their pages, whether it was true, and what an indexer hears: promises of every store."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from crawler.frontier.trust import Source, Trust
from crawler.items import NO_VALIDATORS, Kind, ListedUrl, Outcome, Page, Reason, State, Validators
from crawler.stores.contract.archive import ArchivedBody
from crawler.stores.contract.store import Store
from crawler.urls.hosts import origin_of
from crawler.urls.keys import key_of
from tests.contracts.engines import Opener
from tests.contracts.visits import (
    DAY,
    POSITION,
    REVISIT,
    SEGMENT,
    commit,
    due_urls,
    fetch,
    fetch_refused,
    lease_url,
    page,
    row_of,
)
from tests.samples import NOW, answer, link, new_url, visit_result, visited

URL, OTHER = "http://a.test/page", "http://a.test/other"
HOST = key_of(URL).host
DATE, LATER = "Wed, 21 Oct 2015 07:28:00 GMT", "Wed, 21 Oct 2015 07:28:01 GMT"
HEAD = b"HEAD /page HTTP/1.1\r\n\r\n"
UNCHANGED = {"outcome": Outcome.UNCHANGED, "reason": Reason.NOT_MODIFIED, "status": 304, "body": b""}
SAME_HEAD = UNCHANGED | {"reason": Reason.SAME_HEAD, "status": 200, "page": None, "request": HEAD}
PROMISING = {"outcome": Outcome.PROMISING, "reason": Reason.HEAD_SEEN, "page": None, "request": HEAD}
MOVED = {"outcome": Outcome.REDIRECTED, "reason": Reason.REDIRECTED, "location": link(OTHER)}


def validators(store: Store) -> Validators:
    return row_of(store, URL).validators


# ── what is held ──


def test_a_fetch_stores_validators_and_length(store: Store) -> None:
    fetch(store, URL, NOW, page=page(etag='"a"', last_modified=DATE), body=b"12345")
    assert validators(store) == Validators('"a"', DATE, 5)
    assert lease_url(store, URL, NOW + REVISIT).validators == Validators('"a"', DATE, 5)


def test_without_validators_the_length_is_stored(store: Store) -> None:
    fetch(store, URL, NOW, page=page(), body=b"")
    assert validators(store) == Validators(length=0)
    assert lease_url(store, URL, NOW + REVISIT).validators == Validators(length=0)


@pytest.mark.parametrize("how", [UNCHANGED | {"page": page("")}, SAME_HEAD], ids=["304", "head"])
def test_visits_that_found_the_page_unchanged_by_its_validators_are_counted(how: dict[str, Any], store: Store) -> None:
    fetch(store, URL, NOW, page=page(etag='"a"', last_modified=DATE), body=b"12345")
    for times in (1, 2, 3):
        fetch(store, URL, NOW + times * REVISIT, **how)
        assert validators(store) == Validators('"a"', DATE, 5, times)
    fetch(store, URL, NOW + 4 * REVISIT, page=page(etag='"b"'), body=b"123")
    assert validators(store) == Validators('"b"', "", 3, 0)


def test_a_304_may_replace_a_validator(store: Store) -> None:
    fetch(store, URL, NOW, page=page(etag='"a"', last_modified=DATE), body=b"12345")
    fetch(store, URL, NOW + REVISIT, **UNCHANGED, page=page("", etag='"b"'))
    assert validators(store) == Validators('"b"', DATE, 5, 1)


def test_a_truncated_document_has_no_validators(store: Store) -> None:
    fetch(store, URL, NOW, page=page(etag='"a"', last_modified=DATE))
    fetch(store, URL, NOW + REVISIT, page=page("b", etag='"b"', last_modified=DATE), reason=Reason.CUT_LENGTH)
    assert validators(store) == NO_VALIDATORS
    assert lease_url(store, URL, NOW + 2 * REVISIT).validators == NO_VALIDATORS


def test_a_noindex_page_has_validators(store: Store) -> None:
    fetch(store, URL, NOW, page=page(etag='"a"'), reason=Reason.NOINDEX, body=b"12345")
    assert validators(store) == Validators('"a"', "", 5)


@pytest.mark.parametrize(
    "facts",
    [
        {"outcome": Outcome.FAILED, "reason": Reason.TIMEOUT, "page": None},
        {"outcome": Outcome.BUSY, "reason": Reason.BUSY, "status": 503, "page": page("busy", etag='"busy"')},
        {"outcome": Outcome.REFUSED, "reason": Reason.NOT_FOUND, "status": 404, "page": page("no", etag='"no"')},
        PROMISING,
    ],
    ids=["failed", "busy", "missing", "head"],
)
def test_a_visit_without_a_document_leaves_the_validators_as_they_are(facts: dict[str, Any], store: Store) -> None:
    fetch(store, URL, NOW, page=page(etag='"a"', last_modified=DATE), body=b"12345")
    fetch(store, URL, NOW + REVISIT, **facts)
    assert validators(store) == Validators('"a"', DATE, 5)


# ── where the body is ──


def test_the_last_body_is_that_of_the_last_document(store: Store) -> None:
    assert store.archive.last_body(key_of(URL)) is None
    fetch(store, URL, NOW, page=page("a"))
    fetch(store, URL, NOW + REVISIT, page=page("b"))
    last = ArchivedBody(url=URL, started=NOW + REVISIT - 0.1, payload_digest=b"b")
    assert store.archive.last_body(key_of(URL)) == last
    fetch(store, URL, NOW + 2 * REVISIT, **UNCHANGED, page=page(""))
    assert store.archive.last_body(key_of(URL)) == last
    assert store.archive.last_body(key_of(OTHER)) is None


ERROR = {"outcome": Outcome.FAILED, "reason": Reason.SERVER_ERROR, "status": 500}


def test_the_body_of_an_error_is_not_the_last_body(store: Store) -> None:
    fetch(store, URL, NOW, page=page("a"))
    fetch(store, URL, NOW + REVISIT, **ERROR, page=page("error"))
    assert store.archive.last_body(key_of(URL)) == ArchivedBody(url=URL, started=NOW - 0.1, payload_digest=b"a")


def test_an_error_between_two_fetches_is_no_change(store: Store) -> None:
    fetch(store, URL, NOW, page=page("a", etag='"a"'))
    fetch(store, URL, NOW + REVISIT, **ERROR, page=page("error"))
    fetch(store, URL, NOW + 2 * REVISIT, page=page("a", etag='"a"'))
    assert store.urls.trust(HOST) == {Source.VALIDATORS: Trust(same_right=1)}
    assert row_of(store, URL).changes == 0


def test_a_page_that_counts_as_gone_loses_its_validators(store: Store) -> None:
    fetch(store, URL, NOW, page=page(etag='"a"'))
    fetch_refused(store, URL, NOW + REVISIT, Reason.NOT_FOUND, 404)
    assert validators(store).etag == '"a"'
    fetch_refused(store, URL, NOW + 2 * REVISIT, Reason.NOT_FOUND, 404)
    assert validators(store) == NO_VALIDATORS


def test_a_page_with_an_expiry_date_has_no_validators(store: Store) -> None:
    """Whether a page is over cannot be told from its being unchanged."""
    fetch(store, URL, NOW, page=page(etag='"a"', unavailable_after=NOW + DAY))
    assert validators(store) == NO_VALIDATORS


def test_an_empty_document_has_length_0_whatever_its_transfer_coding(store: Store) -> None:
    empty = Page(body_digest=hashlib.sha256(b"").digest())
    fetch(store, URL, NOW, page=empty, body=b"0\r\n\r\n")
    assert validators(store) == Validators(length=0)


@pytest.mark.parametrize("reason", [Reason.CLIENT_ERROR, Reason.BAD_LOCATION, Reason.REDIRECT_LOOP])
def test_a_published_page_that_is_refused_twice_is_deleted(reason: Reason, store: Store) -> None:
    fetch(store, URL, NOW, page=page("a"))
    fetch_refused(store, URL, NOW + REVISIT, reason, 400)
    assert (row_of(store, URL).state, entries(store)) == (State.WAITING, ["upsert"])
    fetch_refused(store, URL, NOW + 2 * REVISIT, reason, 400)
    assert entries(store) == ["upsert", "delete"]


def test_a_published_page_that_now_has_an_unwanted_type_is_deleted_at_once(store: Store) -> None:
    fetch(store, URL, NOW, page=page("a"))
    fetch_refused(store, URL, NOW + REVISIT, Reason.UNWANTED_TYPE, 200, page=None)
    assert (row_of(store, URL).state, entries(store)) == (State.PARKED, ["upsert", "delete"])


def test_failures_neither_park_nor_delete_a_published_page(store: Store) -> None:
    fetch(store, URL, NOW, page=page("a"))
    for times in range(3):
        fetch(store, URL, NOW + REVISIT + times * 100, **ERROR, page=None)
    assert row_of(store, URL).state is State.WAITING
    fetch(store, URL, NOW + 3 * REVISIT, page=page("a"))
    assert entries(store) == ["upsert", "meta"]


def test_the_last_body_may_be_archived_under_another_url(store: Store) -> None:
    fetch(store, OTHER, NOW, page=page("a"))
    fetch(store, URL, NOW + 5, page=page("a"), is_revisit=True)
    assert store.archive.last_body(key_of(URL)) == ArchivedBody(url=OTHER, started=NOW - 0.1, payload_digest=b"a")


def test_an_unchanged_page_adds_no_document(store: Store) -> None:
    fetch(store, URL, NOW, page=page("a"))
    fetch(store, URL, NOW + REVISIT, **UNCHANGED, page=page(""))
    fetch(store, URL, NOW + 2 * REVISIT, **SAME_HEAD)
    assert len(store.documents.versions(key_of(URL))) == 1
    row = row_of(store, URL)
    assert (row.visits, row.changes, row.last_reason) == (3, 0, Reason.SAME_HEAD)


# ── what an indexer hears ──


def entries(store: Store) -> list[str]:
    return [change for change, url in store.changes.entries() if url == URL]


@pytest.mark.parametrize("how", [UNCHANGED | {"page": page("")}, SAME_HEAD], ids=["304", "head"])
def test_an_unchanged_page_gets_a_meta_entry(how: dict[str, Any], store: Store) -> None:
    fetch(store, URL, NOW, page=page("a"))
    fetch(store, URL, NOW + REVISIT, **how)
    assert entries(store) == ["upsert", "meta"]
    (published,) = store.changes.published()
    assert published.document == store.documents.versions(key_of(URL))[0]


def test_an_unchanged_page_that_was_never_published_gets_no_entry(store: Store) -> None:
    fetch(store, URL, NOW, page=page("a"), reason=Reason.NOINDEX)
    fetch(store, URL, NOW + REVISIT, **UNCHANGED, page=page(""))
    assert entries(store) == []


def test_an_unchanged_page_that_was_deleted_gets_no_entry(store: Store) -> None:
    fetch(store, URL, NOW, page=page("a"))
    fetch(store, URL, NOW + REVISIT, page=page("b"), reason=Reason.NOINDEX)
    fetch(store, URL, NOW + 2 * REVISIT, **UNCHANGED, page=page(""))
    assert entries(store) == ["upsert", "delete"]


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
    assert (entries(store), row_of(store, URL).missing) == (["upsert"], 1)
    fetch_refused(store, URL, NOW + 2 * REVISIT, reason, status)
    assert (entries(store), row_of(store, URL).missing) == (["upsert", "delete"], 2)
    fetch_refused(store, URL, NOW + 5 * REVISIT, reason, status)
    assert entries(store) == ["upsert", "delete"]
    fetch(store, URL, NOW + 20 * REVISIT, page=page("a"))
    assert (entries(store), row_of(store, URL).missing) == (["upsert", "delete", "upsert"], 0)


def test_only_a_page_that_is_missing_twice_in_a_row_is_deleted(store: Store) -> None:
    fetch(store, URL, NOW, page=page("a"))
    for times in range(3):
        fetch_refused(store, URL, NOW + (2 * times + 1) * REVISIT, Reason.NOT_FOUND, 404)
        fetch(store, URL, NOW + (2 * times + 2) * REVISIT, page=page("a"))
    assert entries(store) == ["upsert", "meta", "meta", "meta"]


def test_a_failure_does_not_reset_the_count_of_missing_visits(store: Store) -> None:
    fetch(store, URL, NOW, page=page("a"))
    fetch_refused(store, URL, NOW + REVISIT, Reason.NOT_FOUND, 404)
    fetch(store, URL, NOW + 2 * REVISIT, outcome=Outcome.FAILED, reason=Reason.TIMEOUT, page=None)
    fetch_refused(store, URL, NOW + 3 * REVISIT, Reason.NOT_FOUND, 404)
    assert entries(store) == ["upsert", "delete"]


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
        ({"outcome": Outcome.FAILED, "reason": Reason.SERVER_ERROR, "status": 500}, False),
        ({"outcome": Outcome.REFUSED, "reason": Reason.CLIENT_ERROR, "status": 400}, False),
    ],
    ids=lambda value: f"{value['reason'].name} {value.get('status', '')}" if isinstance(value, dict) else None,
)
def test_only_certain_evidence_deletes_at_once(facts: dict[str, Any], is_deleted: bool, store: Store) -> None:
    fetch(store, URL, NOW, page=page("a"))
    fetch(store, URL, NOW + REVISIT, **facts)
    assert entries(store) == ["upsert"] + ["delete"] * is_deleted


def test_a_page_that_was_never_published_is_not_deleted(store: Store) -> None:
    fetch_refused(store, URL, NOW, Reason.GONE, 410)
    assert entries(store) == []


def test_a_temporary_redirect_is_visited_again(store: Store) -> None:
    fetch(store, URL, NOW, **MOVED, status=302)
    assert row_of(store, URL).state is State.WAITING
    assert {URL, OTHER} <= due_urls(store, NOW + REVISIT)


# ── whether it was true ──


def trust_after_refetch(store: Store, before: Page, after: Page, **facts: Any) -> dict[Source, Trust]:
    fetch(store, URL, NOW, page=before, body=b"12345")
    assert store.urls.trust(HOST) == {}
    fetch(store, URL, NOW + REVISIT, page=after, **facts)
    return dict(store.urls.trust(HOST))


RIGHT_CHANGED, WRONG_CHANGED = Trust(changed_right=1), Trust(changed_wrong=1)
RIGHT_SAME, WRONG_SAME = Trust(same_right=1), Trust(same_wrong=1)


@pytest.mark.parametrize(
    ("before", "after", "trust"),
    [
        (page("a", etag="1"), page("a", etag="1"), RIGHT_SAME),
        (page("a", etag="1"), page("b", etag="1"), WRONG_SAME),
        (page("a", etag="1"), page("a", etag="2"), WRONG_CHANGED),
        (page("a", etag="1"), page("b", etag="2"), RIGHT_CHANGED),
        # without an ETag the date speaks, and with one it does not
        (page("a", last_modified=DATE), page("a", last_modified=DATE), RIGHT_SAME),
        (page("a", last_modified=DATE), page("b", last_modified=DATE), WRONG_SAME),
        (page("a", last_modified=DATE), page("a", last_modified=LATER), WRONG_CHANGED),
        (page("a", etag="1", last_modified=DATE), page("a", etag="1", last_modified=LATER), RIGHT_SAME),
        (page("a", etag="1", last_modified=DATE), page("b", last_modified=LATER), RIGHT_CHANGED),
        # who has said nothing was neither right nor wrong
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


SITEMAP, FEED = "http://a.test/sitemap.xml", "http://a.test/feed"


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


@pytest.mark.parametrize(
    ("head_status", "status", "trust"),
    [
        (200, 200, RIGHT_CHANGED),
        (404, 404, RIGHT_CHANGED),
        (404, 200, WRONG_SAME),
        (200, 404, WRONG_SAME),
        (500, 200, WRONG_SAME),
        # who refuses once does it always
        (405, 200, Trust(same_wrong=2)),
        (501, 200, Trust(same_wrong=2)),
        (0, 200, Trust(same_wrong=2)),
        (405, 405, RIGHT_CHANGED),
        (405, 404, RIGHT_CHANGED),  # it is not there, by whatever method
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
    """Else nobody would know any more when the page was last seen, and what was said of it since."""
    fetch(store, URL, NOW, page=page("a"))
    fetch_list(store, SITEMAP, NOW + DAY, modified=NOW + 50)
    fetch(store, URL, NOW + REVISIT, **PROMISING, status=200)
    row = row_of(store, URL)
    assert (row.visits, row.visited, row.last_reason) == (1, NOW, Reason.HEAD_SEEN)
    fetch(store, URL, NOW + REVISIT, page=page("b"))
    assert (row_of(store, URL).visits, row_of(store, URL).visited) == (2, NOW + REVISIT)
    assert store.urls.trust(HOST) == {Source.HEAD: RIGHT_CHANGED, Source.LASTMOD: RIGHT_CHANGED}


# ── pages that a host does not have ──


def probe_urls(store: Store, now: float = NOW) -> list[str]:
    return [
        visit.url
        for load in store.frontier.activate("me", now, 9, 99, ())
        for visit in load.visits
        if visit.kind is Kind.PROBE
    ]


def fetch_pages(store: Store, count: int, now: float = NOW, host: str = "a.test") -> None:
    for number in range(count):
        fetch(store, f"http://{host}/{now}/{number}", now, page=page(f"{host} {now} {number}"))


def has_soft404(store: Store) -> bool | None:
    row = store.urls.find_host(HOST, NOW)
    assert row is not None
    return row.soft404


def test_a_host_is_probed_once_after_a_number_of_pages(with_probes: Opener) -> None:
    store = with_probes(3)
    fetch_pages(store, 2)
    assert (probe_urls(store), has_soft404(store)) == ([], None)
    fetch_pages(store, 1, NOW + 1)
    (probe,) = probe_urls(store, NOW + 1)
    row = row_of(store, probe)
    assert (row.kind, row.state, row.reason, row.level) == (Kind.PROBE, State.WAITING, Reason.PROBE_FILE, 0)
    assert origin_of(probe) == "http://a.test"
    assert len(probe) > len("http://a.test/") + 8
    fetch_pages(store, 5, NOW + 2)
    assert probe_urls(store, NOW + 2) == [probe]
    fetch_pages(store, 2, NOW + 3, host="b.test")
    assert probe_urls(store, NOW + 3) == [probe]


def test_only_pages_count_towards_a_probe(with_probes: Opener) -> None:
    store = with_probes(2)
    fetch_refused(store, URL, NOW, Reason.NOT_FOUND, 404)
    store.urls.add([new_url(FEED, kind=Kind.FEED)], NOW)
    fetch(store, FEED, NOW, page=Page(kind=Kind.FEED))
    fetch_pages(store, 1)
    assert probe_urls(store) == []
    fetch_pages(store, 1, NOW + 1)
    assert len(probe_urls(store, NOW + 1)) == 1


def test_with_probe_after_0_no_host_is_probed(with_probes: Opener) -> None:
    store = with_probes(0)
    fetch_pages(store, 5)
    assert (probe_urls(store), has_soft404(store)) == ([], None)


SOFT404_SKETCH = b"sketch of it"


def test_the_soft_404_sketch_of_a_host_is_stored(with_probes: Opener) -> None:
    store = with_probes(1)
    fetch_pages(store, 1)
    (probe,) = probe_urls(store)
    fetch(store, probe, NOW, page=Page(soft404=SOFT404_SKETCH))
    assert has_soft404(store) is True
    row = row_of(store, probe)
    assert (row.state, row.reason) == (State.PARKED, Reason.PROBE_FILE)
    store.urls.add([new_url(OTHER)], NOW)
    assert [load.soft404 for load in store.frontier.activate("me", NOW, 9, 9, ())] == [SOFT404_SKETCH]
    load = store.frontier.load_host("me", HOST, "a.test", NOW, 9)
    assert load is not None
    assert load.soft404 == SOFT404_SKETCH
    fetch_pages(store, 5, NOW + 1)
    assert (probe_urls(store, NOW + 1), has_soft404(store)) == ([], True)
    assert (probe, "upsert") not in [(url, change) for change, url in store.changes.entries()]


@pytest.mark.parametrize(
    "facts",
    [
        {"outcome": Outcome.REFUSED, "reason": Reason.NOT_FOUND, "status": 404, "page": Page(soft404=b"honest")},
        {"outcome": Outcome.REDIRECTED, "reason": Reason.REDIRECTED, "status": 302},
        {"page": Page(soft404=b"")},
    ],
    ids=["404", "redirect", "nothing to read"],
)
def test_a_host_without_a_soft_404_is_not_probed_again(facts: dict[str, Any], with_probes: Opener) -> None:
    store = with_probes(1)
    fetch_pages(store, 1)
    (probe,) = probe_urls(store)
    fetch(store, probe, NOW, **facts)
    assert has_soft404(store) is False
    fetch_pages(store, 3, NOW + 1)
    assert probe_urls(store, NOW + 1) == []
    load = store.frontier.load_host("me", HOST, "a.test", NOW, 9)
    assert load is not None
    assert load.soft404 == b""


@pytest.mark.parametrize(
    ("outcome", "reason"),
    [
        (Outcome.ABORTED, Reason.STOPPED),
        (Outcome.BUSY, Reason.BUSY),
        (Outcome.FAILED, Reason.TIMEOUT),
    ],
)
def test_a_probe_without_an_answer_is_repeated(outcome: Outcome, reason: Reason, with_probes: Opener) -> None:
    store = with_probes(1)
    fetch_pages(store, 1)
    (probe,) = probe_urls(store)
    fetch(store, probe, NOW, outcome=outcome, reason=reason, status=0, page=None)
    assert probe_urls(store, NOW + DAY) == [probe]
    fetch(store, probe, NOW + DAY, page=Page(soft404=SOFT404_SKETCH))
    assert (has_soft404(store), row_of(store, probe).state) == (True, State.PARKED)
