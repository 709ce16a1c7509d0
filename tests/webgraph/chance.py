"""Reproducible pseudo-random numbers: the same names always give the same numbers."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from struct import unpack
from typing import TypeVar

T = TypeVar("T")


def rolls(*names: int | str) -> tuple[float, ...]:
    """Return sixteen numbers in [0, 1) that depend only on the names.

    >>> rolls(7, "page") == rolls(7, "page"), rolls(7, "page") == rolls(8, "page")
    (True, False)
    """
    digest = blake2b(repr(names).encode(), digest_size=64).digest()
    return tuple([number / 2**32 for number in unpack("<16I", digest)])


def pick(options: Sequence[T], roll: float) -> T:
    """Return one of the options by a number in [0, 1); all are equally likely."""
    return options[int(roll * len(options))]


def span(low: int, high: int, roll: float) -> int:
    """Return an integer from low to high, both included, by a number in [0, 1)."""
    return low + int(roll * (high - low + 1))
