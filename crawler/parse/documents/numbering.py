"""Compute the numbers that word processors put before paragraphs."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

_PLACE = re.compile(r"%([1-9])")
_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"),
    (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip


class NumberingLevel(NamedTuple):
    """How the paragraphs of one level are numbered."""

    kind: str = "decimal"  # Office Open XML's name of the number format
    text: str = ""  # with %1 for the number of the first level, and so on
    start: int = 1
    restarts: bool = True  # when a higher level continues
    is_legal: bool = False  # all in Arabic digits


@dataclass(slots=True)
class Counters:
    """The current numbers of one list, by level."""

    levels: dict[int, NumberingLevel]
    _at: dict[int, int] = field(default_factory=dict)

    def restart(self, depth: int, start: int) -> None:
        """Let the next paragraph of this level have this number."""
        self._at[depth] = start - 1

    def next(self, depth: int) -> str:
        """The text of the number of the next paragraph of this level; empty for a bullet."""
        level = self.levels.get(depth, NumberingLevel())
        self._at[depth] = self._at.get(depth, level.start - 1) + 1
        for deeper in [known for known in self._at if known > depth]:
            if self.levels.get(deeper, level).restarts:
                del self._at[deeper]
        if level.kind in ("bullet", "none"):
            return level.text if level.kind == "none" and "%" not in level.text else ""
        return _PLACE.sub(lambda place: self._number(int(place[1]) - 1, level), level.text)

    def _number(self, depth: int, of: NumberingLevel) -> str:
        level = self.levels.get(depth, NumberingLevel())
        number = self._at.setdefault(depth, level.start)
        return format_number("decimal" if of.is_legal else level.kind, number)


def format_number(kind: str, number: int) -> str:
    """Format a number in a number format of Office Open XML.

    >>> format_number("lowerRoman", 14), format_number("upperLetter", 28)
    ('xiv', 'BB')
    >>> format_number("ordinal", 22), format_number("decimalZero", 5)
    ('22nd', '05')
    """
    if kind.endswith("Roman") and 0 < number < 4_000:
        return _upper_or_lower(kind, _roman(number))
    if kind.endswith("Letter") and 0 < number < 1_000:
        return _upper_or_lower(kind, chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 + 1))
    if kind == "decimalZero":
        return f"{number:02}"
    if kind == "ordinal":
        ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
        return f"{number}{ending}"
    return "" if kind in ("none", "bullet") else str(number)


def _upper_or_lower(kind: str, text: str) -> str:
    return text.upper() if kind.startswith("upper") else text


def _roman(number: int) -> str:
    letters = []
    for value, letter in _ROMAN:
        count, number = divmod(number, value)
        letters.append(letter * count)
    return "".join(letters)
