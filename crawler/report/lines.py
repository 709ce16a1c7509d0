"""Numbers over time, as lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from crawler.monitor.text import date_of
from crawler.report.drawing import LETTER, WIDE, grid_line, svg_image, svg_text
from crawler.report.markup import Markup, element
from crawler.report.times import axis_labels, clock_label, clock_ticks, ticks

_HEIGHT = 270
_TOP, _BOTTOM = 28, _HEIGHT - 46


class ChartLine(NamedTuple):
    """One series of a chart."""

    name: str
    values: Sequence[float]


class _Plane(NamedTuple):
    """Where times and numbers lie on a drawing."""

    left: float
    right: float
    first: float
    last: float
    most: float

    @property
    def span(self) -> float:
        return max(self.last - self.first, 1e-9)

    def across(self, at: float) -> float:
        return self.left + (at - self.first) / self.span * (self.right - self.left)

    def up(self, value: float) -> float:
        return _BOTTOM - value / self.most * (_BOTTOM - _TOP)


def line_drawing(
    width: int,
    title: str,
    described: str,
    times: Sequence[float],
    lines: Sequence[ChartLine],
    unit: str,
    *,
    whole: bool,
) -> Markup:
    marks = ticks(max(max(line.values) for line in lines), whole=whole)
    left = 14 + LETTER * max(map(len, axis_labels(marks)))
    plane = _Plane(left, width - 14, times[0], times[-1], marks[-1])
    return svg_image(
        width,
        _HEIGHT,
        title,
        described,
        svg_text(0, 14, unit, class_="axis"),
        _levels(plane, marks),
        _clock(plane, 6 if width == WIDE else 3),
        svg_text((plane.left + plane.right) / 2, _HEIGHT - 6, _time_unit(plane), "middle", "axis"),
        [_curve(plane, times, line, place) for place, line in enumerate(lines, 1)],
    )


def _levels(plane: _Plane, marks: Sequence[float]) -> Iterator[Markup]:
    for mark, label in zip(marks, axis_labels(marks), strict=True):
        yield grid_line(plane.left, plane.up(mark), plane.right, plane.up(mark))
        yield svg_text(plane.left - 6, plane.up(mark) + 4, label, "end")


def _clock(plane: _Plane, most: int) -> Iterator[Markup]:
    """Labels stay within the drawing, even if their place is at its edge."""
    for at in clock_ticks(plane.first, plane.last, most):
        label, x = clock_label(at, plane.span), plane.across(at)
        half = len(label) * LETTER / 2
        yield grid_line(x, _BOTTOM, x, _BOTTOM + 5)
        yield svg_text(min(max(x, half), plane.right + 14 - half), _BOTTOM + 18, label, "middle")


def _time_unit(plane: _Plane) -> str:
    """What the labels of the time axis leave out."""
    if plane.span > 2 * 86_400:
        return "time (UTC)"
    first, last = (date_of(at)[:10] for at in (plane.first, plane.last))
    return f"time (UTC) on {first}" if first == last else f"time (UTC) from {first} to {last}"


def _curve(plane: _Plane, times: Sequence[float], line: ChartLine, place: int) -> Markup:
    points = (f"{plane.across(at):.1f},{plane.up(value):.1f}" for at, value in zip(times, line.values, strict=True))
    return element("polyline", points=" ".join(points), class_=f"line s{place}")
