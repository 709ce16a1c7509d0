"""The HTML report of one host, for its webmaster: who crawls, what the host requires, and what was requested."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from crawler.monitor.text import plural, span_of
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
from crawler.report.times import number, seconds, size
from crawler.report.topic import NAME, TITLE, topic_section

Data = Mapping[str, Any]


def host_page(data: Data) -> str:
    """Write the report of one host as HTML."""
    drawn = [(name, title, content) for name, title, draw in _SECTIONS if (content := draw(data)) is not None]
    return document(
        f"How {data['host']} was crawled",
        CSS,
        [
            element(
                "header",
                element("h1", "How ", untrusted(data["host"]), " was crawled"),
                paragraph(f"As of {date_or_never(data['made'])}", class_="soft"),
                contents_list([(name, title) for name, title, _ in drawn]),
            ),
            element("main", [content for _, _, content in drawn]),
            element(
                "footer",
                "Made by scrapy report. This page is about one host only. It loads nothing, and URLs are shown as "
                "text, not as links.",
            ),
        ],
    )


def _who(data: Data) -> Markup:
    who = data["who"]
    contact: Content = (
        ["For questions and complaints please contact ", untrusted(who["contact"]), "."]
        if who["contact"]
        else "No contact is set: this crawler visits only hosts of its own operator."
    )
    return section(
        "who",
        "Who we are",
        paragraph("Our User-Agent is ", element("code", who["user_agent"]), ". ", contact),
        paragraph(
            "A robots.txt can address us as ",
            element("code", who["robots_token"]),
            ": Disallow, Allow, Crawl-delay, Request-rate and Visit-time are obeyed.",
        ),
    )


def _limits(data: Data) -> Markup:
    limits = data["asked"]
    return section(
        "asked",
        "What the host requires",
        table(
            ["Rule", "Delay or limit"],
            [
                ["Crawl-delay", seconds(limits["crawl_delay"]) if limits["crawl_delay"] is not None else "–"],
                ["Request-rate", format_request_rate(limits["request_rate"])],
                ["Visit-time", _hours(limits["visit_time"])],
                ["Our minimum delay between requests, these rules included", seconds(limits["least_rest"])],
                [
                    f"Our delay after its last response, which took {seconds(limits['last_answer_took'])}",
                    seconds(limits["rest_now"]),
                ],
            ],
        ),
        paragraph(f"The host is not visited until {date_or_never(limits['held_until'])}.")
        if limits["held_until"] is not None and limits["held_until"] > data["made"]
        else None,
        [_origin(row) for row in data["robots"]] or paragraph("No robots.txt was fetched yet."),
    )


def _hours(window: list[int] | None) -> str:
    """Format a daily window, given in minutes after midnight UTC.

    >>> _hours([540, 1020])
    '09:00 to 17:00 UTC'
    """
    if window is None:
        return "–"
    start, end = (f"{minute // 60:02}:{minute % 60:02}" for minute in window)
    return f"{start} to {end} UTC"


def _origin(row: Data) -> Markup:
    if row["is_unavailable"]:
        status = "could not be fetched, so nothing else is requested"
    elif row["text"] is None:
        status = f"there is none (status {row['status']}), so everything is allowed"
    else:
        status = f"fetched {date_or_never(row['fetched'])}, to be fetched again after {date_or_never(row['expires'])}"
    return element(
        "div",
        paragraph("robots.txt of ", url(row["origin"]), f": {status}."),
        paragraph("It redirects to ", url(row["moved_to"]), ".") if row["moved_to"] else None,
        element("pre", row["text"]) if row["text"] else None,
    )


def _done(data: Data) -> Markup:
    totals, gaps, history = data["totals"], data["gaps"], data["history"]
    if not totals["requests"]:
        return section("done", "What we did", paragraph("Nothing was requested from this host yet."))
    drawn = [
        rate_chart(history, f"Archived responses per {_width(history)}", "answers_in_slice", "responses", "responses"),
        cumulative_chart(
            history, "Responses and pages", {"fetched": "responses archived", "pages": "complete pages"}, "cumulative"
        ),
    ]
    return section(
        "done",
        "What we did",
        cards(
            ("Requests", number(totals["requests"]), f"since {date_or_never(data['times']['first'])}"),
            ("Pages", number(totals["pages"]), "fetched, all versions counted"),
            ("Bytes", size(totals["bytes"]), "received"),
            ("Failures", number(totals["failures"]), "no usable response"),
            *_gap_cards(gaps),
        ),
        _verdict(gaps, data["asked"]["least_rest"]),
        chart_grid(*drawn) if any(drawn) else None,
        paragraph("Requests without an archived response, such as failures and unchanged pages, are not drawn.")
        if any(drawn)
        else None,
    )


def _width(history: Data) -> str:
    return span_of(history["slice_seconds"]) if history["slice_seconds"] else "slice"


def _gap_cards(gaps: Data | None) -> list[tuple[str, str, str]]:
    if gaps is None:
        return []
    return [
        ("Shortest gap", seconds(gaps["shortest"]), "from the end of a response to the next request"),
        ("Median gap", seconds(gaps["median"]), f"of {number(gaps['gaps'])}"),
    ]


def _verdict(gaps: Data | None, least: float) -> Markup:
    if gaps is None:
        return paragraph("Fewer than two responses are archived, so there is no delay to measure.")
    if gaps["shortest"] >= least:
        return paragraph(f"No gap was shorter than the required delay of {seconds(least)}.")
    return paragraph(
        warning(f"The shortest gap was {seconds(gaps['shortest'])}; the required delay is now {seconds(least)}."),
        " What the host requires may have changed since.",
    )


def _answers(data: Data) -> Markup:
    bars = [ChartBar(row["name"], [row["answers"]]) for row in data["statuses"]]
    return section(
        "answers",
        "Responses",
        chart_grid(
            bar_chart("Archived responses by status", bars, "responses", of="Status") if bars else None,
            outcome_table(data["outcomes"]) if data["outcomes"] else paragraph("No visit has ended yet."),
        ),
        expandable("URLs by state and reason", state_table(data["states"])),
    )


def _denied(data: Data) -> Markup:
    denied = data["denied"]
    if not denied["urls"]:
        return section("denied", "Denied by robots.txt", paragraph("No URL that we know is forbidden by robots.txt."))
    return section(
        "denied",
        "Denied by robots.txt",
        paragraph(f"{plural(denied['urls'], 'known URL')} {_was_or_were(denied['urls'])} not requested. Among them:"),
        url_list(denied["examples"]),
    )


def _was_or_were(count: int) -> str:
    return "was" if count == 1 else "were"


def _last(data: Data) -> Markup:
    rows = data["last_visits"]
    if not rows:
        return section("last", "Last visits", paragraph("Nothing was visited yet."))
    return section(
        "last",
        "Last visits",
        table(
            ["Time", "Status", "URL", "Title", "Outcome"],
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


_SECTIONS: tuple[tuple[str, str, Callable[[Data], Markup | None]], ...] = (
    ("who", "Who we are", _who),
    ("asked", "What the host requires", _limits),
    ("done", "What we did", _done),
    ("answers", "Responses", _answers),
    (NAME, TITLE, topic_section),
    ("denied", "Denied by robots.txt", _denied),
    ("last", "Last visits", _last),
)
