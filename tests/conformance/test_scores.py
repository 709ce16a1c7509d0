"""A score counts every case once and excuses nothing by itself."""

import doctest

import pytest

from tests.conformance import scores
from tests.conformance.scores import Difference, score

RESULTS = [("a", True), ("a", False), ("b", False), ("b", False), ("c", True)]


def test_without_reasons_every_difference_is_unexplained():
    found = score("five", 0.4, RESULTS)
    assert (found.cases, found.agreed, found.holds) == (5, 2, True)
    assert found.unexplained == [Difference("a", 1, ""), Difference("b", 2, "")]


@pytest.mark.parametrize(("known", "unexplained"), [(2, []), (1, [Difference("b", 2, "")])])
def test_a_reason_explains_no_more_cases_than_stated(known, unexplained):
    found = score("five", 0.5, RESULTS, {"a": (1, "why"), "b": (known, "why")})
    assert (found.unexplained, found.holds) == (unexplained, False)


def test_cases_that_are_set_aside_do_not_count():
    found = score("five", 0.5, RESULTS, {"a": (1, "why")}, aside={"b": (2, "why")})
    assert (found.cases, found.agreed, found.holds) == (3, 2, True)
    assert found.set_aside == (Difference("b", 2, "why"),)
    assert score("five", 0.5, RESULTS, aside={"b": (1, "why")}).set_aside == ()  # one more case differs than is stated


def test_a_score_without_cases_does_not_hold():
    assert not score("none", 0.0, []).holds


def test_the_examples_are_true():
    assert doctest.testmod(scores).failed == 0
