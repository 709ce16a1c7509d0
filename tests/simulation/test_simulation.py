"""Simulated crawls of generated webs: what the simulator reports is true of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from crawler.frontier.budgets import Budgets
from crawler.items import Kind, Outcome, Reason
from crawler.simulation.findings import START, Findings, as_data, lines, simulate
from crawler.simulation.observer import PolitenessObserver
from crawler.simulation.web import SimulatedWeb, WebPlan
from tests.defaults import DEFAULTS, options_with
from tests.samples import visit_to

SMALL = WebPlan(hosts=60, pages=12, latency=0.1)


def found(plan: WebPlan = SMALL, hours: float = 1.0, **changes: Any) -> Findings:
    return simulate(plan, options_with(**changes), hours * 3600)


def test_everything_is_visited_politely_and_the_end_is_known() -> None:
    result = found()
    assert result.is_done
    assert result.observer.pages == result.pages
    assert (result.observer.early, result.observer.robots) == (0, 60)
    assert result.observer.closest < 1.0  # no host waits much longer than required
    assert result.seconds < 3600


def test_the_same_plan_gives_the_same_crawl_and_another_seed_another_web() -> None:
    first, second, other = found(), found(), found(replace(SMALL, seed=2))
    results = [
        {key: value for key, value in as_data(one).items() if "computed" not in key} for one in (first, second, other)
    ]
    assert results[0] == results[1] != results[2]


def test_the_rate_is_what_the_hosts_allow() -> None:
    result = found(WebPlan(hosts=200, pages=100, even=True, latency=0.01, delays=[(10.0, 1.0)]), hours=0.1)
    assert not result.is_done
    assert result.supply.rate == pytest.approx(20.0, rel=0.02)
    assert result.rate == pytest.approx(20.0, rel=0.05)
    assert result.supply.hosts_needed(100) == pytest.approx(1_000, rel=0.02)


def test_few_connections_limit_slow_hosts() -> None:
    plan = WebPlan(hosts=200, pages=20, even=True, latency=5.0)
    few = found(plan, hours=0.1, CONCURRENT_REQUESTS=5)
    assert few.most_in_flight == 5
    assert few.observer.visits < found(plan, hours=0.1).observer.visits / 2


def test_busy_hosts_get_their_retry_after_and_dead_hosts_are_given_up() -> None:
    result = found(replace(SMALL, busy=0.1, dead=0.2), hours=2.0, CRAWL_HORIZON=600.0)
    assert result.observer.outcomes["busy"] > 20
    assert result.observer.outcomes["connect_timeout"] > 5
    assert result.observer.early == 0
    assert result.observer.pages == result.pages


def test_an_outage_of_our_own_network_costs_time_only() -> None:
    result = found(replace(SMALL, outages=[(20.0, 400.0)]), hours=1.0, CRAWL_HORIZON=600.0)
    assert result.observer.outcomes["connect_failed"] > 0
    assert result.observer.pages == result.pages


def test_hosts_that_share_servers_wait_for_each_other() -> None:
    shared = found(replace(SMALL, servers=2))
    assert shared.observer.pages == shared.pages
    assert shared.observer.last > found().observer.last


def test_budgets_and_bandwidth_hold_as_in_a_crawl() -> None:
    few = found(replace(SMALL, even=True), budgets=Budgets(domain=5), hours=0.2)
    assert few.observer.pages == 60 * 5
    slow = found(replace(SMALL, even=True), BANDWIDTH_LIMIT=50_000.0, hours=0.1)
    assert sum(part.bytes for part in slow.observer.slices) <= 50_000 * 360 + 2_000_000


def test_hosts_found_by_links_alone_are_visited_too() -> None:
    result = found(replace(SMALL, seeds=3), hours=2.0)
    assert result.observer.pages > 0.9 * result.pages


@pytest.mark.parametrize(("gap", "early"), [(4.0, 1), (5.0, 0)])
def test_the_observer_counts_a_visit_that_comes_too_early(gap: float, early: int) -> None:
    web = SimulatedWeb(SMALL, START)
    observer = PolitenessObserver(web, DEFAULTS.politeness, 3600.0)
    name = next(iter(web.hosts))
    at = START
    for _ in range(2):
        visit = visit_to(f"http://{name}/0")
        visited = web.respond(visit, at)
        observer.saw(visit, at, visited, 1, 1)
        assert visited.fetched is not None
        at = visited.fetched.ended + gap
    assert observer.early == early


def test_the_observer_requires_a_crawl_delay_once_robots_txt_was_fetched() -> None:
    web = SimulatedWeb(replace(SMALL, delays=[(60.0, 1.0)]), START)
    observer = PolitenessObserver(web, DEFAULTS.politeness, 3600.0)
    name = next(iter(web.hosts))
    robots = visit_to(f"http://{name}/robots.txt", kind=Kind.ROBOTS, origin=f"http://{name}")
    visited = web.respond(robots, START)
    observer.saw(robots, START, visited, 1, 1)
    visit = visit_to(f"http://{name}/0")
    observer.saw(visit, START + 30, web.respond(visit, START + 30), 1, 1)
    assert observer.early == 1


def test_a_busy_host_sends_retry_after() -> None:
    web = SimulatedWeb(replace(SMALL, busy=1.0), START)
    visited = web.respond(visit_to(f"http://{next(iter(web.hosts))}/0"), START)
    assert (visited.outcome, visited.reason, visited.retry_after) == (Outcome.BUSY, Reason.BUSY, 60.0)


def test_the_output_has_a_line_for_each_result() -> None:
    text = "\n".join(lines(found()))
    for part in (
        "Simulated",
        "Visits",
        "Rate",
        "Supply",
        "Gaps",
        "none was shorter than required",
        "Fairness",
        "Window",
    ):
        assert part in text
