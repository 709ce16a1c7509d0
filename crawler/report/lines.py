"""Draw line charts over time, or over a number of something, as SVG."""

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
    """One series of a line chart."""

    name: str
    values: Sequence[float]


class _Plane(NamedTuple):
    """Maps times and values to positions on a drawing."""

    left: float
    right: float
    first: float
    last: float
    most: float  # the value at the upper edge

    @property
    def span(self) -> float:
        return max(self.last - self.first, 1e-9)

    def x(self, at: float) -> float:
        return self.left + (at - self.first) / self.span * (self.right - self.left)

    def y(self, value: float) -> float:
        return _BOTTOM - value / self.most * (_BOTTOM - _TOP)


def line_drawing(
    width: int,
    title: str,
    description: str,
    times: Sequence[float],
    lines: Sequence[ChartLine],
    unit: str,
    *,
    whole: bool,
    along: str = "",  # what `times` are, if they are numbers of something else
) -> Markup:
    marks = ticks(max(max(line.values) for line in lines), whole=whole)
    left = 14 + LETTER * max(map(len, axis_labels(marks)))
    plane = _Plane(left, width - 14, times[0], times[-1], marks[-1])
    return svg_image(
        width,
        _HEIGHT,
        title,
        description,
        svg_text(0, 14, unit, class_="axis"),
        _value_axis(plane, marks),
        _horizontal_axis(plane, (_count_marks if along else _time_marks)(plane, 6 if width == WIDE else 3)),
        svg_text((plane.left + plane.right) / 2, _HEIGHT - 6, along or _time_unit(plane), "middle", "axis"),
        [_curve(plane, times, line, place) for place, line in enumerate(lines, 1)],
    )


def _value_axis(plane: _Plane, marks: Sequence[float]) -> Iterator[Markup]:
    for mark, label in zip(marks, axis_labels(marks), strict=True):
        yield grid_line(plane.left, plane.y(mark), plane.right, plane.y(mark))
        yield svg_text(plane.left - 6, plane.y(mark) + 4, label, "end")


def _time_marks(plane: _Plane, most: int) -> list[tuple[float, str]]:
    return [(at, clock_label(at, plane.span)) for at in clock_ticks(plane.first, plane.last, most)]


def _count_marks(plane: _Plane, most: int) -> list[tuple[float, str]]:
    marks = ticks(plane.last, most, whole=True)
    return [(mark, label) for mark, label in zip(marks, axis_labels(marks), strict=True) if mark <= plane.last]


def _horizontal_axis(plane: _Plane, marks: Sequence[tuple[float, str]]) -> Iterator[Markup]:
    """Draw the horizontal axis; labels at the edge are moved so that they stay within the drawing."""
    for at, label in marks:
        x, half = plane.x(at), len(label) * LETTER / 2
        yield grid_line(x, _BOTTOM, x, _BOTTOM + 5)
        yield svg_text(min(max(x, half), plane.right + 14 - half), _BOTTOM + 18, label, "middle")


def _time_unit(plane: _Plane) -> str:
    """Name the unit of the time axis, with the date where its labels show hours only."""
    if plane.span > 2 * 86_400:
        return "time (UTC)"
    first, last = (date_of(at)[:10] for at in (plane.first, plane.last))
    return f"time (UTC) on {first}" if first == last else f"time (UTC) from {first} to {last}"


def _curve(plane: _Plane, times: Sequence[float], line: ChartLine, place: int) -> Markup:
    points = (f"{plane.x(at):.1f},{plane.y(value):.1f}" for at, value in zip(times, line.values, strict=True))
    return element("polyline", points=" ".join(points), class_=f"line s{place}")
