"""What becomes of a URL."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.frontier.aftermath import TRIES, Aftermath, RevisitPolicy
from crawler.items import Kind, Outcome, Page, Reason, State
from tests.samples import NOW, visit_to, visited

URL = "http://a.test/"
WEEK = 7 * 86_400.0
POLICY = RevisitPolicy(interval=WEEK, retry_delay=30.0)


def after(outcome: Outcome, reason: Reason, *, host_free: float = NOW, **facts: Any) -> Aftermath:
    return POLICY.after(visited(visit_to(URL, **facts), outcome=outcome, reason=reason), NOW, host_free)


def waits(reason: Reason, due: float, tries: int = 0) -> Aftermath:
    return Aftermath(state=State.WAITING, reason=reason, due=due, tries=tries)


def parked(reason: Reason, tries: int = 0) -> Aftermath:
    return Aftermath(state=State.PARKED, reason=reason, tries=tries)


@pytest.mark.parametrize(
    ("outcome", "reason", "tries", "expected"),
    [
        # a document: due again, and all is forgiven
        (Outcome.FETCHED, Reason.OK, 0, waits(Reason.REVISIT, NOW + WEEK)),
        (Outcome.FETCHED, Reason.CUT_LENGTH, 2, waits(Reason.REVISIT, NOW + WEEK)),
        # a refusal stands until something changes
        (Outcome.REDIRECTED, Reason.REDIRECTED, 0, parked(Reason.REDIRECTED)),
        (Outcome.REFUSED, Reason.NOT_FOUND, 0, parked(Reason.NOT_FOUND)),
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
    ],
)
def test_after_a_visit(outcome: Outcome, reason: Reason, tries: int, expected: Aftermath) -> None:
    assert after(outcome, reason, tries=tries) == expected


@pytest.mark.parametrize(
    ("end", "due"), [(NOW + 60, NOW + 61), (NOW + 2 * WEEK, NOW + WEEK), (NOW - 60, NOW + WEEK), (None, NOW + WEEK)]
)
def test_a_page_that_names_its_end_is_looked_at_after_it(end: float | None, due: float) -> None:
    fetched = visited(visit_to(URL), outcome=Outcome.FETCHED, reason=Reason.OK, page=Page(unavailable_after=end))
    assert POLICY.after(fetched, NOW, NOW).due == due


@pytest.mark.parametrize(("host_free", "due"), [(NOW + 600, NOW + 600), (NOW - 5, NOW)])
def test_a_busy_site_is_asked_again_when_its_host_is_free(host_free: float, due: float) -> None:
    assert after(Outcome.BUSY, Reason.BUSY, host_free=host_free).due == due


@pytest.mark.parametrize("outcome", Outcome)
def test_a_robots_file_is_never_due_for_its_own_sake(outcome: Outcome) -> None:
    assert after(outcome, Reason.OK, kind=Kind.ROBOTS) == parked(Reason.ROBOTS_FILE)


def test_three_failures_are_enough() -> None:
    tries, visits = 0, 0
    while True:
        next_state = after(Outcome.FAILED, Reason.TIMEOUT, tries=tries)
        tries, visits = next_state.tries, visits + 1
        if next_state.state is State.PARKED:
            break
    assert visits == TRIES == 3


@given(outcome=st.sampled_from(Outcome), reason=st.sampled_from(Reason), tries=st.integers(0, 100))
def test_nothing_that_waits_was_due_before(outcome: Outcome, reason: Reason, tries: int) -> None:
    result = after(outcome, reason, tries=tries)
    assert result.state in (State.WAITING, State.PARKED)
    assert result.state is State.PARKED or result.due >= NOW
