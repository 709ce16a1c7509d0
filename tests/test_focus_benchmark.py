"""Simulated focused crawls fetch in the order of scores, and are measured by the labels alone."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.focus import PLACES, place_of
from benchmarks.focus_crawls import BreadthFirst, CrawlTask, WaitingUrls, crawl, measure_crawl, reachable
from benchmarks.focus_webs import FocusMode, FocusPage, FocusTask, WebLink


class MadeTask(CrawlTask):
    """Pages 0 to 9, of which each links to the next two; 0 is the seed, 1 an example."""

    @property
    def task(self) -> FocusTask:
        return FocusTask("made", "evens", "even", frozenset({1, 2, 4, 99}), [0], [0], [0], [0, 1], [])

    @property
    def pages(self) -> Any:
        return [
            FocusPage(f"https://made.example/{number}", "", "", [self._link(number + 1), self._link(number + 2)])
            for number in range(10)
        ]

    def _link(self, number: int) -> WebLink:
        return WebLink(number % 10, "", "", 0)


TASK = MadeTask("made", "evens", FocusMode.FEW)


def test_a_crawl_fetches_each_reachable_page_once() -> None:
    assert reachable(TASK) == frozenset(range(10))
    assert crawl(TASK, BreadthFirst(), WaitingUrls(10), 100) == list(range(10))
    assert crawl(TASK, BreadthFirst(), WaitingUrls(10), 3) == [0, 1, 2, 3, 4]  # 0 and 1 do not count


def test_seeds_and_examples_count_neither_as_found_nor_as_fetched() -> None:
    measured = measure_crawl(TASK, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], reachable(TASK))
    assert measured.harvest == 0.5  # 2 of 2 and 4, among the first two that count
    assert measured.r25 == 0.5
    assert measured.r50 == 1.0
    assert measured.auc == 0.5
    assert measure_crawl(TASK, [0, 4, 2], reachable(TASK)).auc == 0.75


def test_the_best_url_is_fetched_first_and_of_equal_ones_the_first_found() -> None:
    waiting = WaitingUrls(5)
    for number, score in [(3, 0.5), (1, 0.5), (4, 0.7), (2, 0.1)]:
        waiting.put(number, score)
    waiting.raise_to(4, 0.2)
    waiting.raise_to(2, 0.9)
    assert waiting.best(2) == [2, 4]
    assert [waiting.pop() for _ in range(5)] == [2, 4, 3, 1, None]


@pytest.mark.parametrize(("score", "place"), [(0.0, 0), (0.002, 0), (0.5, 38), (0.99, PLACES - 1), (1.0, PLACES - 1)])
def test_places_are_steps_of_log_odds(score: float, place: int) -> None:
    assert place_of(score) == place
