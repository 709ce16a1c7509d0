"""Yields are counted in tables of fixed size, and of few pages they are believed little."""

from __future__ import annotations

import doctest

import numpy as np
import pytest

from crawler.focus import yields
from crawler.focus.yields import ExpectedRelevance, YieldTable, yield_log_odds

REGIONS = [(1, 4), (2, 8)]


def row(*keys: int) -> np.ndarray:
    return np.array(keys, np.uint32)


def pages_of(table: YieldTable, *keys: int) -> list[float]:
    return table.counts(np.array([keys], np.uint32))[0][0].tolist()


def test_the_examples_are_true() -> None:
    assert doctest.testmod(yields).failed == 0


def test_pages_are_counted_by_key_and_kind() -> None:
    table = YieldTable(REGIONS)
    table.add(row(5, 5, 6), 0.5)
    table.add(row(5, 0, 6), 1.0)
    pages, relevance = table.counts(np.array([[5, 5, 6], [6, 7, 0]], np.uint32))
    assert pages.tolist() == [[2, 1, 2], [0, 0, 0]]
    assert relevance.tolist() == [[1.5, 0.5, 1.5], [0, 0, 0]]


def test_of_two_keys_in_one_place_the_more_frequent_one_stays() -> None:
    table = YieldTable(REGIONS)
    for _ in range(8):
        table.add(row(1, 0, 0), 1.0)
    table.add(row(5, 0, 0), 0.0)
    assert pages_of(table, 1, 0, 0)[0] == 4
    assert pages_of(table, 5, 0, 0)[0] == 0
    for _ in range(3):
        table.add(row(5, 0, 0), 0.0)
    assert pages_of(table, 1, 0, 0)[0] == 0
    assert pages_of(table, 5, 0, 0)[0] == 1


def test_a_yield_follows_what_changes() -> None:
    table = YieldTable(REGIONS)
    for relevance in (1.0, 0.0):
        for _ in range(5_000):
            table.add(row(1, 0, 0), relevance)
    pages, total = table.counts(np.array([[1, 0, 0]], np.uint32))
    assert pages[0, 0] <= 513
    assert total[0, 0] / pages[0, 0] < 0.01


def test_counts_of_workers_are_added() -> None:
    one, two = YieldTable(REGIONS), YieldTable(REGIONS)
    one.add(row(1, 2, 3), 1.0)
    two.add(row(1, 0, 4), 0.5)
    one.merge(two)
    assert pages_of(one, 1, 2, 3) == [2, 1, 1]
    assert pages_of(one, 0, 0, 4) == [0, 0, 1]


def test_a_table_is_read_as_it_was_written() -> None:
    table, other = YieldTable(REGIONS), YieldTable(REGIONS)
    table.add(row(1, 2, 3), 0.3)
    other.add(row(3, 9, 9), 0.9)
    other.load(table.to_bytes())
    assert other.to_bytes() == table.to_bytes()
    assert pages_of(other, 3, 9, 9) == [0, 0, 0]


@pytest.mark.parametrize("data", [b"x", b"\xff" * 16, bytes([1, 0, 0, 0]) * 2 + b"\xff" * 8])
def test_damaged_tables_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="not the counts"):
        YieldTable(REGIONS).load(data)


@pytest.mark.parametrize("expected", [0.002, 0.5, 0.998])
def test_log_odds_stay_finite(expected: float) -> None:
    pages = np.array([0, 1, 512, 512], np.float32)
    assert np.isfinite(yield_log_odds(pages, pages * np.array([1, 1, 1, 0], np.float32), np.float32(expected))).all()


def test_the_expected_relevance_is_that_of_the_last_pages() -> None:
    expected = ExpectedRelevance()
    for _ in range(1_000):
        expected.add(1.0)
    assert expected.share > 0.99
    for _ in range(1_000):
        expected.add(0.0)
    assert 0 < expected.share < 0.01
