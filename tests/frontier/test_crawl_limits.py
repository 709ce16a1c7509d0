"""Request-rate, Visit-time, failing hosts and network failures, under a virtual clock and on a real store."""

from __future__ import annotations

from itertools import pairwise

import pytest
from msgspec.structs import replace

from crawler.frontier.network import PROBE_EVERY
from crawler.frontier.politeness import HOLDS_WHEN_FAILING
from crawler.items import (
    CrawlLimits,
    DailyWindow,
    Kind,
    Outcome,
    Reason,
    RequestRate,
    RobotsFile,
    State,
    Visit,
    Visited,
)
from crawler.stores.contract.store import Store
from crawler.urls.hosts import host_of
from crawler.urls.keys import key_of
from tests.frontier.simulation import Respond, Simulation, fetched_page, seeded
from tests.samples import NOW, answer, visited

HOUR, DAY = 3_600.0, 86_400.0


def limiting(limits: CrawlLimits) -> Respond:
    """Hosts whose robots.txt has these limits."""

    def respond(visit: Visit, started: float) -> Visited:
        result = fetched_page(visit, started)
        if visit.kind is not Kind.ROBOTS:
            return result
        rules = RobotsFile(
            host=visit.key.host,
            origin=visit.origin,
            status=200,
            body=b"",
            fetched=started,
            expires=started + DAY,
            crawl_limits=limits,
        )
        return replace(result, rules=rules)

    return respond


def lost(visit: Visit, started: float, reason: Reason = Reason.CONNECT_FAILED) -> Visited:
    """A visit to a host that cannot be reached."""
    fetched = answer(
        visit.url, started=started, ended=started, status=0, head=b"", body=b"", request=b"", reason=reason
    )
    rules = None
    if visit.kind is Kind.ROBOTS:
        rules = RobotsFile(
            host=visit.key.host,
            origin=visit.origin,
            status=0,
            body=None,
            fetched=started,
            expires=started + HOUR,
            held_until=started + HOUR,
            failures=1,
        )
    return visited(visit, outcome=Outcome.FAILED, reason=reason, fetched=fetched, page=None, rules=rules)


def test_a_request_rate_is_obeyed(store: Store) -> None:
    simulation = Simulation(
        seeded(store, *(f"http://a.test/{n}" for n in range(6))), limiting(CrawlLimits(request_rate=RequestRate(2, 60)))
    )
    simulation.run()
    assert len(simulation.log) == 7
    assert min(simulation.gaps("a.test")) >= 30 - 1e-6


def test_a_request_rate_holds_only_in_its_part_of_the_day(store: Store) -> None:
    opens = (NOW % DAY) / 60 + 2  # in two minutes, for an hour
    window = DailyWindow(int(opens), int(opens + 60))
    limits = CrawlLimits(request_rate=RequestRate(1, 120, window))
    simulation = Simulation(seeded(store, *(f"http://a.test/{n}" for n in range(40))), limiting(limits))
    simulation.run()
    gaps = list(pairwise([request.started for request in simulation.log]))
    before = [later - earlier for earlier, later in gaps if later < NOW + 60]
    within = [later - earlier for earlier, later in gaps if earlier > NOW + 180 and later < NOW + HOUR]
    assert max(before) < 10
    assert min(within) >= 120


def test_visits_come_in_visiting_hours_only_and_all_of_them_come(store: Store) -> None:
    opens = int((NOW % DAY) / 60) + 90  # in an hour and a half, for twelve minutes
    limits = CrawlLimits(visit_time=DailyWindow(opens % 1440, (opens + 12) % 1440))
    urls = [f"http://a.test/{n}" for n in range(300)]
    simulation = Simulation(seeded(store, *urls), limiting(limits), horizon=2 * DAY)
    simulation.run()
    page_requests = [request for request in simulation.log if not request.url.endswith("robots.txt")]
    assert {request.url for request in page_requests} == set(urls)
    minutes = {int(request.started / 60 % 1440) for request in page_requests}
    assert minutes <= {minute % 1440 for minute in range(opens, opens + 12)}
    assert len({int(request.started / DAY) for request in page_requests}) > 1  # it took days


