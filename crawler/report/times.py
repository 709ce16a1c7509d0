"""Divide axes into round steps, and format times, sizes and counts for people."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime

MOST_SLICES = 120
_STEPS = (
    *(1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200),
    *(day * 86_400 for day in (1, 2, 7, 14, 30, 60, 90, 180, 365)),
)


def slice_width(seconds: float, most: int = MOST_SLICES) -> float:
    """Choose the shortest round duration that divides a time span into at most `most` slices.

    >>> slice_width(0), slice_width(3_600), slice_width(10 * 365 * 86_400)
    (1.0, 30.0, 5184000.0)
    """
    for step in _STEPS:
        if seconds / step <= most:
            return float(step)
    return float(_STEPS[-1] * math.ceil(seconds / _STEPS[-1] / most))


def clock_ticks(first: float, last: float, most: int) -> list[float]:
    """Return at most about `most` times in a range at which a clock shows round numbers.

    >>> clock_ticks(1, 100, 5)
    [30.0, 60.0, 90.0]
    """
    step = slice_width(last - first, most)
    start = math.ceil(first / step) * step
    return [start + number * step for number in range(int((last - start) // step) + 1)]


def clock_label(at: float, span: float) -> str:
    """Format a time as precisely as an axis of that span needs it.

    >>> clock_label(0, 60), clock_label(0, 7_200), clock_label(0, 86_400 * 30)
    ('00:00:00', '00:00', '1970-01-01')
    """
    form = "%H:%M:%S" if span <= 600 else "%H:%M" if span <= 2 * 86_400 else "%Y-%m-%d"
    return datetime.fromtimestamp(at, UTC).strftime(form)


def ticks(largest: float, most: int = 5, *, whole: bool = False) -> list[float]:
    """Return the ticks of an axis, from 0 to the first round number that is not below the largest value.

    >>> ticks(7), ticks(1_234_567), ticks(0.3), ticks(1, whole=True)
    ([0.0, 2.0, 4.0, 6.0, 8.0], [0.0, 500000.0, 1000000.0, 1500000.0], [0.0, 0.1, 0.2, 0.3], [0.0, 1.0])
    """
    raw = max(largest, 1e-9) / most
    size = 10.0 ** math.floor(math.log10(raw))
    step = next(size * factor for factor in (1, 2, 5, 10) if size * factor >= raw * (1 - 1e-9))
    if whole:
        step = max(step, 1.0)
    count = max(math.ceil(largest / step - 1e-9), 1)
    return [round(number * step, 9) for number in range(count + 1)]


def number(count: float) -> str:
    """Format a count or another number.

    >>> number(1_234_567), number(0.25), number(12.3456), number(3.0)
    ('1,234,567', '0.25', '12.3', '3')
    """
    if count == int(count):
        return f"{int(count):,}"
    return f"{count:,.1f}" if abs(count) >= 10 else f"{count:.3g}"


def axis_labels(marks: Sequence[float]) -> list[str]:
    """Format the ticks of an axis in one unit (k, M or G).

    >>> axis_labels([0, 500, 1_000]), axis_labels([0, 5_000, 10_000]), axis_labels([0, 500_000, 1_000_000])
    (['0', '500', '1,000'], ['0', '5 k', '10 k'], ['0', '0.5 M', '1 M'])
    """
    for unit, least, size in (("G", 1e9, 1e9), ("M", 1e6, 1e6), ("k", 1e4, 1e3)):
        if marks[-1] >= least:
            return [f"{mark / size:,.4g} {unit}" if mark else "0" for mark in marks]
    return [number(mark) for mark in marks]


def size(count: float) -> str:
    """Format a number of bytes.

    >>> size(512), size(2_500_000), size(3e15)
    ('512 B', '2.5 MB', '3,000.0 TB')
    """
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if count < 1000 or unit == "TB":
            return f"{count:.0f} B" if unit == "B" else f"{count:,.1f} {unit}"
        count /= 1000
    raise AssertionError("unreachable")


def seconds(duration: float) -> str:
    """Format a duration in seconds.

    >>> seconds(0.05), seconds(12.25), seconds(300)
    ('0.050 s', '12.2 s', '300 s')
    """
    return f"{duration:.3f} s" if duration < 10 else f"{duration:.1f} s" if duration < 100 else f"{duration:,.0f} s"


def percent(part: float, whole: float) -> str:
    """Format a share in percent; a share that is neither 0 nor 1 is never shown as 0 % or 100 %.

    >>> percent(1, 3), percent(1, 2_000), percent(0, 0), percent(2, 2), percent(1_999, 2_000)
    ('33 %', '0.1 %', '–', '100 %', '99.9 %')
    """
    if not whole:
        return "–"
    share = 100 * part / whole
    if 0 < share < 1 or 99 < share < 100:
        return f"{min(max(share, 0.1), 99.9):.1f} %"
    return f"{share:.0f} %"


def is_worth_drawing(values: Sequence[float]) -> bool:
    """Return whether values are enough for a chart: more than one, and not all 0."""
    return len(values) > 1 and any(values)
