"""Charts as SVG, each with a title, axes with units, and its numbers in a table.

Each is drawn twice, for wide and for narrow windows, and the style shows one of them: text that is scaled cannot be read.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from crawler.commands.common import date_of
from crawler.report.markup import Content, Html, element, shortened
from crawler.report.times import clock_label, clock_ticks, number, short, ticks

_WIDE, _NARROW = 640, 330  # pixels
_HEIGHT = 270
_LETTER = 6.8  # width of a letter, about


class Line(NamedTuple):
    """One series of a chart."""

    name: str
    values: Sequence[float]


class Bar(NamedTuple):
    """A row of a chart of bars: one value for each of its series."""

    name: str
    values: Sequence[float]


def time_chart(title: str, times: Sequence[float], lines: Sequence[Line], unit: str, *, whole: bool = True) -> Html:
    """How numbers went over time."""
    rows = [
        [date_of(at), *map(number, values)] for at, *values in zip(times, *(line.values for line in lines), strict=True)
    ]
    told = "; ".join(
        f"{line.name}: at most {number(max(line.values))}, {number(line.values[-1])} at the end" for line in lines
    )
    described = f"{unit} from {date_of(times[0])} to {date_of(times[-1])}. {told}."
    drawings = [_time_drawing(width, title, described, times, lines, unit, whole=whole) for width in (_WIDE, _NARROW)]
    return _figure(
        title, "line", [line.name for line in lines], drawings, table(["Time", *(line.name for line in lines)], rows)
    )


def bar_chart(
    title: str,
    bars: Sequence[Bar],
    unit: str,
    names: Sequence[str] = (),
    *,
    of: str = "",
    told: Callable[[float], str] = number,
    whole: bool = True,
) -> Html:
    """Numbers side by side, a row each; with several series they have names."""
    described = ", ".join(f"{bar.name}: {' and '.join(map(told, bar.values))}" for bar in bars[:5])
    drawings = [
        _bar_drawing(width, title, f"{unit}. {described}.", bars, unit, told, whole=whole) for width in (_WIDE, _NARROW)
    ]
    head = [of or "What", *(names or [unit])]
    return _figure(title, "bar", names, drawings, table(head, [[bar.name, *map(told, bar.values)] for bar in bars]))


def table(head: Sequence[str], rows: Sequence[Sequence[Content]], *, words: Collection[int] = (0,)) -> Html:
    """The columns at these places are words, the others numbers."""
    kinds = ["words" if place in words else "number" for place in range(len(head))]
    return element(
        "div",
        element(
            "table",
            element(
                "thead",
                element(
                    "tr",
                    [element("th", name, scope="col", class_=kind) for name, kind in zip(head, kinds, strict=True)],
                ),
            ),
            element(
                "tbody",
                [
                    element("tr", [element("td", cell, class_=kind) for cell, kind in zip(row, kinds, strict=True)])
                    for row in rows
                ],
            ),
        ),
        class_="scroll",
        tabindex=0,
        role="region",
        aria_label="table",
    )


def _figure(title: str, kind: str, names: Sequence[str], drawings: Sequence[Html], numbers: Html) -> Html:
    legend = element(
        "ul",
        [
            element("li", _swatch(place, kind), " ", name)
            for place, name in enumerate(names, 1)
        ],
        class_="legend",
    )  # fmt: skip
    return element(
        "figure",
        element("figcaption", title),
        legend if len(names) > 1 else None,
        drawings,
        element("details", element("summary", "The numbers"), numbers),
    )


def _swatch(place: int, kind: str) -> Html:
    return element(
        "svg",
        element("line", x1=0, y1=6, x2=24, y2=6, class_=f"line s{place}")
        if kind == "line"
        else element("rect", x=0, y=1, width=24, height=10, class_=f"bar s{place}"),
        width=24,
        height=12,
        viewBox="0 0 24 12",
        aria_hidden="true",
    )


def _drawing(width: int, height: float, title: str, described: str, *content: Content) -> Html:
    return element(
        "svg",
        element("title", title),
        element("desc", described),
        content,
        class_="wide" if width == _WIDE else "narrow",
        role="img",
        aria_label=f"{title}. {described}",
        viewBox=f"0 0 {width} {height:g}",
        width=width,
        height=f"{height:g}",
    )


def _text(x: float, y: float, words: str, anchor: str = "start", class_: str = "tick") -> Html:
    return element("text", words, x=f"{x:.1f}", y=f"{y:.1f}", text_anchor=anchor, class_=class_)


def _line(x1: float, y1: float, x2: float, y2: float, class_: str = "grid") -> Html:
    return element("line", x1=f"{x1:.1f}", y1=f"{y1:.1f}", x2=f"{x2:.1f}", y2=f"{y2:.1f}", class_=class_)


def _time_drawing(
    width: int,
    title: str,
    described: str,
    times: Sequence[float],
    lines: Sequence[Line],
    unit: str,
    *,
    whole: bool,
) -> Html:
    marks = ticks(max(max(line.values) for line in lines), whole=whole)
    labels = [short(mark) for mark in marks]
    left, right, top, bottom = 14 + _LETTER * max(map(len, labels)), width - 14, 28, _HEIGHT - 46
    first, last = times[0], times[-1]
    span = max(last - first, 1e-9)

    def across(at: float) -> float:
        return left + (at - first) / span * (right - left)

    def up(value: float) -> float:
        return bottom - value / marks[-1] * (bottom - top)

    clock = clock_ticks(first, last, 6 if width == _WIDE else 3)
    return _drawing(
        width,
        _HEIGHT,
        title,
        described,
        _text(0, 14, unit, class_="axis"),
        [
            [_line(left, up(mark), right, up(mark)), _text(left - 6, up(mark) + 4, label, "end")]
            for mark, label in zip(marks, labels, strict=True)
        ],
        [
            [
                _line(across(at), bottom, across(at), bottom + 5, "grid"),
                _time_label(across(at), bottom + 18, at, span, left, right),
            ]
            for at in clock
        ],
        _text((left + right) / 2, _HEIGHT - 6, _time_unit(first, last), "middle", "axis"),
        [
            element(
                "polyline",
                points=" ".join(
                    f"{across(at):.1f},{up(value):.1f}" for at, value in zip(times, line.values, strict=True)
                ),
                class_=f"line s{place}",
            )
            for place, line in enumerate(lines, 1)
        ],
    )


def _time_label(x: float, y: float, at: float, span: float, left: float, right: float) -> Html:
    label = clock_label(at, span)
    half = len(label) * _LETTER / 2
    return _text(min(max(x, left - 14 + half), right + 12 - half), y, label, "middle")


def _time_unit(first: float, last: float) -> str:
    """What the labels of the time axis leave out."""
    days = [date_of(at)[:10] for at in (first, last)]
    if last - first > 2 * 86_400:
        return "time (UTC)"
    return f"time (UTC) on {days[0]}" if days[0] == days[1] else f"time (UTC) from {days[0]} to {days[1]}"


def _bar_drawing(
    width: int,
    title: str,
    described: str,
    bars: Sequence[Bar],
    unit: str,
    told: Callable[[float], str],
    *,
    whole: bool,
) -> Html:
    """Names stand beside the bars where there is room, else above them."""
    series = len(bars[0].values)
    beside = width == _WIDE
    most = 30 if beside else 40
    left = 12 + min(max(len(bar.name) for bar in bars), most) * _LETTER if beside else 2.0
    values = [value for bar in bars for value in bar.values]
    right = width - 14 - _LETTER * max(len(told(value)) for value in values)
    marks = ticks(max(values), 4 if beside else 3, whole=whole)
    thick = 16 if series == 1 else 14
    pitch = series * thick + (8 if beside else 24)
    bottom = 8 + pitch * len(bars)

    def along(value: float) -> float:
        return left + value / marks[-1] * max(right - left, 1)

    rows: list[Content] = []
    for place, bar in enumerate(bars):
        y = 8 + place * pitch + (0 if beside else 18)
        name = shortened(bar.name, most)
        if beside:
            rows.append(_text(left - 8, y + series * thick / 2 + 4, name, "end", "name"))
        else:
            rows.append(_text(2, y - 5, name, class_="name"))
        for number_, value in enumerate(bar.values):
            at = y + number_ * thick
            long = max(along(value) - left, 1.0 if value else 0.0)
            rows.append(
                element(
                    "rect",
                    x=f"{left:.1f}",
                    y=f"{at:.1f}",
                    width=f"{long:.1f}",
                    height=thick - 2,
                    class_=f"bar s{number_ + 1}",
                )
            )
            rows.append(_text(left + long + 5, at + thick / 2 + 3, told(value)))
    return _drawing(
        width,
        bottom + 42,
        title,
        described,
        [
            [
                _line(along(mark), 4, along(mark), bottom),
                _text(along(mark), bottom + 16, short(mark), _end_of(mark, marks)),
            ]
            for mark in marks
        ],
        rows,
        _text((left + right) / 2, bottom + 34, unit, "middle", "axis"),
    )


def _end_of(mark: float, marks: Sequence[float]) -> str:
    return "start" if mark == marks[0] else "middle"
