"""Sources are ranked by the relevance of the pages that they lead to."""

from __future__ import annotations

import msgspec
import pytest

from crawler.focus.hubs import LONGEST_NAME, MOST_NAMES, SourceRanking


def ranking(**counts: tuple[int, float]) -> SourceRanking:
    one = SourceRanking()
    for name, (pages, relevance) in counts.items():
        for _ in range(pages):
            one.count(name, relevance)
    return one


def test_the_best_sources_are_those_whose_pages_are_relevant() -> None:
    assert [one.name for one in ranking(low=(20, 0.1), high=(20, 0.9), some=(20, 0.5)).best(2)] == ["high", "some"]


def test_a_source_of_one_page_is_not_the_best() -> None:
    best = ranking(lucky=(1, 1.0), good=(30, 0.9), rest=(100, 0.05)).best()
    assert [one.name for one in best] == ["good", "lucky", "rest"]
    assert best[0].pages == 30
    assert best[0].relevance == pytest.approx(27)


def test_the_number_of_names_is_bounded_and_the_best_stay() -> None:
    one = SourceRanking()
    for number in range(10 * MOST_NAMES):
        one.count("good", 0.9)
        one.count(f"source {number}", 0.1)
        one.count(" " * (LONGEST_NAME + 1), 1.0)
        one.count("", 1.0)
    assert len(one.best(10**6)) <= 2 * MOST_NAMES
    assert one.best(1)[0][:2] == ("good", 10 * MOST_NAMES)


def test_workers_are_added() -> None:
    one, two = ranking(a=(3, 1.0), b=(1, 0.0)), ranking(a=(2, 0.5), c=(4, 0.25))
    one.merge([two])
    assert {row.name: (row.pages, row.relevance) for row in one.best()} == {"a": (5, 4.0), "b": (1, 0.0), "c": (4, 1.0)}


def test_a_ranking_is_read_as_it_was_written() -> None:
    one = ranking(a=(3, 1.0), b=(1, 0.0))
    assert SourceRanking.from_bytes(one.to_bytes()).best() == one.best()
    with pytest.raises(msgspec.DecodeError):
        SourceRanking.from_bytes(one.to_bytes()[:-1])
