"""When a host may be visited again."""

from __future__ import annotations

import pytest

from crawler.frontier.politeness import BACKOFF_LIMIT, CRAWL_DELAY_LIMIT, RETRY_AFTER_LIMIT, HostClock, Politeness
from crawler.items import Outcome, Reason, Visited
from tests.samples import NOW, answer, visit_to, visited

URL = "http://a.test/"


@pytest.mark.parametrize(
    ("clock", "rest"),
    [
        # the floor
        (HostClock(), 5.0),
        (HostClock(latency=0.5), 5.0),
        (HostClock(crawl_delay=1.0), 5.0),
        # slowness, up to the cap
        (HostClock(latency=2.0), 10.0),
        (HostClock(latency=60.0), 30.0),
        # what the site asks for, within reason
        (HostClock(crawl_delay=20.0), 20.0),
        (HostClock(crawl_delay=20.0, latency=5.0), 25.0),
        (HostClock(crawl_delay=86_400.0), CRAWL_DELAY_LIMIT),
        # trouble
        (HostClock(backoff=1), 10.0),
        (HostClock(backoff=3, crawl_delay=10.0), 80.0),
        (HostClock(backoff=30), BACKOFF_LIMIT),
    ],
)
def test_rest(clock: HostClock, rest: float) -> None:
    assert Politeness().rest("a.test", clock) == rest


def test_only_own_hosts_are_asked_more_than_once_a_second() -> None:
    politeness = Politeness(floor=0.1, own_hosts=("*.mine.test",))
    assert politeness.rest("www.mine.test", HostClock()) == 0.1
    assert politeness.rest("www.theirs.test", HostClock()) == 1.0


@pytest.mark.parametrize(("asked", "waits"), [(None, 10.0), (3.0, 10.0), (100.0, 100.0), (1e20, RETRY_AFTER_LIMIT)])
def test_retry_after_is_binding_up_to_a_day(asked: float | None, waits: float) -> None:
    busy = visited(visit_to(URL), outcome=Outcome.BUSY, reason=Reason.BUSY, retry_after=asked)
    clock = Politeness().after("a.test", HostClock(), busy, NOW)
    assert clock.next_visit == clock.held_until == pytest.approx(NOW + 0.1 + waits)


def test_a_visit_that_was_never_sent_moves_no_clock() -> None:
    clock = HostClock(next_visit=7.0)
    denied = Visited(visit=visit_to(URL), outcome=Outcome.DENIED, reason=Reason.ROBOTS_DENIED)
    nowhere = visited(
        visit_to(URL), outcome=Outcome.FAILED, reason=Reason.FETCH_ERROR, fetched=answer(URL, request=b"")
    )
    assert Politeness().after("a.test", clock, denied, NOW) == clock
    assert Politeness().after("a.test", clock, nowhere, NOW) == clock


def test_a_name_that_does_not_resolve_is_trouble_though_nothing_was_sent() -> None:
    lost = visited(
        visit_to(URL), outcome=Outcome.FAILED, reason=Reason.DNS_FAILED, fetched=answer(URL, request=b"", ended=NOW)
    )
    clock = Politeness().after("a.test", HostClock(), lost, NOW)
    assert (clock.backoff, clock.held_until) == (1, NOW + 10)


def test_a_visit_whose_end_is_unknown_counts_as_ended_now() -> None:
    unknown = visited(visit_to(URL), outcome=Outcome.BROKEN, reason=Reason.INTERNAL_ERROR, fetched=None)
    assert Politeness().after("a.test", HostClock(), unknown, NOW).next_visit == NOW + 5


def test_after_an_unclean_stop_a_host_rests_in_full_but_not_less_than_it_was_due() -> None:
    politeness = Politeness()
    assert politeness.after_unclean_stop("a.test", HostClock(crawl_delay=9.0), NOW).next_visit == NOW + 9
    assert politeness.after_unclean_stop("a.test", HostClock(next_visit=NOW + 50), NOW).next_visit == NOW + 50


def test_a_clock_from_the_future_is_not_believed() -> None:
    clock = Politeness.sane(HostClock(next_visit=NOW + 1e9, held_until=NOW + 1e9), NOW)
    assert clock.next_visit == clock.held_until == NOW + RETRY_AFTER_LIMIT
