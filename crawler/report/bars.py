"""Draw bar charts as SVG; labels stand beside the bars on wide drawings, above them on narrow ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from crawler.report.drawing import LETTER, WIDE, grid_line, svg_image, svg_text
from crawler.report.markup import Markup, element, shorten_middle, visible
from crawler.report.times import axis_labels, ticks

_TOP = 8


class ChartBar(NamedTuple):
    """A row of a bar chart: its label, and one value for each series."""

    name: str
    values: Sequence[float]


class _Plane(NamedTuple):
    """Maps values to positions on a drawing."""

    beside: bool  # labels stand beside the bars
    left: float
    right: float
    most: float  # the value at the right edge
    thick: int  # height of a bar
    pitch: int  # height of a row

    @property
    def longest(self) -> int:
        """Letters of a label that are shown."""
        return 30 if self.beside else 40

    def x(self, value: float) -> float:
        return self.left + max(value, 0.0) / self.most * max(self.right - self.left, 1)


def bar_drawing(
    width: int,
    title: str,
    description: str,
    bars: Sequence[ChartBar],
    unit: str,
    format_value: Callable[[float], str],
    *,
    whole: bool,
) -> Markup:
    """Draw the chart; with `whole`, the axis has whole numbers only."""
    beside, series = width == WIDE, len(bars[0].values)
    values = [value for bar in bars for value in bar.values]
    marks = ticks(max(*values, 0), 4 if beside else 3, whole=whole)
    thick = 16 if series == 1 else 14
    plane = _Plane(
        beside=beside,
        left=12 + LETTER * min(max(len(bar.name) for bar in bars), 30) if beside else 2.0,
        right=width - 14 - LETTER * max(len(format_value(value)) for value in values),
        most=marks[-1],
        thick=thick,
        pitch=series * thick + (8 if beside else 24),
    )
    bottom = _TOP + plane.pitch * len(bars)
    return svg_image(
        width,
        bottom + 42,
        title,
        description,
        _scale(plane, marks, bottom),
        [_row(plane, place, bar, format_value) for place, bar in enumerate(bars)],
        svg_text((plane.left + plane.right) / 2, bottom + 34, unit, "middle", "axis"),
    )


def _scale(plane: _Plane, marks: Sequence[float], bottom: float) -> Iterator[Markup]:
    for mark, label in zip(marks, axis_labels(marks), strict=True):
        yield grid_line(plane.x(mark), 4, plane.x(mark), bottom)
        yield svg_text(plane.x(mark), bottom + 16, label, "middle" if mark else "start")


def _row(plane: _Plane, place: int, bar: ChartBar, format_value: Callable[[float], str]) -> Iterator[Markup]:
    y = _TOP + place * plane.pitch + (0 if plane.beside else 18)
    name = shorten_middle(visible(bar.name), plane.longest)
    if plane.beside:
        yield svg_text(plane.left - 8, y + len(bar.values) * plane.thick / 2 + 4, name, "end", "name")
    else:
        yield svg_text(2, y - 5, name, class_="name")
    for series, value in enumerate(bar.values):
        at, long = y + series * plane.thick, max(plane.x(value) - plane.left, 1.0 if value else 0.0)
        yield element(
            "rect",
            x=f"{plane.left:.1f}",
            y=f"{at:.1f}",
            width=f"{long:.1f}",
            height=plane.thick - 2,
            class_=f"bar s{series + 1}",
        )
        yield svg_text(plane.left + long + 5, at + plane.thick / 2 + 3, format_value(value))
