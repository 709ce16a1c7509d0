"""A survey counts the pages that a focused crawl has judged, and ranks where they were found."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from crawler.items import Outcome, Page, Reason
from crawler.stores.contract.store import Store
from crawler.stores.contract.survey import HarvestCounts, TopicSource, TopicYields
from crawler.urls.keys import key_of
from tests.contracts.visits import REVISIT, commit, fetch, lease_url
from tests.samples import NOW, link

A = "http://a.test/"


def judge(store: Store, url: str, relevance: float, at: float = NOW, links: Sequence[str] = ()) -> None:
    """Fetch a page; below .5 it is off topic."""
    reason = Reason.OK if relevance >= 0.5 else Reason.OFF_TOPIC
    fetch(store, url, at, reason=reason, page=Page(relevance=relevance, links=[link(found) for found in links]))


def judge_many(store: Store, count: int, on_topic: range, host: str = "a.test") -> None:
    for number in range(count):
        judge(store, f"http://{host}/{number}", 0.75 if number in on_topic else 0.25)


def harvest(store: Store, points: int = 8, host: int | None = None) -> HarvestCounts | None:
    with store.survey() as survey:
        return survey.harvest(points, host)


def yields(store: Store, most: int = 9, host: int | None = None) -> TopicYields:
    with store.survey() as survey:
        return survey.topic_yields(most, host)


def test_a_crawl_without_a_topic_has_no_harvest(store: Store) -> None:
    fetch(store, A, NOW)
    assert harvest(store) is None
    assert yields(store) == TopicYields([], [])


def test_the_harvest_curve_goes_through_the_pages_in_the_order_of_fetching(store: Store) -> None:
    judge_many(store, 8, range(2, 6))
    assert harvest(store) == HarvestCounts(
        8, 4, 8, 4, [(0, 0), (1, 0), (2, 0), (3, 1), (4, 2), (5, 3), (6, 4), (7, 4), (8, 4)]
    )
    assert harvest(store, points=2) == HarvestCounts(8, 4, 8, 4, [(0, 0), (4, 2), (8, 4)])


def test_only_the_last_pages_count_as_such(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.stores.sqlite.survey_focus.LAST_PAGES", 4)
    judge_many(store, 12, range(10))
    found = harvest(store, points=3)
    assert found is not None
    assert (found.last_pages, found.last_on_topic) == (4, 2)


@pytest.mark.parametrize("points", [1, 3, 7, 50])
def test_a_curve_has_no_more_points_than_wanted(store: Store, points: int) -> None:
    judge_many(store, 20, range(0, 20, 3))
    found = harvest(store, points)
    assert found is not None
    assert 2 <= len(found.curve) <= points + 1
    assert found.curve[-1] == (20, 7) == (found.pages, found.on_topic)


def test_a_page_is_on_topic_if_it_was_kept_whatever_its_relevance(store: Store) -> None:
    fetch(store, A, NOW, page=Page(relevance=0.3))
    fetch(store, f"{A}2", NOW, page=Page(relevance=0.6), reason=Reason.OFF_TOPIC)
    assert harvest(store, 1) == HarvestCounts(2, 1, 2, 1, [(0, 0), (2, 1)])


def test_pages_that_no_index_may_have_are_not_judged(store: Store) -> None:
    judge(store, A, 0.9)
    fetch(store, f"{A}2", NOW, page=Page(relevance=0.9), reason=Reason.NOINDEX)
    fetch(store, f"{A}3", NOW, page=Page(relevance=0.9), reason=Reason.LOGIN_WALL, outcome=Outcome.REFUSED)
    fetch(store, f"{A}4", NOW, page=Page())
    found = harvest(store)
    assert found is not None
    assert found.pages == 1


def test_a_host_has_a_harvest_of_its_own(store: Store) -> None:
    judge_many(store, 4, range(3))
    judge_many(store, 4, range(1), host="b.test")
    assert harvest(store, 1, key_of("http://b.test/").host) == HarvestCounts(4, 1, 4, 1, [(0, 0), (4, 1)])
    assert harvest(store, 1, key_of("http://c.test/").host) is None
    assert [one.name for one in yields(store, host=key_of("http://b.test/").host).sections] == ["b.test/"]


def test_sources_are_ranked_by_what_was_fetched_from_them(store: Store) -> None:
    """One good link of one says less than four of five."""
    links = {name: [f"http://{name}.test/{number}" for number in range(count)] for name, count in COUNTS.items()}
    for name, urls in links.items():
        judge(store, f"{A}{name}", 0.25, links=urls)
    for name, good in {"five": 4, "one": 1, "bad": 0}.items():
        for number, url in enumerate(links[name]):
            commit_judged(store, url, 0.75 if number < good else 0.25)
    found = yields(store).sources
    assert [(one.name, one.pages, one.on_topic) for one in found] == [
        (f"{A}five", 5, 4),
        (f"{A}one", 1, 1),
        (f"{A}bad", 3, 0),
    ]
    assert found[0].relevance == pytest.approx(0.65)
    assert [one.shrunk_yield for one in found] == sorted((one.shrunk_yield for one in found), reverse=True)


COUNTS = {"five": 5, "one": 1, "bad": 3}


def commit_judged(store: Store, url: str, relevance: float) -> None:
    reason = Reason.OK if relevance >= 0.5 else Reason.OFF_TOPIC
    commit(store, lease_url(store, url, NOW), NOW, page=Page(relevance=relevance), reason=reason)


def test_sections_are_ranked_likewise(store: Store) -> None:
    for section, relevance in (("birds/wild", 0.75), ("taxes", 0.25)):
        for number in range(3):
            judge(store, f"{A}{section}/{number}.html", relevance)
    assert yields(store).sections == [
        TopicSource("a.test/birds/wild/", 3, 3, 0.75, pytest.approx(0.625)),
        TopicSource("a.test/taxes/", 3, 0, 0.25, pytest.approx(0.375)),
    ]
    assert len(yields(store, most=1).sections) == 1


def test_of_several_versions_of_a_page_the_newest_is_ranked(store: Store) -> None:
    judge(store, f"{A}x/1", 0.25)
    judge(store, f"{A}x/1", 0.75, NOW + REVISIT)
    (section,) = yields(store).sections
    assert (section.pages, section.on_topic, section.relevance) == (1, 1, 0.75)
    found = harvest(store, 1)
    assert found is not None
    assert (found.pages, found.on_topic) == (2, 1)


def test_sources_and_sections_are_ranked_by_the_pages_judged_last(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crawler.stores.sqlite.survey_focus.MOST_RANKED", 2)
    for name in ("old", "new", "newest"):
        judge(store, f"{A}{name}/1", 0.75)
    assert {one.name for one in yields(store).sections} == {"a.test/new/", "a.test/newest/"}
