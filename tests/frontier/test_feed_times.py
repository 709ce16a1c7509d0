"""A feed is visited as often as its ttl says, but not more often than every 15 minutes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest

from crawler.frontier.next_state import LEAST_INTERVAL
from crawler.items import Kind, Outcome, Page, Reason, Visit, Visited
from crawler.stores.contract.store import Store
from tests.frontier.simulation import DAY, Respond, Simulation, fetched_page
from tests.samples import NOW, answer, new_url, visited

FEED, PAGE = "http://a.test/feed", "http://a.test/page"
HOUR = 3_600.0


def feed_every(interval: float | None, *, first_only: bool = False) -> Respond:
    """A feed with a ttl, in each answer or only in the first."""
    visits: list[Visit] = []

    def respond(visit: Visit, started: float) -> Visited:
        if visit.url != FEED:
            return fetched_page(visit, started)
        visits.append(visit)
        fetched = answer(visit.url, started=started, ended=started + 0.1, address="address of a.test")
        if first_only and len(visits) > 1:
            unchanged = {"outcome": Outcome.UNCHANGED, "reason": Reason.NOT_MODIFIED, "page": Page()}
            return visited(visit, fetched=fetched, **unchanged)
        return visited(visit, fetched=fetched, page=Page(kind=Kind.FEED, interval=interval))

    return respond


def feed_visits(store: Store, respond: Respond, days: float = 2, kind: Kind = Kind.FEED) -> list[float]:
    """Return the times at which the feed was visited."""
    store.urls.add([new_url(FEED, kind=kind), new_url(PAGE)], NOW)
    simulation = Simulation(store, respond, horizon=30 * DAY)
    simulation.run(until=NOW + days * DAY)
    return [request.started for request in simulation.log if request.url == FEED]


def gaps(times: Sequence[float]) -> list[float]:
    return [later - earlier for earlier, later in pairwise(times)]


@pytest.mark.parametrize("first_only", [False, True], ids=["each answer", "304 after the first"])
@pytest.mark.parametrize("kind", [Kind.FEED, Kind.PAGE])
def test_a_feed_that_asks_for_it_is_visited_once_an_hour_and_never_earlier(
    kind: Kind, first_only: bool, store: Store
) -> None:
    times = feed_visits(store, feed_every(HOUR, first_only=first_only), kind=kind)
    assert len(times) in (47, 48)
    assert all(HOUR <= gap < HOUR + 120 for gap in gaps(times))


@pytest.mark.parametrize("first_only", [False, True], ids=["each answer", "304 after the first"])
def test_a_feed_is_visited_at_most_once_in_a_quarter_of_an_hour(first_only: bool, store: Store) -> None:
    assert LEAST_INTERVAL == HOUR / 4
    times = feed_visits(store, feed_every(60.0, first_only=first_only), days=1)
    assert 80 < len(times) <= 96
    assert all(LEAST_INTERVAL <= gap < LEAST_INTERVAL + 120 for gap in gaps(times))


@pytest.mark.parametrize(
    ("interval", "days", "visits"),
    [(None, 1, 24), (6 * HOUR, 2, 8), (DAY, 4, 4), (300 * DAY, 15, 3)],
    ids=["does not say", "six hours", "a day", "almost never"],
)
def test_other_feeds_are_visited_as_they_ask_or_as_is_usual(
    interval: float | None, days: float, visits: int, store: Store
) -> None:
    times = feed_visits(store, feed_every(interval), days)
    assert len(times) in (visits - 1, visits)
    assert min(gaps(times)) >= min(interval or HOUR, 7 * DAY)


def test_a_feed_does_not_make_its_hosts_pages_due(store: Store) -> None:
    store.urls.add([new_url(FEED, kind=Kind.FEED), new_url(PAGE)], NOW)
    simulation = Simulation(store, feed_every(HOUR), horizon=3 * DAY)
    simulation.run(until=NOW + 2 * DAY)
    assert simulation.urls().count(PAGE) == 1
    assert simulation.urls().count("http://a.test/robots.txt") <= 3


def test_a_sitemap_is_visited_once_a_day(store: Store) -> None:
    url = "http://a.test/sitemap.xml"

    def respond(visit: Visit, started: float) -> Visited:
        result = fetched_page(visit, started)
        if visit.kind is not Kind.SITEMAP:
            return result
        return visited(visit, fetched=result.fetched, page=Page(kind=Kind.SITEMAP))

    store.urls.add([new_url(url, kind=Kind.SITEMAP)], NOW)
    simulation = Simulation(store, respond, horizon=3 * DAY)
    simulation.run(until=NOW + 5 * DAY)
    times = [request.started for request in simulation.log if request.url == url]
    assert len(times) in (5, 6)
    assert all(DAY <= gap < DAY + 120 for gap in gaps(times))
