"""The state of a URL after each outcome of a visit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.frontier.next_state import MAX_TRIES, MISSING, NextState
from crawler.items import Kind, Outcome, Page, Reason, State
from tests.defaults import revisits_with
from tests.samples import NOW, answer, visit_to, visited

URL = "http://a.test/"
WEEK = 7 * 86_400.0
POLICY = revisits_with(interval=WEEK, retry_delay=30.0)


def after(outcome: Outcome, reason: Reason, *, host_free: float = NOW, **facts: Any) -> NextState:
    given = {"page": facts.pop("page")} if "page" in facts else {}
    return POLICY.after(visited(visit_to(URL, **facts), outcome=outcome, reason=reason, **given), NOW, host_free)


def waits(reason: Reason, due: float, tries: int = 0) -> NextState:
    return NextState(state=State.WAITING, reason=reason, due=due, tries=tries)


def parked(reason: Reason, tries: int = 0) -> NextState:
    return NextState(state=State.PARKED, reason=reason, tries=tries)


@pytest.mark.parametrize(
    ("outcome", "reason", "tries", "expected"),
    [
        # a document: due again, and earlier failures no longer count
        (Outcome.FETCHED, Reason.OK, 0, waits(Reason.REVISIT, NOW + WEEK)),
        (Outcome.FETCHED, Reason.CUT_LENGTH, 2, waits(Reason.REVISIT, NOW + WEEK)),
        # a refusal stands until something changes
        (Outcome.REFUSED, Reason.GONE, 1, parked(Reason.GONE, 1)),
        (Outcome.REFUSED, Reason.REDIRECT_LOOP, 0, parked(Reason.REDIRECT_LOOP)),
        (Outcome.DENIED, Reason.ROBOTS_DENIED, 0, parked(Reason.ROBOTS_DENIED)),
        (Outcome.DENIED, Reason.ADDRESS_DENIED, 0, parked(Reason.ADDRESS_DENIED)),
        # a failure is tried again, ever later, and not for ever
        (Outcome.FAILED, Reason.TIMEOUT, 0, waits(Reason.TIMEOUT, NOW + 30, 1)),
        (Outcome.FAILED, Reason.SERVER_ERROR, 1, waits(Reason.SERVER_ERROR, NOW + 60, 2)),
        (Outcome.FAILED, Reason.DNS_FAILED, 2, parked(Reason.QUARANTINED, 3)),
        (Outcome.FAILED, Reason.CUT_DISCONNECT, 7, parked(Reason.QUARANTINED, 8)),
        (Outcome.BROKEN, Reason.INTERNAL_ERROR, 0, waits(Reason.INTERNAL_ERROR, NOW + 30, 1)),
        (Outcome.BROKEN, Reason.INTERNAL_ERROR, 2, parked(Reason.QUARANTINED, 3)),
        # neither a busy site nor our own stop is the URL's fault
        (Outcome.ABORTED, Reason.STOPPED, 2, waits(Reason.STOPPED, NOW, 2)),
        (Outcome.ABORTED, Reason.STALE_CONNECTION, 0, waits(Reason.STALE_CONNECTION, NOW)),
        (Outcome.BUSY, Reason.BUSY, 2, waits(Reason.BUSY, NOW, 2)),
        # what is as it was is due again like a document; of what looks good the rest is next
        (Outcome.UNCHANGED, Reason.NOT_MODIFIED, 1, waits(Reason.REVISIT, NOW + WEEK)),
        (Outcome.PROMISING, Reason.HEAD_SEEN, 1, waits(Reason.HEAD_SEEN, NOW, 1)),
    ],
)
def test_after_a_visit(outcome: Outcome, reason: Reason, tries: int, expected: NextState) -> None:
    assert after(outcome, reason, tries=tries) == expected


@pytest.mark.parametrize(
    ("end", "due"), [(NOW + 60, NOW + 61), (NOW + 2 * WEEK, NOW + WEEK), (NOW - 60, NOW + WEEK), (None, NOW + WEEK)]
)
def test_a_page_with_unavailable_after_is_visited_just_after_it(end: float | None, due: float) -> None:
    fetched = visited(visit_to(URL), outcome=Outcome.FETCHED, reason=Reason.OK, page=Page(unavailable_after=end))
    assert POLICY.after(fetched, NOW, NOW).due == due


@pytest.mark.parametrize(("host_free", "due"), [(NOW + 600, NOW + 600), (NOW - 5, NOW)])
def test_a_busy_url_is_due_when_its_host_may_be_visited_again(host_free: float, due: float) -> None:
    assert after(Outcome.BUSY, Reason.BUSY, host_free=host_free).due == due


@pytest.mark.parametrize("outcome", Outcome)
def test_a_robots_file_is_never_due_for_its_own_sake(outcome: Outcome) -> None:
    assert after(outcome, Reason.OK, kind=Kind.ROBOTS) == parked(Reason.ROBOTS_FILE)


def test_three_failures_quarantine_a_url() -> None:
    tries, visits = 0, 0
    while True:
        next_state = after(Outcome.FAILED, Reason.TIMEOUT, tries=tries)
        tries, visits = next_state.tries, visits + 1
        if next_state.state is State.PARKED:
            break
    assert visits == MAX_TRIES == 3


@given(outcome=st.sampled_from(Outcome), reason=st.sampled_from(Reason), tries=st.integers(0, 100))
def test_a_waiting_url_is_never_due_in_the_past(outcome: Outcome, reason: Reason, tries: int) -> None:
    result = after(outcome, reason, tries=tries)
    assert result.state in (State.WAITING, State.PARKED)
    assert result.state is State.PARKED or result.due >= NOW


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_only_a_permanent_redirect_parks_the_url(status: int) -> None:
    there = visited(
        visit_to(URL), outcome=Outcome.REDIRECTED, reason=Reason.REDIRECTED, fetched=answer(URL, status=status)
    )
    moved = status in (301, 308)
    expected = parked(Reason.REDIRECTED) if moved else waits(Reason.REDIRECTED, NOW + WEEK)
    assert POLICY.after(there, NOW, NOW) == expected


@pytest.mark.parametrize("reason", sorted(MISSING))
def test_a_missing_page_is_revisited_ever_later_and_then_parked(reason: Reason) -> None:
    days = []
    for missing in range(4):
        found = after(Outcome.REFUSED, reason, missing=missing, page=None)
        assert (found.state, found.reason, found.missing) == (State.WAITING, reason, missing + 1)
        days.append((found.due - NOW) / 86_400)
    assert days == [1, 7, 30, 90]
    assert after(Outcome.REFUSED, reason, missing=4, page=None) == replace(parked(reason), missing=5)


def test_a_page_that_is_found_again_no_longer_counts_as_missing() -> None:
    assert after(Outcome.FETCHED, Reason.OK, missing=3).missing == 0
    assert after(Outcome.FAILED, Reason.TIMEOUT, missing=3).missing == 3


@pytest.mark.parametrize(
    ("kind", "demanded", "before", "days"),
    [
        (Kind.SITEMAP, None, None, 1),
        (Kind.FEED, None, None, 1 / 24),
        (Kind.FEED, 2 * 3600.0, None, 2 / 24),
        (Kind.FEED, None, 6 * 3600.0, 6 / 24),  # as it said before
        (Kind.FEED, 1.0, None, 1 / 96),
        (Kind.FEED, 1e9, None, 7),
    ],
)
def test_sitemaps_and_feeds_have_their_own_times(
    kind: Kind, demanded: float | None, before: float | None, days: float
) -> None:
    there = visited(visit_to(URL, kind=kind, interval=before), page=Page(kind=kind, interval=demanded))
    assert POLICY.after(there, NOW, NOW).due == NOW + days * 86_400


def test_a_page_that_turns_out_to_be_a_feed_is_visited_as_one() -> None:
    there = visited(visit_to(URL), page=Page(kind=Kind.FEED, interval=7200.0))
    assert POLICY.after(there, NOW, NOW).due == NOW + 7200


@pytest.mark.parametrize(
    ("outcome", "reason", "expected"),
    [
        (Outcome.FETCHED, Reason.OK, parked(Reason.PROBE_FILE)),
        (Outcome.REFUSED, Reason.NOT_FOUND, parked(Reason.PROBE_FILE)),
        (Outcome.REDIRECTED, Reason.REDIRECTED, parked(Reason.PROBE_FILE)),
        (Outcome.DENIED, Reason.ROBOTS_DENIED, parked(Reason.PROBE_FILE)),
        (Outcome.ABORTED, Reason.STOPPED, waits(Reason.STOPPED, NOW)),
        (Outcome.BUSY, Reason.BUSY, waits(Reason.BUSY, NOW)),
        (Outcome.FAILED, Reason.TIMEOUT, waits(Reason.TIMEOUT, NOW + 30, 1)),
    ],
)
def test_a_probe_url_is_visited_until_there_is_an_answer(outcome: Outcome, reason: Reason, expected: NextState) -> None:
    assert after(outcome, reason, kind=Kind.PROBE) == expected
