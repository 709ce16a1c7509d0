"""Dice that fall the same way whenever they are thrown for the same thing."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from struct import unpack
from typing import TypeVar

T = TypeVar("T")


def rolls(*names: int | str) -> tuple[float, ...]:
    """Sixteen numbers in [0, 1) that depend on nothing but the names.

    >>> rolls(7, "page") == rolls(7, "page"), rolls(7, "page") == rolls(8, "page")
    (True, False)
    """
    digest = blake2b(repr(names).encode(), digest_size=64).digest()
    return tuple([number / 2**32 for number in unpack("<16I", digest)])


def pick(options: Sequence[T], roll: float) -> T:
    """The option on which a roll falls; all are equally likely."""
    return options[int(roll * len(options))]


def span(low: int, high: int, roll: float) -> int:
    """The whole number from low to high, both included, on which a roll falls."""
    return low + int(roll * (high - low + 1))
