"""Rates are those of the last seconds, however often they are computed."""

from __future__ import annotations

import doctest
import pickle

import pytest

from crawler.monitor import rates as module
from crawler.monitor.rates import RecentRate, remaining


@pytest.mark.parametrize("every", [0.25, 1.0, 15.0])
def test_a_steady_rate_is_measured_exactly(every: float) -> None:
    recent = RecentRate(5.0)
    rates = [recent.rates(n * every, n * every * 40)[0] for n in range(200)]
    assert rates[0] == 0.0
    assert rates[1:] == pytest.approx([40.0] * 199)


def test_samples_older_than_the_window_are_dropped() -> None:
    recent = RecentRate(5.0)
    for n in range(24):
        recent.rates(n * 0.25, 1_000)
    size = len(pickle.dumps(recent))
    for n in range(24, 100):
        recent.rates(n * 0.25, 1_000)
    assert recent.rates(26.0, 1_050)[0] == pytest.approx(10.0, rel=0.05)
    assert len(pickle.dumps(recent)) <= size  # it does not grow


@pytest.mark.parametrize(
    ("facts", "seconds"),
    [
        ({}, None),
        ({"max_seconds": 100.0}, 90.0),
        ({"max_seconds": 5.0}, 0.0),
        ({"max_pages": 60, "pages": 10, "pages_a_second": 5.0}, 10.0),
        ({"max_pages": 60, "pages": 70, "pages_a_second": 5.0}, 0.0),
        ({"max_pages": 60}, None),
        ({"max_seconds": 100.0, "max_pages": 60}, 90.0),
        ({"max_seconds": 100.0, "max_pages": 60, "pages_a_second": 60.0}, 1.0),
    ],
)
def test_the_first_limit_ends_the_crawl(facts: dict[str, float], seconds: float | None) -> None:
    given = {"elapsed": 10.0, "max_seconds": 0.0, "pages": 0, "max_pages": 0, "pages_a_second": 0.0} | facts
    assert remaining(**given) == seconds  # type: ignore[arg-type]


def test_the_examples_are_true() -> None:
    assert doctest.testmod(module).failed == 0
