"""Hosts and sites have no more URLs and visits than their budgets allow."""

from __future__ import annotations

import pytest

from crawler.frontier.budgets import next_day
from crawler.items import Kind, Outcome, Reason, Refusal, State, Visited
from crawler.stores.contract.store import Store
from crawler.stores.contract.urls import NewUrl
from crawler.urls.keys import key_of
from tests.contracts.engines import Opener
from tests.contracts.visits import DAY
from tests.samples import NOW, link, new_url, visit_result, visit_to, visited

SITE = [f"http://h{host}.site.test/{page}" for page in range(4) for host in range(3)]


def found_on_seed(url: str) -> NewUrl:
    return new_url(url, reason=Reason.LINK, depth=1, via=key_of("http://seed.test/"))


def waiting(store: Store, urls: list[str] = SITE) -> list[str]:
    return [url for url in urls if (row := store.urls.find(key_of(url))) and row.state is State.WAITING]


def over_budget(store: Store, urls: list[str] = SITE) -> list[str]:
    rows = [(url, store.urls.find(key_of(url))) for url in urls]
    return [url for url, row in rows if row and (row.state, row.reason) == (State.PARKED, Reason.OVER_BUDGET)]


def states_add_up(store: Store) -> bool:
    account = store.crawl.account()
    return account.known == account.waiting + account.leased + account.parked


def endorse(store: Store, source: str, *targets: str) -> None:
    store.urls.add([new_url(source)], NOW)
    (visit,) = store.frontier.lease("me", [visit_to(source)], NOW).granted
    store.commits.commit([visit_result(visited(visit, *map(link, targets)))], [], NOW)


@pytest.mark.parametrize("at_once", [True, False])
def test_a_site_gets_exactly_its_budget_and_the_rest_is_parked(at_once: bool, with_budgets: Opener) -> None:
    store = with_budgets(domain=7)
    for batch in [SITE] if at_once else [[url] for url in SITE]:
        store.urls.add(map(found_on_seed, batch), NOW)
    assert (len(waiting(store)), len(over_budget(store))) == (7, 5)
    site = store.urls.find_site(key_of(SITE[0]).host, NOW)
    assert site is not None
    assert (site.name, site.admitted, site.excess) == ("site.test", 7, 5)
    assert states_add_up(store)


def test_a_url_that_is_found_again_counts_once(with_budgets: Opener) -> None:
    store = with_budgets(domain=7)
    for _ in range(3):
        store.urls.add(map(found_on_seed, SITE[:5]), NOW)
    store.urls.add(map(found_on_seed, SITE), NOW)
    assert (len(waiting(store)), len(over_budget(store))) == (7, 5)


def test_a_host_has_a_budget_of_its_own(with_budgets: Opener) -> None:
    store = with_budgets(host=2)
    store.urls.add(map(found_on_seed, SITE), NOW)
    assert sorted(waiting(store)) == sorted(SITE[:6])


def test_the_budget_of_a_site_does_not_limit_other_sites(with_budgets: Opener) -> None:
    store = with_budgets(domain=1)
    others = [f"http://other{number}.test/" for number in range(9)]
    store.urls.add(map(found_on_seed, [*SITE, *others]), NOW)
    assert waiting(store, others) == others


def test_seeds_are_admitted_whatever_the_budget(with_budgets: Opener) -> None:
    store = with_budgets(domain=2)
    store.urls.add(map(found_on_seed, SITE), NOW)
    store.urls.add_seeds([new_url(SITE[9]), new_url("http://h9.site.test/")], NOW)
    assert SITE[9] in waiting(store)
    assert waiting(store, ["http://h9.site.test/"])
    assert len(over_budget(store)) == 9
    site = store.urls.find_site(key_of(SITE[0]).host, NOW)
    assert site is not None
    assert (site.seeded, site.excess) == (True, 9)


def test_each_day_admits_its_budget(with_budgets: Opener) -> None:
    store = with_budgets(domain_day=5)
    store.urls.add(map(found_on_seed, SITE), NOW)
    assert len(waiting(store)) == 5
    assert store.frontier.activate("me", NOW + 60, 9, 9, ()) != []
    assert len(waiting(store)) == 5
    tomorrow = next_day(NOW)
    assert store.frontier.next_due(NOW + 60) == tomorrow
    for day, expected in [(0, 10), (1, 12), (2, 12)]:
        for _ in range(3):  # further calls on the same day admit nothing more
            store.frontier.activate("me", tomorrow + day * DAY, 9, 9, ())
        assert len(waiting(store)) == expected
        assert states_add_up(store)
    assert over_budget(store) == []
    assert store.urls.find_site(key_of(SITE[0]).host, NOW).excess == 0  # type: ignore[union-attr]


