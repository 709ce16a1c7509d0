"""In a focused crawl, URLs that are worth much less than the last pages get a share of the visits."""

from __future__ import annotations

import doctest

from crawler.frontier import exploration, priority
from crawler.frontier.exploration import Exploration, LevelLimit, deepest_level


def test_the_examples_are_true() -> None:
    assert doctest.testmod(exploration).failed == 0
    assert doctest.testmod(priority).failed == 0


def test_more_is_demanded_of_links_where_pages_are_relevant() -> None:
    levels = [deepest_level(0.5, relevance / 100) for relevance in range(1, 100)]
    assert levels == sorted(levels, reverse=True)
    assert levels[0] > levels[-1]


def test_all_links_are_followed_if_that_is_wanted() -> None:
    assert Exploration(0.05, 0.0, lambda: 1.0).limit == LevelLimit(7, 0)


def test_a_share_of_the_visits_is_saved_up_for_a_while_and_used_once() -> None:
    found = Exploration(0.05, 0.5, lambda: 0.5)
    for _ in range(1_000):
        found.visit_released()
    assert found.limit.beyond == 4
    found.urls_loaded(3)
    assert found.limit.beyond == 1
    found.urls_loaded(9)
    assert found.limit.beyond == 0
    for _ in range(81):
        found.visit_released()
    assert found.limit.beyond == 0
    for _ in range(20):
        found.visit_released()
    assert found.limit.beyond == 1
