"""A page about one host, for whoever runs it: who asks, what was asked for, and what was done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from crawler.monitor.text import span_of
from crawler.report.bars import ChartBar
from crawler.report.charts import bar_chart, table
from crawler.report.markup import Content, Markup, document, element, untrusted, url
from crawler.report.parts import (
    cards,
    chart_grid,
    contents_list,
    cumulative_chart,
    date_or_never,
    expandable,
    outcome_table,
    paragraph,
    rate_chart,
    section,
    state_table,
    time_cell,
    url_list,
    warning,
)
from crawler.report.sections import format_request_rate
from crawler.report.style import CSS
from crawler.report.times import number, plural, seconds, size

Data = Mapping[str, Any]


def host_page(data: Data) -> str:
    return document(
        f"How {data['host']} was crawled",
        CSS,
        [
            element(
                "header",
                element("h1", "How ", untrusted(data["host"]), " was crawled"),
                element("p", f"As of {date_or_never(data['made'])}", class_="soft"),
                contents_list([(name, title) for name, title, _ in _SECTIONS]),
            ),
            element("main", [draw(data) for _, _, draw in _SECTIONS]),
            element(
                "footer",
                "Made by scrapy report. This page is about one host only; nothing in it loads anything, and addresses of the "
                "web are shown as text.",
            ),
        ],
    )


def _who(data: Data) -> Markup:
    who = data["who"]
    contact: Content = (
        ["Questions and complaints reach us at ", untrusted(who["contact"]), "."]
        if who["contact"]
        else "No contact is set: this crawler visits only hosts of whoever runs it."
    )
    return section(
        "who",
        "Who we are",
        paragraph("We ask as ", element("code", who["user_agent"]), ". ", contact),
        paragraph(
            "A robots.txt can address us as ",
            element("code", who["robots_token"]),
            ": Disallow, Allow, Crawl-delay, Request-rate and Visit-time are obeyed.",
        ),
    )


def _asked(data: Data) -> Markup:
    asked = data["asked"]
    return section(
        "asked",
        "What the host asks",
        table(
            ["By", "Asks for"],
            [
                ["Crawl-delay", seconds(asked["crawl_delay"]) if asked["crawl_delay"] is not None else "–"],
                ["Request-rate", format_request_rate(asked["request_rate"])],
                ["Visit-time", _hours(asked["visit_time"])],
                ["Our own least rest, or more if it asks for it", seconds(asked["least_rest"])],
                [
                    f"Our rest after its last answer, which took {seconds(asked['last_answer_took'])}",
                    seconds(asked["rest_now"]),
                ],
            ],
        ),
        paragraph(f"It is left alone until {date_or_never(asked['held_until'])}.")
        if asked["held_until"] is not None and asked["held_until"] > data["made"]
        else None,
        [_origin(row) for row in data["robots"]] or paragraph("No robots.txt was asked for yet."),
    )


def _hours(window: list[int] | None) -> str:
    """
    >>> _hours([540, 1020])
    '09:00 to 17:00 UTC'
    """
    if window is None:
        return "–"
    start, end = (f"{minute // 60:02}:{minute % 60:02}" for minute in window)
    return f"{start} to {end} UTC"


def _origin(row: Data) -> Markup:
    if row["is_unavailable"]:
        told = "could not be had, so nothing else is asked for"
    elif row["text"] is None:
        told = f"there is none (status {row['status']}), so everything is allowed"
    else:
        told = f"fetched {date_or_never(row['fetched'])}, asked for again after {date_or_never(row['expires'])}"
    return element(
        "div",
        paragraph("robots.txt of ", url(row["origin"]), f": {told}."),
        paragraph("A redirect says that it is at ", url(row["moved_to"]), ".") if row["moved_to"] else None,
        element("pre", row["text"]) if row["text"] else None,
    )


def _done(data: Data) -> Markup:
    totals, gaps, history = data["totals"], data["gaps"], data["history"]
    if not totals["requests"]:
        return section("done", "What we did", paragraph("This host was not asked for anything yet."))
    drawn = [
        rate_chart(history, f"Archived answers per {_width(history)}", "answers_in_slice", "answers", "answers"),
        cumulative_chart(
            history, "Answers and pages", {"fetched": "answers archived", "pages": "whole pages"}, "in all"
        ),
    ]
    return section(
        "done",
        "What we did",
        cards(
            ("Requests", number(totals["requests"]), f"since {date_or_never(data['times']['first'])}"),
            ("Pages", number(totals["pages"]), "fetched, every version counted"),
            ("Bytes", size(totals["bytes"]), "received"),
            ("Failures", number(totals["failures"]), "no usable answer"),
            *_gap_cards(gaps),
        ),
        _verdict(gaps, data["asked"]["least_rest"]),
        chart_grid(*drawn) if any(drawn) else None,
        paragraph(
            "Requests without an archived answer, such as failures and pages that had not changed, are not drawn."
        )
        if any(drawn)
        else None,
    )


def _width(history: Data) -> str:
    return span_of(history["slice_seconds"]) if history["slice_seconds"] else "slice"


def _gap_cards(gaps: Data | None) -> list[tuple[str, str, str]]:
    if gaps is None:
        return []
    return [
        ("Shortest gap", seconds(gaps["shortest"]), "from an answer's end to the next request"),
        ("Median gap", seconds(gaps["median"]), f"of {number(gaps['gaps'])}"),
    ]


def _verdict(gaps: Data | None, least: float) -> Markup:
    if gaps is None:
        return paragraph("There are not two archived answers yet between which there could be a rest.")
    if gaps["shortest"] >= least:
        return paragraph(f"No gap was shorter than {seconds(least)}, which is what is asked.")
    return paragraph(
        warning(f"The shortest gap was {seconds(gaps['shortest'])}; {seconds(least)} is asked now."),
        " What the host asks for may have changed since.",
    )


def _answers(data: Data) -> Markup:
    bars = [ChartBar(row["name"], [row["answers"]]) for row in data["statuses"]]
    return section(
        "answers",
        "What it answered",
        chart_grid(
            bar_chart("Archived answers by status", bars, "answers", of="Status") if bars else None,
            outcome_table(data["outcomes"]) if data["outcomes"] else paragraph("No visit has ended yet."),
        ),
        expandable("URLs by state and reason", state_table(data["states"])),
    )


def _denied(data: Data) -> Markup:
    denied = data["denied"]
    if not denied["urls"]:
        return section("denied", "Kept out by robots.txt", paragraph("No URL that we know is forbidden by robots.txt."))
    return section(
        "denied",
        "Kept out by robots.txt",
        paragraph(
            f"{plural(denied['urls'], 'URL')} that others link to {_are(denied['urls'])} not asked for. Among them:"
        ),
        url_list(denied["examples"]),
    )


def _are(count: int) -> str:
    return "was" if count == 1 else "were"


def _last(data: Data) -> Markup:
    rows = data["last_visits"]
    if not rows:
        return section("last", "Last visits", paragraph("Nothing was visited yet."))
    return section(
        "last",
        "Last visits",
        table(
            ["Time", "Status", "URL", "Title", "How it ended"],
            [
                [
                    time_cell(row["visited"]),
                    number(row["status"]) if row["status"] else "–",
                    url(row["url"]),
                    untrusted(row["title"], longest=60),
                    row["meaning"],
                ]
                for row in rows
            ],
            words=(0, 2, 3, 4),
        ),
    )


_SECTIONS: tuple[tuple[str, str, Callable[[Data], Markup]], ...] = (
    ("who", "Who we are", _who),
    ("asked", "What the host asks", _asked),
    ("done", "What we did", _done),
    ("answers", "What it answered", _answers),
    ("denied", "Kept out by robots.txt", _denied),
    ("last", "Last visits", _last),
)
