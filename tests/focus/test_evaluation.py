"""Scores are compared with labels."""

from __future__ import annotations

import doctest

import pytest

from crawler.focus import evaluation as module
from crawler.focus.evaluation import average_precision, threshold_quality


@pytest.mark.parametrize(
    ("labels", "expected"),
    [([True, True, False], 1.0), ([False, False, True], 1 / 3), ([False] * 3, 0.0), ([True, False, True], 5 / 6)],
)
def test_average_precision(labels: list[bool], expected: float) -> None:
    assert average_precision([0.9, 0.8, 0.1], labels) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("threshold", "kept", "precision", "recall", "f1"),
    [(0.0, 3, 2 / 3, 1.0, 0.8), (0.5, 2, 0.5, 0.5, 0.5), (0.95, 0, 0.0, 0.0, 0.0)],
)
def test_quality_by_threshold(threshold: float, kept: int, precision: float, recall: float, f1: float) -> None:
    found = threshold_quality([0.9, 0.6, 0.2], [True, False, True], threshold)
    assert found == (threshold, kept, precision, recall)
    assert found.f1 == pytest.approx(f1)


def test_the_examples_are_true() -> None:
    assert doctest.testmod(module).failed == 0
