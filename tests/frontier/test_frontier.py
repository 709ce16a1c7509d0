"""The frontier visits every URL once and no host too early, under a virtual clock and on a real store."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from crawler.frontier.frontier import SOLO_AFTER_CRASHES
from crawler.items import CrawlLimits, Kind, Outcome, Reason, RobotsFile, State, Visit, Visited
from crawler.stores.contract.frontier import GrantedLeases
from crawler.stores.contract.store import Store
from crawler.stores.open import open_store
from crawler.urls.keys import key_of
from tests.defaults import politeness_with
from tests.frontier.simulation import Simulation, fetched_page, seeded
from tests.samples import NOW, acquire, answer, link, new_url, visited

EPSILON = 1e-6


def rules_for(visit: Visit, started: float, **facts: object) -> RobotsFile:
    given = {"host": visit.key.host, "origin": visit.origin, "status": 200, "body": b"", "fetched": started}
    return RobotsFile(**given | {"expires": started + 86_400} | facts)  # type: ignore[arg-type]


def pages(simulation: Simulation) -> list[str]:
    return [url for url in simulation.urls() if not url.endswith("robots.txt")]


def test_every_url_is_visited_once_and_robots_txt_before_any_page(store: Store) -> None:
    urls = [f"http://h{host}.test/{page}" for host in range(4) for page in range(7)]
    simulation = Simulation(seeded(store, *urls))
    simulation.run()
    assert sorted(pages(simulation)) == sorted(urls)
    for host in range(4):
        mine = [url for url in simulation.urls() if f"h{host}." in url]
        assert mine[0] == f"http://h{host}.test/robots.txt"
        assert len(mine) == 8
    assert len(simulation.frontier.hosts) == 0


def test_hosts_do_not_wait_for_each_other(store: Store) -> None:
    simulation = Simulation(seeded(store, *(f"http://h{host}.test/{page}" for host in range(20) for page in range(3))))
    simulation.run()
    assert simulation.time - NOW < 3 * (5.0 + 0.2) + 1  # as long as one host alone


def test_a_host_with_many_urls_is_refilled_in_order_of_importance(store: Store) -> None:
    store.urls.add([new_url(f"http://a.test/{depth}/{n}", depth=depth) for n in range(9) for depth in (2, 0, 1)], NOW)
    simulation = Simulation(store, queue_length=4)
    simulation.run()
    levels = [url.split("/")[3] for url in pages(simulation)]
    assert levels == sorted(levels)
    assert len(levels) == 27


def test_links_are_visited_after_the_commit_that_brought_them(store: Store) -> None:
    def respond(visit: Visit, started: float) -> Visited:
        result = fetched_page(visit, started)
        if visit.url == "http://a.test/" and result.page is not None:
            found = (link("http://a.test/next"), link("http://b.test/"))
            return replace(result, page=replace(result.page, links=found))
        return result

    simulation = Simulation(seeded(store, "http://a.test/"), respond)
    simulation.run()
    assert set(pages(simulation)) == {"http://a.test/", "http://a.test/next", "http://b.test/"}


def test_slow_hosts_rest_longer(store: Store) -> None:
    def respond(visit: Visit, started: float) -> Visited:
        return fetched_page(visit, started, took=3.0 if "slow" in visit.url else 0.01)

    urls = [f"http://{host}.test/{n}" for host in ("slow", "fast") for n in range(3)]
    simulation = Simulation(seeded(store, *urls), respond)
    simulation.run()
    assert min(simulation.gaps("slow.test")) >= 15 - EPSILON
    assert 5 - EPSILON <= min(simulation.gaps("fast.test")) <= max(simulation.gaps("fast.test")) < 6


def test_a_crawl_delay_applies_from_the_end_of_the_robots_txt_answer(store: Store) -> None:
    def respond(visit: Visit, started: float) -> Visited:
        result = fetched_page(visit, started)
        rules = (
            rules_for(visit, started, crawl_limits=CrawlLimits(crawl_delay=40.0)) if visit.kind is Kind.ROBOTS else None
        )
        return replace(result, rules=rules)

    simulation = Simulation(seeded(store, "http://a.test/1", "http://a.test/2"), respond)
    simulation.run()
    assert min(simulation.gaps("a.test")) >= 40 - EPSILON


def test_the_longest_crawl_delay_of_a_hosts_origins_holds(store: Store) -> None:
    def respond(visit: Visit, started: float) -> Visited:
        result = fetched_page(visit, started)
        delay = 40.0 if visit.origin == "http://a.test" else None
        return replace(
            result,
            rules=rules_for(visit, started, crawl_limits=CrawlLimits(crawl_delay=delay))
            if visit.kind is Kind.ROBOTS
            else None,
        )

    urls = [f"{scheme}://a.test/{n}" for scheme in ("http", "https") for n in range(2)]
    simulation = Simulation(seeded(store, *urls), respond)
    simulation.run()
    robots_index = simulation.urls().index("http://a.test/robots.txt")
    assert min(simulation.gaps("a.test")[robots_index:]) >= 40 - EPSILON
    assert "https://a.test/robots.txt" in simulation.urls()


def test_retry_after_holds_the_whole_host_and_costs_the_url_nothing(store: Store) -> None:
    busy_at: list[float] = []

    def respond(visit: Visit, started: float) -> Visited:
        if visit.url == "http://a.test/1" and not busy_at:
            busy_at.append(started)
            return visited(
                visit,
                outcome=Outcome.BUSY,
                reason=Reason.BUSY,
                retry_after=50.0,
                page=None,
                fetched=answer(visit.url, started=started, ended=started + 0.1, status=503),
            )
        return fetched_page(visit, started)

    simulation = Simulation(seeded(store, "http://a.test/1", "http://a.test/2", "http://b.test/"), respond)
    simulation.run()
    assert pages(simulation).count("http://a.test/1") == 2
    assert max(simulation.gaps("a.test")) >= 50 - EPSILON
    row = store.urls.find(key_of("http://a.test/1"))
    assert row is not None
    assert (row.reason, row.tries) == (Reason.REVISIT, 0)


def test_a_long_retry_after_ends_the_crawl_and_leaves_the_urls_waiting(store: Store) -> None:
    def respond(visit: Visit, started: float) -> Visited:
        result = fetched_page(visit, started)
        if visit.kind is Kind.PAGE:
            return replace(result, outcome=Outcome.BUSY, reason=Reason.BUSY, retry_after=5_000.0, page=None)
        return result

    simulation = Simulation(seeded(store, "http://a.test/1", "http://a.test/2"), respond)
    simulation.run()
    assert simulation.time < NOW + 100
    assert store.crawl.account().waiting == 2
    assert store.frontier.outlook().next_due == pytest.approx(NOW + 5_005, abs=10)
    simulation.clock.time = NOW + 6_000
    simulation.answer = fetched_page
    simulation.run()
    assert len(set(pages(simulation))) == 2


def test_trouble_doubles_the_rest_and_success_halves_it(store: Store) -> None:
    trouble = iter([True, True, True, False, False, False])

    def respond(visit: Visit, started: float) -> Visited:
        result = fetched_page(visit, started)
        if visit.kind is Kind.PAGE and next(trouble, False):
            return replace(result, outcome=Outcome.FAILED, reason=Reason.FIRST_BYTE_TIMEOUT, page=None)
        return result

    simulation = Simulation(seeded(store, *(f"http://a.test/{n}" for n in range(5))), respond, horizon=600)
    simulation.run()
    gaps = simulation.gaps("a.test")
    assert gaps[1:4] == pytest.approx([10, 20, 40], abs=1)
    assert gaps[4:6] == pytest.approx([20, 10], abs=1)


def test_an_origin_without_robots_txt_answer_is_left_alone_and_the_other_origin_not(store: Store) -> None:
    def respond(visit: Visit, started: float) -> Visited:
        result = fetched_page(visit, started)
        if visit.kind is Kind.ROBOTS and visit.origin.startswith("https"):
            until = started + 3600
            rules = rules_for(visit, started, status=500, body=None, held_until=until, expires=until, failures=1)
            return replace(result, outcome=Outcome.FAILED, reason=Reason.SERVER_ERROR, rules=rules, page=None)
        return result

    urls = [f"{scheme}://a.test/{n}" for scheme in ("https", "http") for n in range(3)]
    simulation = Simulation(seeded(store, *urls), respond)
    simulation.run()
    assert set(pages(simulation)) == {"http://a.test/0", "http://a.test/1", "http://a.test/2"}
    row = store.urls.find(key_of("https://a.test/0"))
    assert row is not None
    assert (row.state, row.reason) == (State.WAITING, Reason.ROBOTS_UNAVAILABLE)
    simulation.answer = fetched_page
    simulation.clock.time = NOW + 4_000
    simulation.run()
    assert len(set(pages(simulation))) == 6


def test_robots_txt_is_asked_for_again_when_it_has_expired(store: Store) -> None:
    simulation = Simulation(seeded(store, "http://a.test/"))
    simulation.run()
    simulation.clock.time = NOW + 8 * 86_400
    simulation.run()
    assert simulation.urls() == ["http://a.test/robots.txt", "http://a.test/"] * 2


def test_a_robots_txt_that_moved_is_fetched_under_the_clock_of_its_new_host(store: Store) -> None:
    def respond(visit: Visit, started: float) -> Visited:
        result = fetched_page(visit, started)
        if visit.url == "http://a.test/robots.txt":
            moved = rules_for(
                visit, started, status=301, body=None, expires=0.0, location="http://b.test/robots.txt", hops=1
            )
            return replace(result, outcome=Outcome.REDIRECTED, reason=Reason.REDIRECTED, rules=moved)
        if visit.kind is Kind.ROBOTS and visit.origin == "http://a.test":
            return replace(result, rules=rules_for(visit, started, crawl_limits=CrawlLimits(crawl_delay=20.0)))
        return result

    urls = ["http://a.test/1", "http://a.test/2", "http://b.test/1", "http://b.test/2", "http://b.test/3"]
    simulation = Simulation(seeded(store, *urls), respond)
    simulation.run()
    assert sorted(pages(simulation)) == urls
    assert simulation.urls().count("http://b.test/robots.txt") == 2  # for itself, and for the other origin
    assert min(simulation.gaps("b.test")) >= 5 - EPSILON
    assert min(simulation.gaps("a.test")[1:]) >= 20 - EPSILON


def test_a_robots_txt_on_a_host_that_must_be_left_alone_does_not_keep_the_crawl_from_ending(store: Store) -> None:
    def respond(visit: Visit, started: float) -> Visited:
        result = fetched_page(visit, started)
        if visit.url == "http://a.test/robots.txt":
            place = "http://b.test/robots.txt"
            moved = rules_for(visit, started, status=301, body=None, expires=0.0, location=place, hops=1)
            return replace(result, outcome=Outcome.REDIRECTED, reason=Reason.REDIRECTED, rules=moved)
        if "b.test" in visit.url:
            until = started + 86_400
            rules = rules_for(visit, started, status=503, body=None, held_until=until, expires=until)
            busy = {"outcome": Outcome.BUSY, "reason": Reason.BUSY, "retry_after": 86_400.0, "page": None}
            return replace(result, rules=rules, **busy)
        return result

    simulation = Simulation(seeded(store, "http://b.test/", "http://a.test/"), respond)
    simulation.run()
    assert simulation.time < NOW + 100
    assert simulation.frontier.is_quiet
    row = store.urls.find(key_of("http://a.test/"))
    assert row is not None
    assert (row.state, row.reason) == (State.WAITING, Reason.ROBOTS_UNAVAILABLE)


def test_the_robots_txt_of_one_origin_does_not_bring_that_of_another_twice(store: Store) -> None:
    def respond(visit: Visit, started: float) -> Visited:
        result = fetched_page(visit, started, took=0.2)
        if visit.url == "https://a.test/robots.txt":
            place = "http://b.test/robots.txt"
            moved = rules_for(visit, started, status=301, body=None, expires=0.0, location=place, hops=1)
            return replace(result, outcome=Outcome.REDIRECTED, reason=Reason.REDIRECTED, rules=moved)
        return result

    urls = ["https://a.test/1", "http://a.test/1", "http://b.test/1"]
    simulation = Simulation(seeded(store, *urls), respond, COMMIT_INTERVAL=7.0)
    simulation.run()
    assert sorted(pages(simulation)) == sorted(urls)
    assert simulation.urls().count("http://b.test/robots.txt") == 2
    assert simulation.urls().count("https://a.test/robots.txt") == 1


def test_new_urls_do_not_wake_a_host_that_must_be_left_alone(store: Store) -> None:
    def respond(visit: Visit, started: float) -> Visited:
        result = fetched_page(visit, started)
        if visit.url == "http://b.test/":
            busy = {"outcome": Outcome.BUSY, "reason": Reason.BUSY, "retry_after": 86_400.0, "page": None}
            return replace(result, **busy)
        if visit.url == "http://a.test/" and result.page is not None:
            return replace(result, page=replace(result.page, links=[link("http://b.test/new")]))
        return result

    simulation = Simulation(seeded(store, "http://b.test/", "http://a.test/"), respond, COMMIT_INTERVAL=0.4)
    simulation.run()
    assert simulation.time < NOW + 100
    assert simulation.frontier.is_quiet


def test_a_batch_is_committed_at_once_if_nothing_more_can_join_it(store: Store) -> None:
    def respond(visit: Visit, started: float) -> Visited:
        result = fetched_page(visit, started)
        if result.page is None or visit.kind is Kind.ROBOTS or visit.depth == 3:
            return result
        return replace(result, page=replace(result.page, links=[link(f"{visit.url}x")]))

    simulation = Simulation(seeded(store, "http://a.test/"), respond, COMMIT_INTERVAL=1_000.0)
    simulation.run()
    assert pages(simulation) == [f"http://a.test/{'x' * depth}" for depth in range(4)]
    assert simulation.time < NOW + 100


def test_visits_that_end_during_a_commit_are_committed_after_it(store: Store) -> None:
    """More than one batch ends during the commit, and no later event triggers the next one."""
    urls = [f"http://h{host}.test/" for host in range(30)]
    politeness = politeness_with(min_delay=0.0, latency_factor=0.0, own_hosts=["*"], address_gap=0.0)
    simulation = Simulation(
        seeded(store, *urls), fetched_page, politeness, COMMIT_VISITS=4, COMMIT_INTERVAL=0.3, store_time=2.0
    )
    simulation.run(NOW + 1_000)
    assert len(pages(simulation)) == len(urls)
    assert simulation.worker.is_done


def test_hosts_that_need_no_rest_are_leased_together(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    leases, lease = [], store.frontier.lease

    def counted(owner: str, visits: Sequence[Visit], now: float) -> GrantedLeases:
        leases.append(len(visits))
        return lease(owner, visits, now)

    monkeypatch.setattr(store.frontier, "lease", counted)
    hosts, count = range(40), 0

    def respond(visit: Visit, started: float) -> Visited:
        nonlocal count
        count += 1
        return fetched_page(visit, started, took=0.01 + 0.0037 * (count % 29))

    urls = [f"http://h{host}.test/{page}" for host in hosts for page in range(10)]
    politeness = politeness_with(min_delay=0.0, latency_factor=0.0, own_hosts=["*"], address_gap=0.0)
    simulation = Simulation(seeded(store, *urls), respond, politeness, store_time=0.002)
    simulation.run()
    assert len(pages(simulation)) == len(urls)
    assert sum(leases) / len(leases) > 7


def test_next_time_ignores_what_cannot_be_done_yet(store: Store) -> None:
    simulation = Simulation(seeded(store, "http://a.test/", "http://b.test/"))
    frontier = simulation.frontier
    frontier.activate(store.frontier.activate("me", NOW, 1, 5, ())[0], NOW)
    assert frontier.next_time(NOW) == NOW
    assert frontier.next_time(NOW, lease_from=math.inf) == math.inf
    visits = frontier.to_lease(NOW)
    frontier.leases_granted(visits, store.frontier.lease("me", visits, NOW).granted)
    assert frontier.next_time(NOW) == NOW
    assert frontier.next_time(NOW, release=False) == math.inf


def test_a_denied_visit_costs_its_host_no_rest(store: Store) -> None:
    def respond(visit: Visit, started: float) -> Visited:
        if "private" in visit.url:
            return Visited(visit=visit, outcome=Outcome.DENIED, reason=Reason.ROBOTS_DENIED)
        return fetched_page(visit, started)

    urls = [f"http://a.test/private/{n}" for n in range(50)] + ["http://a.test/public"]
    simulation = Simulation(seeded(store, *urls), respond)
    simulation.run()
    assert pages(simulation) == ["http://a.test/public"]
    assert store.crawl.account().parked == 51
    assert simulation.time - NOW < 15


def test_failures_are_tried_three_times_with_growing_pauses_then_left_alone(store: Store) -> None:
    def respond(visit: Visit, started: float) -> Visited:
        result = fetched_page(visit, started)
        if visit.kind is Kind.PAGE:
            return replace(result, outcome=Outcome.FAILED, reason=Reason.DISCONNECTED, page=None)
        return result

    simulation = Simulation(seeded(store, "http://a.test/"), respond)
    simulation.run()
    times = [request.started for request in simulation.log if request.url == "http://a.test/"]
    assert [later - earlier for earlier, later in pairwise(times)] == pytest.approx([30, 60], abs=1)
    row = store.urls.find(key_of("http://a.test/"))
    assert row is not None
    assert (row.state, row.reason, row.last_reason) == (State.PARKED, Reason.QUARANTINED, Reason.DISCONNECTED)


def test_a_url_over_which_processes_died_is_visited_with_nothing_else_in_flight(store: Store) -> None:
    seeded(store, *(f"http://h{n}.test/" for n in range(10)))
    acquire(store, "dead", 0, NOW, 1e12, 60)
    for _ in range(SOLO_AFTER_CRASHES):
        (load,) = [one for one in store.frontier.activate("dead", NOW, 10, 10, ()) if one.name == "h3.test"]
        store.frontier.lease("dead", load.visits, NOW)
        store.partitions.recover([0], NOW, lambda name, clock: clock)
        acquire(store, "dead", 0, NOW, 1e12, 60)
    store.partitions.leave("dead")
    company: list[int] = []

    def respond(visit: Visit, started: float) -> Visited:
        if visit.url == "http://h3.test/":
            company.append(len(simulation.frontier.in_flight))
        return fetched_page(visit, started, took=2.0)

    simulation = Simulation(store, respond)
    simulation.run()
    assert company == [1]
    assert len(pages(simulation)) == 10
    assert simulation.most_in_flight > 3


def test_nothing_is_released_when_the_partitions_lease_has_ended(store: Store) -> None:
    simulation = Simulation(seeded(store, "http://a.test/"))
    simulation.lease_now(1)
    simulation.frontier.lease_end = NOW
    assert simulation.frontier.next(NOW + 10) is None
    simulation.frontier.lease_end = NOW + 20
    assert simulation.frontier.next(NOW + 10) is not None


def test_recalled_visits_were_leased_and_never_sent(store: Store) -> None:
    simulation = Simulation(seeded(store, "http://a.test/", "http://b.test/"))
    simulation.lease_now(2)
    recalled = simulation.frontier.recall_leases()
    assert len(recalled) == 2
    assert simulation.frontier.next(NOW + 100) is None
    store.frontier.unlease(recalled, NOW)
    assert store.crawl.account().leased == 0


def test_the_window_in_memory_is_bounded_and_all_hosts_are_visited(store: Store) -> None:
    urls = [f"http://h{host}.test/{page}" for host in range(30) for page in range(2)]
    simulation = Simulation(seeded(store, *urls), active_hosts=5)
    sizes: list[int] = []

    def respond(visit: Visit, started: float) -> Visited:
        sizes.append(len(simulation.frontier.hosts))
        return fetched_page(visit, started)

    simulation.answer = respond
    simulation.run()
    assert sorted(pages(simulation)) == sorted(urls)
    assert max(sizes) <= 5


def test_a_visit_not_granted_frees_its_host(store: Store) -> None:
    simulation = Simulation(seeded(store, "http://a.test/1", "http://a.test/2"))
    frontier = simulation.frontier
    frontier.activate(store.frontier.activate("me", NOW, 1, 5, ())[0], NOW)
    (refused,) = frontier.to_lease(NOW)
    assert frontier.to_lease(NOW) == []  # one at a time
    frontier.leases_granted([refused], [])
    assert frontier.next(NOW) is None
    (again,) = frontier.to_lease(NOW)
    assert again.host_key == refused.host_key


answers = st.sampled_from(["good", "busy", "busy with date", "timeout", "broken", "denied", "slow", "links"])


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    data=st.data(),
    hosts=st.integers(1, 6),
    urls=st.integers(1, 6),
    queue=st.integers(1, 4),
    active=st.integers(1, 6),
    delay=st.sampled_from([None, 0.0, 3.0, 30.0]),
)
def test_no_host_is_visited_before_its_time_whatever_it_answers(
    data: st.DataObject, hosts: int, urls: int, queue: int, active: int, delay: float | None,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:  # fmt: skip
    store = open_store(f"sqlite:{tmp_path_factory.mktemp('law') / 'crawl.db'}")
    names = [f"http://h{host}.test/{page}" for host in range(hosts) for page in range(urls)]
    required: dict[str, float] = {}

    def respond(visit: Visit, started: float) -> Visited:
        host = f"h{visit.url.split('//h')[1].split('.')[0]}.test"
        assert started >= required.get(host, 0.0) - EPSILON
        kind = data.draw(answers) if len(simulation.log) < 40 else "good"
        took = 2.0 if kind == "slow" else 0.1
        result = fetched_page(visit, started, took)
        if visit.kind is Kind.ROBOTS:
            result = replace(result, rules=rules_for(visit, started, crawl_limits=CrawlLimits(crawl_delay=delay)))
            kind = "good"
        rest = max(1.0, 5 * took, delay or 0.0)
        if kind == "denied":
            return Visited(visit=visit, outcome=Outcome.DENIED, reason=Reason.ROBOTS_DENIED)
        if kind.startswith("busy"):
            retry_after = 25.0 if "date" in kind else None
            rest = max(rest, retry_after or 0.0)
            result = replace(result, outcome=Outcome.BUSY, reason=Reason.BUSY, retry_after=retry_after, page=None)
        elif kind == "timeout":
            result = replace(result, outcome=Outcome.FAILED, reason=Reason.FIRST_BYTE_TIMEOUT, page=None)
        elif kind == "broken":
            result = replace(result, outcome=Outcome.BROKEN, reason=Reason.INTERNAL_ERROR, page=None, fetched=None)
            took = 0.0
        elif kind == "links" and result.page is not None:
            found = [link(data.draw(st.sampled_from(names))) for _ in range(3)]
            result = replace(result, page=replace(result.page, links=found))
        required[host] = started + took + rest
        return result

    simulation = Simulation(
        seeded(store, *names),
        respond,
        politeness_with(min_delay=1.0, latency_factor=5.0),
        active_hosts=active,
        queue_length=queue,
        horizon=100_000,
    )
    simulation.run()
    account = store.crawl.account()
    assert account.leased == 0
    assert account.known == account.waiting + account.parked
    assert set(names) <= {request.url for request in simulation.log} | {
        name for name in names if (row := store.urls.find(key_of(name))) and row.reason is Reason.ROBOTS_DENIED
    }
    store.close()


def test_a_host_with_a_url_that_must_be_visited_alone_can_be_sent_away(store: Store) -> None:
    urls = ["http://a.test/killer", "http://b.test/1"]
    acquire(store, "dead", 0, NOW, 1e12, 60)
    store.urls.add([new_url(url) for url in urls], NOW)
    for _ in range(SOLO_AFTER_CRASHES):
        (load,) = [load for load in store.frontier.activate("dead", NOW, 9, 9, ()) if load.name == "a.test"]
        store.frontier.lease("dead", load.visits, NOW)
        store.partitions.recover([0], NOW, lambda name, clock: clock)
        acquire(store, "dead", 0, NOW, 1e12, 60)
    frontier = Simulation(store).frontier
    loads = {load.name: load for load in store.frontier.activate("dead", NOW, 9, 9, ())}
    for load in loads.values():
        rules = RobotsFile(
            host=load.host, origin=f"http://{load.name}", status=404, body=None, fetched=NOW, expires=NOW + 9
        )
        frontier.activate(replace(load, rules=[rules]), NOW)
    (other,) = frontier.to_lease(NOW)
    assert other.url == "http://b.test/1"
    frontier.withdraw_hosts([loads["a.test"].host])
    assert loads["a.test"].host not in frontier.hosts
    frontier.leases_granted([other], [other])
    assert frontier.next(NOW) is not None  # the others need not wait for it any more
