"""A commit stores the validators of the current document of a URL."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from crawler.items import NO_VALIDATORS, Outcome, Page, Reason, Validators, WarcRecord
from crawler.stores.contract.store import Store
from crawler.urls.keys import key_of
from tests.contracts.visits import (
    DAY,
    PROMISING,
    REVISIT,
    SAME_HEAD,
    UNCHANGED,
    URL,
    fetch,
    fetch_refused,
    lease_url,
    page,
    row_of,
)
from tests.samples import NOW

DATE = "Wed, 21 Oct 2015 07:28:00 GMT"


def validators(store: Store) -> Validators:
    return row_of(store, URL).validators


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


@pytest.mark.parametrize(("records", "has_body"), [(("request", "response", "metadata"), True), (("metadata",), False)])
def test_a_page_off_topic_is_fetched_in_full_again(records: tuple[str, ...], has_body: bool, store: Store) -> None:
    """The topic may have changed; and perhaps only facts and links are archived."""
    kept = [WarcRecord(type=kind, id="", data=b"") for kind in records]
    off_topic = page(etag='"a"', relevance=0.25)
    fetch(store, URL, NOW, page=off_topic, reason=Reason.OFF_TOPIC, body=b"12345", records=kept)
    assert validators(store) == NO_VALIDATORS
    (document,) = store.documents.versions(key_of(URL))
    assert (document.relevance, document.has_body) == (0.25, has_body)
    assert (store.archive.last_body(key_of(URL)) is not None) is has_body


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


def test_a_page_that_counts_as_gone_loses_its_validators(store: Store) -> None:
    fetch(store, URL, NOW, page=page(etag='"a"'))
    fetch_refused(store, URL, NOW + REVISIT, Reason.NOT_FOUND, 404)
    assert validators(store).etag == '"a"'
    fetch_refused(store, URL, NOW + 2 * REVISIT, Reason.NOT_FOUND, 404)
    assert validators(store) == NO_VALIDATORS


def test_a_page_with_an_expiry_date_has_no_validators(store: Store) -> None:
    """A 304 does not show whether the page has expired."""
    fetch(store, URL, NOW, page=page(etag='"a"', unavailable_after=NOW + DAY))
    assert validators(store) == NO_VALIDATORS


def test_an_empty_document_has_length_0_whatever_its_transfer_coding(store: Store) -> None:
    empty = Page(body_digest=hashlib.sha256(b"").digest())
    fetch(store, URL, NOW, page=empty, body=b"0\r\n\r\n")
    assert validators(store) == Validators(length=0)
