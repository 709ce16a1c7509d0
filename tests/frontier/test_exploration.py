"""In a focused crawl, URLs that are worth much less than the last pages get a share of the visits."""

from __future__ import annotations

import doctest

from crawler.frontier import exploration, priority
from crawler.frontier.exploration import Exploration, deepest_level


def test_the_examples_are_true() -> None:
    assert doctest.testmod(exploration).failed == 0
    assert doctest.testmod(priority).failed == 0


def test_more_is_demanded_of_links_where_pages_are_relevant() -> None:
    levels = [deepest_level(0.5, relevance / 100) for relevance in range(1, 100)]
    assert levels == sorted(levels, reverse=True)
    assert levels[0] > levels[-1]


def poor(follow: float = 0.5, mean: float = 0.5) -> Exploration:
    found = Exploration(0.05, follow, lambda: mean)
    for _ in range(100):
        found.page_judged(1, 0.0)
    return found


def test_a_host_is_limited_when_it_has_shown_that_it_has_little() -> None:
    found = poor()
    assert found.limit is not None
    assert found.limit.hosts == {1}
    for _ in range(200):
        found.page_judged(1, 0.9)
    assert found.limit is None


def test_a_host_of_which_little_is_known_is_not_limited() -> None:
    found = Exploration(0.05, 0.5, lambda: 0.9)
    for _ in range(99):
        found.page_judged(1, 0.0)
    assert found.limit is None


def test_all_hosts_are_visited_alike_if_that_is_wanted() -> None:
    assert poor(follow=0.0).limit is None


def test_a_share_of_the_visits_is_saved_up_for_a_while_and_used_once() -> None:
    found = poor()

    def beyond() -> int:
        assert found.limit is not None
        return found.limit.beyond

    for _ in range(1_000):
        found.visit_released()
    assert beyond() == 4
    found.urls_loaded(3)
    assert beyond() == 1
    found.urls_loaded(9)
    assert beyond() == 0
    for _ in range(81):
        found.visit_released()
    assert beyond() == 0
    for _ in range(20):
        found.visit_released()
    assert beyond() == 1
