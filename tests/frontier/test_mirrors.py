"""A site that prefers one of its hosts, under a virtual clock and on a real store."""

from __future__ import annotations

from msgspec.structs import replace

from crawler.items import Kind, Link, Outcome, Page, Reason, Visit, Visited
from crawler.stores.contract.store import Store
from crawler.urls.hosts import origin_of
from crawler.urls.keys import key_of
from tests.frontier.simulation import Simulation, fetched_page, seeded
from tests.samples import NOW, new_url


def test_a_preferred_host_that_has_the_page_is_visited_instead(store: Store) -> None:
    simulation = mirrored(store, {"http://a.test": "http://www.a.test"})
    simulation.run()
    assert pages(simulation) == {f"http://www.a.test/{n}" for n in range(5)}


def test_two_hosts_that_prefer_each_other_are_visited_once(store: Store) -> None:
    simulation = mirrored(store, {"http://a.test": "http://www.a.test", "http://www.a.test": "http://a.test"})
    simulation.run()
    assert {url.rpartition("/")[2] for url in pages(simulation)} == {str(n) for n in range(5)}
    assert len(pages(simulation)) == 5


def test_a_page_that_the_preferred_host_lacks_is_visited_where_it_was_found(store: Store) -> None:
    simulation = mirrored(store, {"http://a.test": "http://www.a.test"}, missing={"http://www.a.test/3"})
    simulation.run()
    assert pages(simulation) >= {"http://www.a.test/1", "http://a.test/3"}
    assert "http://a.test/1" not in pages(simulation)


def test_a_redirect_back_from_the_preferred_host_is_followed(store: Store) -> None:
    simulation = mirrored(store, {"http://a.test": "http://www.a.test"}, back=True)
    simulation.run()
    assert pages(simulation) >= {f"http://a.test/{n}" for n in range(5)}


def test_a_page_that_the_preferred_host_lacked_is_not_tried_there_again(store: Store) -> None:
    missing = {"http://www.a.test/3"}
    store.urls.add([new_url("http://www.a.test/3")], NOW)
    first = mirrored(store, {}, missing=missing, seeds=False)
    first.run()
    again = mirrored(store, {"http://a.test": "http://www.a.test"}, missing=missing, now=first.time)
    again.run()
    assert "http://a.test/3" in pages(again)


def test_long_urls_find_their_way_back(store: Store) -> None:
    tail = "x" * 700
    store.urls.add([new_url(f"http://a.test/{tail}")], NOW)
    simulation = mirrored(
        store, {"http://a.test": "http://www.a.test"}, missing={f"http://www.a.test/{tail}"}, seeds=False
    )
    simulation.run()
    assert f"http://a.test/{tail}" in pages(simulation)


def pages(simulation: Simulation) -> set[str]:
    return {url for url in simulation.urls() if not url.endswith("robots.txt")}


def mirrored(
    store: Store,
    preferred: dict[str, str],
    missing: frozenset[str] | set[str] = frozenset(),
    *,
    back: bool = False,
    seeds: bool = True,
    now: float = NOW,
) -> Simulation:
    """Five pages of a.test, whose origins prefer others, as the robots.txt middleware would have it."""

    def respond(visit: Visit, started: float) -> Visited:
        result = fetched_page(visit, started)
        if visit.kind is Kind.ROBOTS and result.rules is not None:
            return replace(result, rules=replace(result.rules, preferred=preferred.get(visit.origin, "")))
        origin = origin_of(visit.url)
        if origin in preferred and not visit.hops:
            target = preferred[origin] + visit.url[len(origin) :]
            location = Link(key_of(target), target, "", None, 0)
            return Visited(
                visit=visit, outcome=Outcome.DENIED, reason=Reason.PREFERRED_HOST, detail=target, location=location
            )
        if back and origin == "http://www.a.test":
            home = visit.url.replace("www.", "")
            location = Link(key_of(home), home, "", None, 0)
            return replace(result, outcome=Outcome.REDIRECTED, reason=Reason.REDIRECTED, location=location, page=Page())
        if visit.url in missing:
            return replace(result, outcome=Outcome.REFUSED, reason=Reason.NOT_FOUND, page=Page())
        return result

    if seeds:
        seeded(store, *(f"http://a.test/{n}" for n in range(5)))
    return Simulation(store, respond, now=now)
