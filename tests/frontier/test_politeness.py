"""How long a host rests before it is visited again."""

from __future__ import annotations

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.frontier import politeness as module
from crawler.frontier.politeness import (
    BACKOFF_LIMIT,
    CRAWL_DELAY_LIMIT,
    HOLDS_WHEN_FAILING,
    LONGEST_HOLD,
    RETRY_AFTER_LIMIT,
    HostClock,
    Politeness,
)
from crawler.items import CrawlLimits, DailyWindow, Outcome, Reason, RequestRate, Visited
from tests.defaults import DEFAULTS, politeness_with
from tests.samples import NOW, answer, visit_to, visited

URL = "http://a.test/"


@pytest.mark.parametrize(
    ("clock", "rest"),
    [
        # the floor
        (HostClock(), 5.0),
        (HostClock(latency=0.5), 5.0),
        (HostClock(crawl_limits=CrawlLimits(crawl_delay=1.0)), 5.0),
        # slowness, up to the cap
        (HostClock(latency=2.0), 10.0),
        (HostClock(latency=60.0), 30.0),
        # the limits of robots.txt, up to our own limit
        (HostClock(crawl_limits=CrawlLimits(crawl_delay=20.0)), 20.0),
        (HostClock(crawl_limits=CrawlLimits(crawl_delay=20.0), latency=5.0), 25.0),
        (HostClock(crawl_limits=CrawlLimits(crawl_delay=86_400.0)), CRAWL_DELAY_LIMIT),
        # trouble
        (HostClock(backoff=1), 10.0),
        (HostClock(backoff=3, crawl_limits=CrawlLimits(crawl_delay=10.0)), 80.0),
        (HostClock(backoff=30), BACKOFF_LIMIT),
    ],
)
def test_rest(clock: HostClock, rest: float) -> None:
    assert DEFAULTS.politeness.rest("a.test", clock) == rest


def test_only_own_hosts_are_visited_more_than_once_a_second() -> None:
    politeness = politeness_with(min_delay=0.1, own_hosts=("*.mine.test",))
    assert politeness.rest("www.mine.test", HostClock()) == 0.1
    assert politeness.rest("www.theirs.test", HostClock()) == 1.0


@pytest.mark.parametrize(
    ("least", "own", "rest"),
    # The latency factor of 5 makes a host that took 2 s rest for 10.
    [(5.0, 0.0, 0.0), (5.0, 0.2, 0.2), (0.5, 0.2, 0.2), (0.5, 0.0, 10.0)],
)
def test_own_hosts_rest_as_they_are_told(least: float, own: float, rest: float) -> None:
    politeness = politeness_with(min_delay=least, own_min_delay=own, own_hosts=("*.mine.test",))
    slow = HostClock(latency=2.0)
    assert politeness.rest("www.mine.test", slow) == rest
    assert politeness.rest("www.theirs.test", slow) == 10.0
    slowed = HostClock(crawl_limits=CrawlLimits(crawl_delay=3.0))
    assert politeness.rest("www.mine.test", slowed) == 3.0


@pytest.mark.parametrize(("demanded", "waits"), [(None, 10.0), (3.0, 10.0), (100.0, 100.0), (1e20, RETRY_AFTER_LIMIT)])
def test_retry_after_is_binding_up_to_a_day(demanded: float | None, waits: float) -> None:
    busy = visited(visit_to(URL), outcome=Outcome.BUSY, reason=Reason.BUSY, retry_after=demanded)
    clock = DEFAULTS.politeness.after("a.test", HostClock(), busy, NOW)
    assert clock.next_visit == clock.held_until == pytest.approx(NOW + 0.1 + waits)


def test_a_visit_that_was_never_sent_moves_no_clock() -> None:
    clock = HostClock(next_visit=7.0)
    denied = Visited(visit=visit_to(URL), outcome=Outcome.DENIED, reason=Reason.ROBOTS_DENIED)
    nowhere = visited(
        visit_to(URL), outcome=Outcome.FAILED, reason=Reason.FETCH_ERROR, fetched=answer(URL, request=b"")
    )
    assert DEFAULTS.politeness.after("a.test", clock, denied, NOW) == clock
    assert DEFAULTS.politeness.after("a.test", clock, nowhere, NOW) == clock


def test_a_name_that_does_not_resolve_is_trouble_though_nothing_was_sent() -> None:
    lost = visited(
        visit_to(URL), outcome=Outcome.FAILED, reason=Reason.DNS_FAILED, fetched=answer(URL, request=b"", ended=NOW)
    )
    clock = DEFAULTS.politeness.after("a.test", HostClock(), lost, NOW)
    assert (clock.backoff, clock.held_until) == (1, NOW + 10)


def test_a_visit_whose_end_is_unknown_counts_as_ended_now() -> None:
    unknown = visited(visit_to(URL), outcome=Outcome.BROKEN, reason=Reason.INTERNAL_ERROR, fetched=None)
    assert DEFAULTS.politeness.after("a.test", HostClock(), unknown, NOW).next_visit == NOW + 5


def test_after_an_unclean_stop_a_host_rests_in_full_but_not_less_than_it_was_due() -> None:
    politeness = DEFAULTS.politeness
    demanded = HostClock(crawl_limits=CrawlLimits(crawl_delay=60.0))
    assert politeness.after_unclean_stop("a.test", demanded, NOW).next_visit == NOW + 60
    assert (
        politeness.after_unclean_stop("a.test", HostClock(latency=0.1), NOW).next_visit == NOW + 30
    )  # it may be slow now
    assert politeness_with(latency_factor=0).after_unclean_stop("a.test", HostClock(), NOW).next_visit == NOW + 5
    assert politeness.after_unclean_stop("a.test", HostClock(next_visit=NOW + 50), NOW).next_visit == NOW + 50


