"""The harvest counts pages on topic: all, the last thousand, and the curve."""

from __future__ import annotations

import doctest

import msgspec
import pytest

from crawler.focus import harvest as harvest_module
from crawler.focus.harvest import MOST_POINTS, Harvest, HarvestPoint


def harvest(*parts: tuple[int, float]) -> Harvest:
    one = Harvest()
    for pages, relevance in parts:
        for _ in range(pages):
            one.count(relevance)
    return one


def test_the_examples_are_true() -> None:
    assert doctest.testmod(harvest_module).failed == 0


def test_a_new_crawl_has_no_harvest() -> None:
    assert (Harvest().share, Harvest().last_share, list(Harvest().curve())) == (0, 0, [HarvestPoint(0, 0)])


def test_the_last_thousand_pages_are_told_apart() -> None:
    one = harvest((3_000, 0.9), (250, 0.1))
    assert one.share == pytest.approx(3_000 / 3_250)
    assert one.last_share == 0.75


@pytest.mark.parametrize("pages", [1, 255, 256, 257, 10_001])
def test_the_curve_is_bounded_and_ends_with_the_last_page(pages: int) -> None:
    points = list(harvest((pages, 0.9)).curve())
    assert points[0] == HarvestPoint(0, 0)
    assert points[-1] == HarvestPoint(pages, pages)
    assert len(points) <= MOST_POINTS + 1
    assert all(point.pages == point.on_topic for point in points)


def test_workers_are_added() -> None:
    together = Harvest.of_workers([harvest((900, 0.9), (900, 0.1)), harvest((200, 0.1)), Harvest()])
    points = list(together.curve())
    assert (together.pages, together.on_topic) == (2_000, 900)
    assert points[-1] == HarvestPoint(2_000, 900)
    assert len(points) <= MOST_POINTS + 1
    half = next(point for point in points if point.pages >= 1_000)
    assert half.on_topic == pytest.approx(900, abs=10)
    assert [point.on_topic for point in points] == sorted(point.on_topic for point in points)


def test_the_last_pages_of_workers_are_the_last_together() -> None:
    together = Harvest.of_workers([harvest((800, 0.9), (500, 0.1)), harvest((800, 0.9), (500, 0.1))])
    assert together.last_share == 0


def test_a_harvest_is_read_as_it_was_written() -> None:
    one = harvest((700, 0.9), (70, 0.1))
    again = Harvest.from_bytes(one.to_bytes())
    one.count(0.8)
    again.count(0.8)
    assert again.to_bytes() == one.to_bytes()
    with pytest.raises(msgspec.DecodeError):
        Harvest.from_bytes(one.to_bytes()[:-1])
