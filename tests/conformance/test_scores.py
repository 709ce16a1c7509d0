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
def test_a_reason_holds_for_as_many_cases_as_are_known(known, unexplained):
    found = score("five", 0.5, RESULTS, {"a": (1, "why"), "b": (known, "why")})
    assert (found.unexplained, found.holds) == (unexplained, False)


def test_what_is_set_aside_is_no_case():
    found = score("five", 0.5, RESULTS, {"a": (1, "why")}, aside={"b": (2, "why")})
    assert (found.cases, found.agreed, found.holds) == (3, 2, True)
    assert found.set_aside == (Difference("b", 2, "why"),)
    assert score("five", 0.5, RESULTS, aside={"b": (1, "why")}).set_aside == ()  # there is one more than is known


def test_nothing_compared_is_nothing_proved():
    assert not score("none", 0.0, []).holds


def test_the_examples_are_true():
    assert doctest.testmod(scores).failed == 0
