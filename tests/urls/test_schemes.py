"""URLs with http and https are recognized."""

from __future__ import annotations

import doctest

from crawler.urls import schemes


def test_the_examples_are_true() -> None:
    assert doctest.testmod(schemes).failed == 0