def test_a_clock_far_in_the_future_is_limited() -> None:
    clock = Politeness.clamp_future(HostClock(next_visit=NOW + 1e9, held_until=NOW + 1e9), NOW)
    assert clock.next_visit == clock.held_until == NOW + LONGEST_HOLD


# ── rates and hours ──

NINE_TO_FIVE = DailyWindow(9 * 60, 17 * 60)
MIDNIGHT = 20_000 * 86_400.0
HOUR = 3_600.0


@pytest.mark.parametrize(
    ("rate", "at", "rest"),
    [
        (RequestRate(1, 60), None, 60.0),
        (RequestRate(6, 60), None, 10.0),
        (RequestRate(100, 60), None, 5.0),  # not faster than the floor
        (RequestRate(1, 86_400), None, CRAWL_DELAY_LIMIT),
        (RequestRate(1, 60, NINE_TO_FIVE), None, 60.0),  # whatever the time
        (RequestRate(1, 60, NINE_TO_FIVE), MIDNIGHT + 8 * HOUR, 5.0),
        (RequestRate(1, 60, NINE_TO_FIVE), MIDNIGHT + 9 * HOUR, 60.0),
        (RequestRate(1, 60, NINE_TO_FIVE), MIDNIGHT + 17 * HOUR, 5.0),
        (RequestRate(0, 60), None, 60.0),  # not taken for "never": that is what Disallow is for
    ],
)
def test_a_request_rate_is_a_rest(rate: RequestRate, at: float | None, rest: float) -> None:
    assert DEFAULTS.politeness.rest("a.test", HostClock(crawl_limits=CrawlLimits(request_rate=rate)), at) == rest


@pytest.mark.parametrize(
    ("window", "at", "opens"),
    [
        (NINE_TO_FIVE, 8.0, 9.0),
        (NINE_TO_FIVE, 9.0, 9.0),
        (NINE_TO_FIVE, 16.9, 16.9),
        (NINE_TO_FIVE, 17.0, 33.0),
        (DailyWindow(22 * 60, 6 * 60), 5.9, 5.9),  # over midnight
        (DailyWindow(22 * 60, 6 * 60), 12.0, 22.0),
        (DailyWindow(22 * 60, 6 * 60), 23.0, 23.0),
        (DailyWindow(0, 0), 12.0, 12.0),  # all day
    ],
)
def test_a_visit_comes_in_visiting_hours(window: DailyWindow, at: float, opens: float) -> None:
    clock = HostClock(crawl_limits=CrawlLimits(visit_time=window))
    later = DEFAULTS.politeness.hold_outside_hours(clock, MIDNIGHT + at * HOUR)
    assert later.next_visit == MIDNIGHT + opens * HOUR
    assert (later.held_until > 0) == (opens > at)


@given(st.integers(0, 1439), st.integers(0, 1439), st.floats(0, 10 * 86_400))
def test_visiting_hours_are_always_kept(start: int, end: int, at: float) -> None:
    clock = HostClock(crawl_limits=CrawlLimits(visit_time=DailyWindow(start, end)))
    opens = DEFAULTS.politeness.hold_outside_hours(clock, at).next_visit
    assert at <= opens <= at + 86_400
    minute = opens / 60 % 1440
    assert start == end or (start <= minute < end if start < end else minute >= start or minute < end)


# ── hosts that keep failing ──


def failing(clock: HostClock, times: int, reason: Reason = Reason.CONNECT_FAILED) -> list[float]:
    """Return how long the host rests after each of so many failures in a row."""
    rests = []
    for _ in range(times):
        at = max(clock.next_visit, NOW)
        lost = visited(
            visit_to(URL), outcome=Outcome.FAILED, reason=reason, fetched=answer("http://a.test/", started=at, ended=at)
        )
        clock = DEFAULTS.politeness.after("a.test", clock, lost, at)
        rests.append(clock.held_until - at)
    return rests


def test_a_host_that_keeps_failing_is_left_alone_for_longer_and_longer() -> None:
    assert failing(HostClock(), 9) == [10, 20, 40, *HOLDS_WHEN_FAILING, HOLDS_WHEN_FAILING[-1], HOLDS_WHEN_FAILING[-1]]


def test_a_host_that_is_only_busy_is_not_held_for_hours() -> None:
    assert failing(HostClock(), 9, Reason.BUSY)[-1] == 5 * 2**9


def test_one_answer_ends_the_hold_and_the_rest_shortens_step_by_step() -> None:
    clock, rests = HostClock(backoff=7), []
    for _ in range(5):
        clock = DEFAULTS.politeness.after(
            "a.test", clock, visited(visit_to(URL), fetched=answer("http://a.test/", started=NOW, ended=NOW)), NOW
        )
        rests.append(DEFAULTS.politeness.rest("a.test", clock))
    assert rests == [40, 20, 10, 5, 5]


def test_a_failure_of_our_network_is_no_trouble_of_the_host() -> None:
    lost = visited(
        visit_to(URL),
        outcome=Outcome.FAILED,
        reason=Reason.DNS_FAILED,
        fetched=answer("http://a.test/", started=NOW, ended=NOW),
    )
    clock = DEFAULTS.politeness.after("a.test", HostClock(), lost, NOW, excused=True)
    assert (clock.backoff, clock.held_until, clock.next_visit) == (0, 0.0, NOW + 5)


def test_the_examples_are_true() -> None:
    results = doctest.testmod(module)
    assert (results.failed, results.attempted > 0) == (0, True)
