"""An estimate decides only if it is further from the threshold than the margin."""

from __future__ import annotations

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.duplicates import cascade as module
from crawler.duplicates.cascade import DuplicateRule

SHARES = st.floats(0.0, 1.0)


@pytest.mark.parametrize(
    ("estimate", "expected"),
    [(1.0, True), (0.955, True), (0.945, None), (0.9, None), (0.855, None), (0.845, False), (0.0, False)],
)
def test_an_estimate_decides_beyond_the_margin(estimate: float, expected: bool | None) -> None:
    assert DuplicateRule(threshold=0.9, margin=0.05).is_duplicate(estimate) is expected


@given(SHARES, SHARES)
def test_without_a_margin_every_estimate_decides_except_the_threshold(estimate: float, threshold: float) -> None:
    expected = None if estimate == threshold else estimate > threshold
    assert DuplicateRule(threshold=threshold, margin=0.0).is_duplicate(estimate) is expected


@given(SHARES, SHARES, SHARES, st.floats(0.0, 0.3))
def test_a_greater_estimate_is_never_less_of_a_duplicate(one: float, other: float, at: float, margin: float) -> None:
    rule, order = DuplicateRule(threshold=at, margin=margin), (False, None, True)
    low, high = (order.index(rule.is_duplicate(estimate)) for estimate in sorted((one, other)))
    assert low <= high


def test_the_examples_are_true() -> None:
    assert doctest.testmod(module).failed == 0