def test_a_dead_host_is_tried_ever_more_rarely_and_loses_no_url(store: Store) -> None:
    def respond(visit: Visit, started: float) -> Visited:
        dead = "dead" in visit.url and started > NOW + 1
        return lost(visit, started) if dead else fetched_page(visit, started)

    urls = [f"http://dead.test/{n}" for n in range(50)]
    simulation = Simulation(seeded(store, *urls, "http://alive.test/"), respond, horizon=8 * DAY)
    simulation.run(until=NOW + 30 * DAY)
    tried = [request.started for request in simulation.log if request.host == "dead.test"]
    pauses = [later - earlier for earlier, later in pairwise(tried)]
    assert pauses[4:8] == pytest.approx(HOLDS_WHEN_FAILING, rel=0.01)
    assert len(tried) < 15  # of fifty URLs, in a month
    assert all(store.urls.find(key_of(url)).state is State.WAITING for url in urls)  # type: ignore[union-attr]


def test_a_host_that_comes_back_is_crawled_to_the_end(store: Store) -> None:
    def respond(visit: Visit, started: float) -> Visited:
        is_down = visit.kind is Kind.PAGE and started < NOW + 3 * HOUR
        return lost(visit, started) if is_down else fetched_page(visit, started)

    urls = [f"http://a.test/{n}" for n in range(20)]
    simulation = Simulation(seeded(store, *urls), respond, horizon=2 * DAY)
    simulation.run()
    assert {request.url for request in simulation.log if request.started >= NOW + 3 * HOUR} >= set(urls)


@pytest.mark.parametrize("hosts", [12, 60])
def test_when_our_network_fails_we_wait_and_no_host_is_penalised(hosts: int, store: Store) -> None:
    fails, returns = NOW + 40, NOW + 2 * HOUR

    def respond(visit: Visit, started: float) -> Visited:
        return lost(visit, started) if fails <= started < returns else fetched_page(visit, started)

    urls = [f"http://h{host}.test/{n}" for host in range(hosts) for n in range(30)]
    simulation = Simulation(seeded(store, *urls), respond, horizon=2 * DAY)
    simulation.run()
    during = [request for request in simulation.log if fails + 60 <= request.started < returns]
    assert len(during) <= 2 * HOUR / PROBE_EVERY
    assert all(later.started - earlier.started >= PROBE_EVERY for earlier, later in pairwise(during))
    reached = {request.url for request in simulation.log if not fails <= request.started < returns}
    assert reached >= set(urls)
    resumed = [request for request in simulation.log if returns <= request.started < returns + 60]
    assert len({request.host for request in resumed}) > hosts / 2  # at once, not after the rests that failures earn


def test_dead_hosts_among_living_ones_are_not_our_network(store: Store) -> None:
    def respond(visit: Visit, started: float) -> Visited:
        return lost(visit, started, Reason.DNS_FAILED) if "dead" in visit.url else fetched_page(visit, started)

    living = [f"http://h{host}.test/{n}" for host in range(10) for n in range(20)]
    dead = [f"http://dead{host}.test/" for host in range(40)]
    simulation = Simulation(seeded(store, *living, *dead), respond, horizon=30)
    simulation.run()
    assert not simulation.frontier.network.is_down
    last = max(request.started for request in simulation.log if not host_of(request.url).startswith("dead"))
    assert last - NOW < 20 * 5.2 + 30


def test_a_start_without_a_network_burns_no_tries(store: Store) -> None:
    urls = [f"http://h{host}.test/" for host in range(30)]
    simulation = Simulation(
        seeded(store, *urls),
        lambda visit, at: lost(visit, at) if at < NOW + HOUR / 2 else fetched_page(visit, at),
        horizon=DAY,
    )
    simulation.run()
    assert {request.url for request in simulation.log if request.started >= NOW + HOUR / 2} >= set(urls)
    assert store.crawl.account().parked == 30  # the robots.txt files
