"""The number of pages that were not discovered is estimated from the overlap of links and lists."""

from __future__ import annotations

import random

import pytest

from crawler.report.coverage import chapman, coverage
from crawler.stores.contract.survey import ListCoverage


def test_two_samples_estimate_the_number_of_all_pages() -> None:
    chance = random.Random(5)
    estimates = []
    for _ in range(200):
        linked = set(chance.sample(range(10_000), 3_000))
        listed = set(chance.sample(range(10_000), 2_000))
        both = len(linked & listed)
        data = coverage(ListCoverage(len(linked | listed), len(linked), len(listed), both))
        estimates.append(data["low"] <= 10_000 <= data["high"])
        assert data["estimate"] == pytest.approx(10_000, rel=0.2)
    assert 0.9 <= sum(estimates) / len(estimates) <= 1


def test_samples_that_both_have_all_pages_estimate_just_these() -> None:
    data = coverage(ListCoverage(100, 100, 100, 100))
    assert (data["estimate"], data["low"], data["high"]) == (100, 100, 100)


def test_the_estimate_is_not_below_the_pages_that_were_discovered() -> None:
    data = coverage(ListCoverage(3_000, 2_900, 200, 100))
    assert data["low"] >= 3_000


@pytest.mark.parametrize(
    ("captured", "word"),
    [
        (ListCoverage(900, 900, 0, 0), "No sitemap or feed"),
        (ListCoverage(900, 900, 49, 40), "too small"),
        (ListCoverage(900, 49, 500, 40), "too small"),
        (ListCoverage(900, 500, 500, 9), "too small"),
        (ListCoverage(0, 0, 0, 0), "No sitemap or feed"),
    ],
)
def test_small_samples_say_so_and_estimate_nothing(captured: ListCoverage, word: str) -> None:
    data = coverage(captured)
    assert data["estimate"] is None
    assert word in data["why_not"]


def test_samples_that_share_nothing_do_not_divide_by_zero() -> None:
    assert chapman(10, 10, 0) == 120