def test_later_admissions_are_shared_among_hosts_the_most_important_urls_first(with_budgets: Opener) -> None:
    store = with_budgets(domain_day=3)
    deep = [new_url(url, reason=Reason.LINK, depth=5) for url in SITE[6:]]
    store.urls.add([*map(found_on_seed, SITE[:3]), *deep, *map(found_on_seed, SITE[3:6])], NOW)
    store.frontier.activate("me", next_day(NOW), 9, 9, ())
    assert sorted(waiting(store)) == sorted(SITE[:6])


def test_a_budget_grows_with_the_endorsers_of_a_site(with_budgets: Opener) -> None:
    store = with_budgets(domain=2, growth=0.5)
    store.urls.add(map(found_on_seed, SITE), NOW)
    assert len(waiting(store)) == 2
    endorse(store, "http://a.test/", SITE[0])
    store.frontier.activate("me", NOW, 9, 9, ())
    assert len(waiting(store)) == 3
    endorse(store, "http://b.test/", *SITE)
    endorse(store, "http://www.b.test/", *SITE)  # the same site
    store.frontier.activate("me", NOW, 9, 9, ())
    assert len(waiting(store)) == 4
    site = store.urls.find_site(key_of(SITE[0]).host, NOW)
    assert site is not None
    assert (site.endorsers, site.admitted, site.excess) == (2, 4, 8)


def test_a_site_that_is_neither_seeded_nor_endorsed_has_a_smaller_daily_budget(with_budgets: Opener) -> None:
    store = with_budgets(stranger_day=4)
    seeds = [f"http://seed.test/{number}" for number in range(9)]
    store.urls.add_seeds([new_url("http://seed.test/")], NOW)
    store.urls.add(map(found_on_seed, [*SITE, *seeds]), NOW)
    assert (len(waiting(store)), waiting(store, seeds)) == (4, seeds)
    endorse(store, "http://a.test/", SITE[0])
    endorse(store, "http://b.test/", SITE[0])
    store.frontier.activate("me", NOW, 9, 9, ())
    assert len(waiting(store)) == 12


def test_a_larger_budget_takes_effect_after_a_review(with_budgets: Opener) -> None:
    store = with_budgets(domain=2)
    store.urls.add(map(found_on_seed, SITE), NOW)
    larger = with_budgets(domain=8)
    larger.urls.review_budgets(NOW)
    larger.frontier.activate("me", NOW, 9, 9, ())
    assert len(waiting(larger)) == 8


def test_daily_visits_are_counted_when_they_are_leased(with_budgets: Opener) -> None:
    store = with_budgets(domain_day=3)
    store.urls.add_seeds(map(new_url, SITE), NOW)  # all are admitted
    leased = store.frontier.lease("me", [visit_to(url) for url in SITE[:5]], NOW)
    assert [visit.url for visit in leased.granted] == SITE[:3]
    assert leased.held_until == {key_of(url).host: next_day(NOW) for url in SITE[3:5]}
    host = store.urls.find_host(key_of(SITE[3]).host, NOW)
    assert host is not None
    assert host.clock.held_until == next_day(NOW)
    assert {load.name for load in store.frontier.activate("me", NOW, 9, 9, ())} == {"h2.site.test"}  # not held yet
    assert store.frontier.lease("me", [visit_to(SITE[3])], next_day(NOW)).held_until == {}


def test_visits_that_were_not_sent_cost_no_budget(with_budgets: Opener) -> None:
    store = with_budgets(host_day=2)
    urls = [f"http://a.test/{number}" for number in range(6)]
    store.urls.add_seeds(map(new_url, urls), NOW)
    store.frontier.unlease(store.frontier.lease("me", [visit_to(urls[0])], NOW).granted, NOW)
    (denied,) = store.frontier.lease("me", [visit_to(urls[1])], NOW).granted
    store.commits.commit(
        [visit_result(Visited(visit=denied, outcome=Outcome.DENIED, reason=Reason.ROBOTS_DENIED))], [], NOW
    )
    store.frontier.lease("me", [visit_to("http://a.test/never-found")], NOW)
    assert len(store.frontier.lease("me", [visit_to(url) for url in urls[2:]], NOW).granted) == 2


