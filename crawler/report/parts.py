"""The building blocks of the report pages: sections, cards, tables and charts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from crawler.monitor.text import date_of
from crawler.report.charts import table, time_chart
from crawler.report.lines import ChartLine
from crawler.report.markup import Content, Markup, element, url
from crawler.report.times import is_worth_drawing, number

BARS = 12  # bars in a chart; the table below it has the rest
_LONGEST_NUMBER = 24  # characters, with its unit

_DATE = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC)")  # as `date_of` writes it


def section(name: str, title: str, *content: Content) -> Markup:
    return element("section", element("h2", title), content, id=name)


def paragraph(*content: Content, class_: str | None = None) -> Markup:
    """Make a paragraph in which no date is broken."""
    parts = [with_whole_dates(part) if isinstance(part, str) else part for part in content]
    return element("p", parts, class_=class_)


def with_whole_dates(text: str) -> Content:
    """Return a text of ours as content in which no date is broken between two lines."""
    return [
        element("span", part, class_="whole") if place % 2 else part for place, part in enumerate(_DATE.split(text))
    ]


def warning(text: str) -> Markup:
    return element("span", text, class_="bad")


def cards(*facts: tuple[str, str, str]) -> Markup:
    """Show facts as cards, each given as (name, value, a short note)."""
    return element(
        "dl",
        [
            element(
                "div",
                element("dt", name),
                element(
                    "dd", value, element("small", with_whole_dates(note)) if note else None, class_=_class_of(value)
                ),
            )
            for name, value, note in facts
        ],
        class_="cards",
    )


def _class_of(value: str) -> str | None:
    """Return the class of a value: a number must not be broken, and a name may be."""
    return "whole" if value[:1].isdigit() and len(value) <= _LONGEST_NUMBER else None


def chart_grid(*figures: Markup | None) -> Markup:
    return element("div", figures, class_="charts")


def url_list(urls: Sequence[str]) -> Markup:
    """List URLs, one below the other."""
    return element("ul", [element("li", url(address)) for address in urls], class_="plain")


def expandable(summary: str, *content: Content) -> Markup:
    return element("details", element("summary", summary), content)


def date_or_never(at: float | None) -> str:
    return date_of(at) if at is not None else "never"


def time_cell(at: float) -> Markup:
    """Format a time for a table cell, so that it does not wrap."""
    return element("span", date_of(at), class_="whole")


def contents_list(sections: Sequence[tuple[str, str]]) -> Markup:
    return element(
        "nav",
        element("ul", [element("li", element("a", title, href=f"#{name}")) for name, title in sections]),
        aria_label="Contents",
    )


def outcome_table(rows: Sequence[Mapping[str, Any]]) -> Markup:
    """Show how visits ended, with example URLs."""
    return table(
        ["Reason", "URLs", "Answers", "What it means, and examples"],
        [
            [
                element("code", row["reason"]),
                number(row["urls"]),
                number(row["answers"]),
                [row["meaning"], expandable("examples", url_list(row["examples"])) if row["examples"] else None],
            ]
            for row in rows
        ],
        words=(0, 3),
    )


def state_table(rows: Sequence[Mapping[str, Any]]) -> Markup:
    return table(
        ["State", "URLs", "Reason", "What it means, and examples"],
        [
            [
                row["state"],
                number(row["urls"]),
                element("code", row["reason"]),
                [row["meaning"], expandable("examples", url_list(row["examples"])) if row["examples"] else None],
            ]
            for row in rows
        ],
        words=(0, 2, 3),
    )


def slice_times(history: Mapping[str, Any]) -> list[float]:
    """Return the start of the first slice and the ends of all."""
    return [history["since"], *(row["end"] for row in history["slices"])]


def cumulative_chart(history: Mapping[str, Any], title: str, names: Mapping[str, str], unit: str) -> Markup | None:
    """Draw totals over time, from 0; None if there is nothing to draw."""
    lines = [ChartLine(name, [0, *(row[key] for row in history["slices"])]) for key, name in names.items()]
    if not history["slices"] or not any(is_worth_drawing(line.values) for line in lines):
        return None
    return time_chart(title, slice_times(history), lines, unit)


def rate_chart(
    history: Mapping[str, Any], title: str, key: str, name: str, unit: str, *, per: float = 1.0
) -> Markup | None:
    """Draw the values of each slice as steps; None if all are 0."""
    times: list[float] = []
    values: list[float] = []
    start = history["since"]
    for row in history["slices"]:
        times += [start, row["end"]]
        values += [row[key] / per] * 2
        start = row["end"]
    if not any(values):
        return None
    return time_chart(title, times, [ChartLine(name, values)], unit, whole=False)
