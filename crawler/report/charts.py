"""Charts as SVG, each with a title, axes with units, and its values in a table.

Each is drawn twice, for wide and for narrow windows, and the stylesheet shows one of them: scaled text is illegible.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from crawler.monitor.text import date_of
from crawler.report.bars import ChartBar, bar_drawing
from crawler.report.drawing import NARROW, WIDE, swatch
from crawler.report.lines import ChartLine, line_drawing
from crawler.report.markup import Content, Markup, element
from crawler.report.times import number

_DESCRIBED = 5  # bars that the description for screen readers names; the table has all


def time_chart(
    title: str, times: Sequence[float], lines: Sequence[ChartLine], unit: str, *, whole: bool = True
) -> Markup:
    """Draw values over time as lines."""
    extremes = "; ".join(
        f"{line.name}: at most {number(max(line.values))}, {number(line.values[-1])} at the end" for line in lines
    )
    description = f"{unit} from {date_of(times[0])} to {date_of(times[-1])}. {extremes}."
    names = [line.name for line in lines]
    columns = zip(*(line.values for line in lines), strict=True)
    rows = [[date_of(at), *map(number, values)] for at, values in zip(times, columns, strict=True)]
    drawings = [line_drawing(width, title, description, times, lines, unit, whole=whole) for width in (WIDE, NARROW)]
    return _figure(title, "line", names, drawings, table(["Time", *names], rows))


def count_chart(
    title: str, counts: Sequence[float], lines: Sequence[ChartLine], along: str, unit: str, *, whole: bool = True
) -> Markup:
    """Draw values over a number of something as lines; `along` says of what."""
    ends = "; ".join(f"{line.name}: {number(line.values[-1])}" for line in lines)
    description = f"{unit} from {number(counts[0])} to {number(counts[-1])} {along}. At the end {ends}."
    names = [line.name for line in lines]
    columns = zip(*(line.values for line in lines), strict=True)
    rows = [[number(at), *map(number, values)] for at, values in zip(counts, columns, strict=True)]
    drawings = [
        line_drawing(width, title, description, counts, lines, unit, whole=whole, along=along)
        for width in (WIDE, NARROW)
    ]
    return _figure(title, "line", names, drawings, table([along.capitalize(), *names], rows))


def bar_chart(
    title: str,
    bars: Sequence[ChartBar],
    unit: str,
    names: Sequence[str] = (),
    *,
    of: str = "",
    format_value: Callable[[float], str] = number,
    whole: bool = True,
) -> Markup:
    """Draw a bar chart, a row for each bar; `names` are those of the series if there are several."""
    some = ", ".join(f"{bar.name}: {' and '.join(map(format_value, bar.values))}" for bar in bars[:_DESCRIBED])
    drawings = [
        bar_drawing(width, title, f"{unit}. {some}.", bars, unit, format_value, whole=whole) for width in (WIDE, NARROW)
    ]
    rows = [[bar.name, *map(format_value, bar.values)] for bar in bars]
    return _figure(title, "bar", names, drawings, table([of or "What", *(names or [unit])], rows))


def _figure(title: str, kind: str, names: Sequence[str], drawings: Sequence[Markup], numbers: Markup) -> Markup:
    keys = [element("li", swatch(place, kind), " ", name) for place, name in enumerate(names, 1)]
    return element(
        "figure",
        element("figcaption", title),
        element("ul", keys, class_="legend") if len(names) > 1 else None,
        drawings,
        element("details", element("summary", "Values"), numbers),
    )


def table(head: Sequence[str], rows: Sequence[Sequence[Content]], *, words: Collection[int] = (0,)) -> Markup:
    """Make a table; the columns at the places `words` hold text, the others numbers. A wide table scrolls by itself."""
    kinds = ["words" if place in words else "number" for place in range(len(head))]
    names = [element("th", name, scope="col", class_=kind) for name, kind in zip(head, kinds, strict=True)]
    cells = (
        [element("td", cell, class_=kind) for cell, kind in zip(row, kinds, strict=True)] for row in rows
    )  # fmt: skip
    return element(
        "div",
        element(
            "table", element("thead", element("tr", names)), element("tbody", [element("tr", row) for row in cells])
        ),
        class_="scroll",
        tabindex=0,
        role="region",
        aria_label=f"Table: {', '.join(head)}",
    )