def test_a_robots_txt_costs_no_budget(with_budgets: Opener) -> None:
    store = with_budgets(host_day=1)
    store.urls.add_seeds([new_url("http://a.test/")], NOW)
    robots = visit_to("http://a.test/robots.txt", kind=Kind.ROBOTS, origin="http://a.test")
    assert len(store.frontier.lease("me", [visit_to("http://a.test/"), robots], NOW).granted) == 2


def test_a_narrower_scope_refuses_urls_that_were_parked_over_budget(with_budgets: Opener) -> None:
    store = with_budgets(domain=4)
    store.urls.add(map(found_on_seed, SITE), NOW)
    store.urls.review_scope(lambda url, depth: Refusal(Reason.EXCLUDED) if "/3" in url else None, NOW)
    assert len(over_budget(store)) == 5
    assert store.urls.find_site(key_of(SITE[0]).host, NOW).excess == 5  # type: ignore[union-attr]
    assert states_add_up(store)


def test_urls_that_the_scope_admits_again_must_fit_the_budget(with_budgets: Opener) -> None:
    store = with_budgets(domain=4)
    store.urls.add([new_url(url, reason=Reason.LINK, refused=Refusal(Reason.OUT_OF_SCOPE)) for url in SITE], NOW)
    assert store.urls.review_scope(lambda url, depth: None, NOW).opened == 4
    assert (len(waiting(store)), len(over_budget(store))) == (4, 8)


def test_hosts_without_budget_do_not_block_other_hosts_of_their_site(with_budgets: Opener) -> None:
    store = with_budgets(domain_day=150, host=1)
    hosts = [f"http://h{number}.site.test/" for number in range(150)]
    # One URL of each host is over budget.
    store.urls.add([found_on_seed(url + page) for url in hosts for page in "ab"], NOW)
    later = [f"http://x{number}.site.test/" for number in range(20)]
    store.urls.add([found_on_seed(url) for url in later], NOW)
    assert waiting(store, later) == []
    for _ in range(3):
        store.frontier.activate("me", next_day(NOW), 9, 9, ())
    assert sorted(waiting(store, later)) == sorted(later)


def test_a_budget_review_in_the_far_future_is_clamped_after_the_clock_was_set_back(with_budgets: Opener) -> None:
    store = with_budgets(domain_day=5)
    store.urls.add(map(found_on_seed, SITE), NOW + 1000 * DAY)
    store.frontier.clamp_future_times(NOW + 7 * DAY)
    assert store.frontier.next_due(NOW) <= NOW + 7 * DAY


def test_hosts_held_for_the_day_are_released_when_budgets_are_raised(with_budgets: Opener) -> None:
    store = with_budgets(host_day=1)
    store.urls.add_seeds([new_url("http://a.test/1"), new_url("http://a.test/2")], NOW)
    store.frontier.lease("me", [visit_to("http://a.test/1"), visit_to("http://a.test/2")], NOW)
    assert store.frontier.activate("me", NOW + 1, 9, 9, ()) == []
    larger = with_budgets(host_day=9)
    larger.urls.review_budgets(NOW + 1)
    assert [load.name for load in larger.frontier.activate("me", NOW + 1, 9, 9, ())] == ["a.test"]


def test_a_robots_txt_that_was_parked_over_budget_as_a_page_becomes_a_robots_txt(with_budgets: Opener) -> None:
    store = with_budgets(domain=1)
    store.urls.add([found_on_seed("http://a.test/1"), found_on_seed("http://a.test/robots.txt")], NOW)
    robots = visit_to("http://a.test/robots.txt", kind=Kind.ROBOTS, origin="http://a.test")
    granted = store.frontier.lease("me", [robots], NOW).granted
    store.frontier.unlease(granted, NOW)
    row = store.urls.find(key_of("http://a.test/robots.txt"))
    assert row is not None
    assert (row.state, row.reason) == (State.PARKED, Reason.ROBOTS_FILE)
    assert store.urls.find_site(key_of("http://a.test/").host, NOW).excess == 0  # type: ignore[union-attr]
