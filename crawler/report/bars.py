"""Numbers side by side, as bars: their names stand beside them where there is room, else above."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from crawler.report.drawing import LETTER, WIDE, grid_line, svg_image, svg_text
from crawler.report.markup import Markup, element, shorten_middle, visible
from crawler.report.times import axis_labels, ticks

_TOP = 8


class ChartBar(NamedTuple):
    """A row of a chart of bars: one value for each of its series."""

    name: str
    values: Sequence[float]


class _Plane(NamedTuple):
    """Where names and numbers lie on a drawing."""

    beside: bool  # names are
    left: float
    right: float
    most: float
    thick: int  # a bar
    pitch: int  # a row

    @property
    def longest(self) -> int:
        """Letters of a name."""
        return 30 if self.beside else 40

    def along(self, value: float) -> float:
        return self.left + max(value, 0.0) / self.most * max(self.right - self.left, 1)


def bar_drawing(
    width: int,
    title: str,
    described: str,
    bars: Sequence[ChartBar],
    unit: str,
    told: Callable[[float], str],
    *,
    whole: bool,
) -> Markup:
    beside, series = width == WIDE, len(bars[0].values)
    values = [value for bar in bars for value in bar.values]
    marks = ticks(max(*values, 0), 4 if beside else 3, whole=whole)
    thick = 16 if series == 1 else 14
    plane = _Plane(
        beside=beside,
        left=12 + LETTER * min(max(len(bar.name) for bar in bars), 30) if beside else 2.0,
        right=width - 14 - LETTER * max(len(told(value)) for value in values),
        most=marks[-1],
        thick=thick,
        pitch=series * thick + (8 if beside else 24),
    )
    bottom = _TOP + plane.pitch * len(bars)
    return svg_image(
        width,
        bottom + 42,
        title,
        described,
        _scale(plane, marks, bottom),
        [_row(plane, place, bar, told) for place, bar in enumerate(bars)],
        svg_text((plane.left + plane.right) / 2, bottom + 34, unit, "middle", "axis"),
    )


def _scale(plane: _Plane, marks: Sequence[float], bottom: float) -> Iterator[Markup]:
    for mark, label in zip(marks, axis_labels(marks), strict=True):
        yield grid_line(plane.along(mark), 4, plane.along(mark), bottom)
        yield svg_text(plane.along(mark), bottom + 16, label, "middle" if mark else "start")


def _row(plane: _Plane, place: int, bar: ChartBar, told: Callable[[float], str]) -> Iterator[Markup]:
    y = _TOP + place * plane.pitch + (0 if plane.beside else 18)
    name = shorten_middle(visible(bar.name), plane.longest)
    if plane.beside:
        yield svg_text(plane.left - 8, y + len(bar.values) * plane.thick / 2 + 4, name, "end", "name")
    else:
        yield svg_text(2, y - 5, name, class_="name")
    for series, value in enumerate(bar.values):
        at, long = y + series * plane.thick, max(plane.along(value) - plane.left, 1.0 if value else 0.0)
        yield element(
            "rect",
            x=f"{plane.left:.1f}",
            y=f"{at:.1f}",
            width=f"{long:.1f}",
            height=plane.thick - 2,
            class_=f"bar s{series + 1}",
        )
        yield svg_text(plane.left + long + 5, at + plane.thick / 2 + 3, told(value))
