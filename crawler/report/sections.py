"""Sections of the crawl report on the crawling: totals, rates over time, outcomes, politeness, robots.txt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crawler.monitor.text import plural, span_of
from crawler.report.bars import ChartBar
from crawler.report.charts import bar_chart, table
from crawler.report.markup import Markup, element, untrusted
from crawler.report.parts import (
    BARS,
    cards,
    chart_grid,
    cumulative_chart,
    date_or_never,
    expandable,
    outcome_table,
    paragraph,
    rate_chart,
    section,
    state_table,
    time_cell,
    warning,
)
from crawler.report.times import number, percent, seconds, size

Data = Mapping[str, Any]


def overview(data: Data) -> Markup:
    totals, times = data["totals"], data["times"]
    if times["first"] is None:
        return section("overview", "Overview", paragraph("This crawl has no URLs yet."))
    return section(
        "overview",
        "Overview",
        cards(
            ("Pages", number(totals["pages"]), f"among {plural(totals['documents'], 'archived response')}"),
            ("URLs known", number(totals["known"]), f"of {plural(totals['hosts'], 'host')}"),
            ("waiting", number(totals["waiting"]), percent(totals["waiting"], totals["known"])),
            ("leased", number(totals["leased"]), "being fetched"),
            ("parked", number(totals["parked"]), percent(totals["parked"], totals["known"])),
            ("Archive", size(totals["archive_bytes"]), plural(totals["archive_files"], "file")),
            ("Store", size(totals["store_bytes"]), f"{totals['store_bytes'] / max(totals['known'], 1):,.0f} B a URL"),
            ("Time", span_of(times["last"] - times["first"]), "from the first discovery to the last visit"),
        ),
        paragraph(
            f"First activity {date_or_never(times['first'])}, last {date_or_never(times['last'])}. {_next(data)}"
        ),
        _collisions(totals["collisions"]),
        expandable("All URLs by state and reason", state_table(data["states"])),
    )


def _next(data: Data) -> str:
    due = data["totals"]["next_due"]
    if due is None:
        return "No URL is waiting."
    return "URLs are due now." if due <= data["made"] else f"The next URL is due {date_or_never(due)}."


def _collisions(count: int) -> Markup | None:
    return (
        paragraph(f"{plural(count, 'URL')} could not be stored: another URL has the same key.") if count > 0 else None
    )


def over_time(data: Data) -> Markup:
    history = data["history"]
    names = {"discovered": "discovered", "queued": "waiting for a first visit", "fetched": "responses archived"}
    drawn = [
        cumulative_chart(history, "Discovered, queued and fetched", names, "URLs and responses, cumulative"),
        rate_chart(history, "Pages per second", "pages_per_second", "pages per second", "pages per second"),
    ]
    width = f"Each point is a time slice of {span_of(history['slice_seconds'])}." if history["slice_seconds"] else ""
    return section(
        "time",
        "Over time",
        chart_grid(*drawn) if any(drawn) else paragraph("Nothing was fetched yet, so there is nothing to draw."),
        paragraph(width) if any(drawn) else None,
        _runs(data),
        *(paragraph(line) for line in data.get("on_settings", ())),
    )


def _runs(data: Data) -> Markup:
    runs = data["runs"]
    if not runs:
        return paragraph("No run has ended yet.")
    shown = runs[-BARS:]
    title = (
        f"The last {len(shown)} of {plural(data['runs_counted'], 'run')}"
        if data["runs_counted"] > len(shown)
        else "Runs"
    )
    return element(
        "div",
        element("h3", title),
        table(
            ["Ended", "Result", "Duration", "Pages", "Pages/s", "Visits", "New URLs", "Received"],
            [
                [
                    time_cell(run["ended"]),
                    untrusted(str(run["finished"])),
                    span_of(run["seconds"]),
                    number(run["pages"]),
                    number(run["pages_per_second"]) if run["pages_per_second"] is not None else "–",
                    number(run["visits"]),
                    number(run["new_urls"]),
                    size(run["bytes_received"]),
                ]
                for run in reversed(shown)
            ],
            words=(0, 1),
        ),
    )


def outcomes(data: Data) -> Markup:
    rows = data["outcomes"]
    if not rows:
        return section("outcomes", "Outcomes", paragraph("No visit has ended yet."))
    bars = [ChartBar(row["reason"], [row["urls"]]) for row in rows[:BARS] if row["urls"]]
    return section(
        "outcomes",
        "Outcomes",
        paragraph("URLs by the outcome of their last visit, and archived responses, old versions included, by theirs."),
        chart_grid(
            bar_chart("URLs by outcome of their last visit", bars, "URLs", of="Reason") if bars else None,
            outcome_table(rows),
        ),
    )


def politeness(data: Data) -> Markup:
    facts = data["politeness"]
    rows = facts["worst_hosts"]
    if not rows:
        return section(
            "politeness", "Politeness", paragraph("No host has responded twice yet, so there is no delay to measure.")
        )
    bars = [ChartBar(row["host"], [row["asked"], row["shortest_gap"]]) for row in rows[:BARS]]
    return section(
        "politeness",
        "Politeness",
        _verdict(facts),
        paragraph(
            "The required delay is the longest of our own minimum delay, Crawl-delay and Request-rate, as they are "
            "now; hosts that are slow or return errors get longer delays. The shortest gap is the shortest time from "
            "the end of an archived response to the start of the next request that got a response; requests for "
            "robots.txt itself are left out."
        ),
        bar_chart(
            "Hosts whose shortest gap is closest to the required delay",
            bars,
            "seconds between two requests",
            ["required delay", "shortest gap"],
            of="Host",
            format_value=seconds,
            whole=False,
        ),
        expandable("Details of these hosts", _host_table(rows)),
        _closest(facts["closest_in_runs"]),
    )


def _verdict(facts: Data) -> Markup:
    hosts, short, early = facts["hosts_with_gaps"], facts["hosts_asked_too_soon"], facts["requests_before_their_time"]
    if not short and not early:
        who = f"all {number(hosts)} hosts" if hosts > 1 else "the one host that has responded more than once"
        return paragraph(f"The required delay was kept for {who}.")
    return paragraph(
        warning(
            f"The delay that is required now was not kept for {number(short)} of {plural(hosts, 'host')}; the runs "
            f"counted {plural(early, 'early request')}."
        ),
        " What a host requires may have changed since; ",
        element("code", "scrapy report --host"),
        " shows one host in detail.",
    )


def _host_table(rows: list[Data]) -> Markup:
    return table(
        ["Host", "Crawl-delay", "Request-rate", "Delay now", "Required delay", "Shortest gap", "Visits"],
        [
            [
                untrusted(row["host"]),
                seconds(row["crawl_delay"]) if row["crawl_delay"] is not None else "–",
                format_request_rate(row["request_rate"]),
                seconds(row["rest_now"]),
                seconds(row["asked"]),
                seconds(row["shortest_gap"]),
                number(row["visits"]),
            ]
            for row in rows
        ],
    )


def format_request_rate(rate: Data | None) -> str:
    return f"{rate['requests']} in {rate['seconds']} s" if rate is not None else "–"


def _closest(rows: list[Data]) -> Markup | None:
    if not rows:
        return None
    return expandable(
        "The shortest gaps of all runs, also between requests without an archived response",
        table(
            ["Host", "Gap", "Required"],
            [[untrusted(str(row["host"])), seconds(row["gap"]), seconds(row["required"])] for row in rows],
        ),
    )


def robots(data: Data) -> Markup:
    facts, spared = data["robots"], data["spared"]
    if not facts["origins"]:
        return section("robots", "robots.txt and saved traffic", paragraph("No robots.txt was fetched yet."))
    return section(
        "robots",
        "robots.txt and saved traffic",
        cards(
            ("Origins", number(facts["origins"]), "scheme, host and port"),
            ("fetched", number(facts["fetched"]), percent(facts["fetched"], facts["origins"])),
            ("with rules", number(facts["with_rules"]), percent(facts["with_rules"], facts["origins"])),
            ("without a file", number(facts["absent"]), "everything is allowed"),
            ("unavailable", number(facts["unavailable"]), "not visited for now"),
            ("URLs denied", number(facts["urls_denied"]), "by rules"),
            ("Crawl-delay", number(facts["crawl_delay"]), "origins set one"),
            ("Request-rate", number(facts["request_rate"]), "origins set one"),
            ("Visit-time", number(facts["visit_time"]), "origins have visiting hours"),
        ),
        _savings(spared),
    )


def _savings(spared: Data) -> Markup:
    if not any(spared.values()):
        return paragraph("No conditional or HEAD request was made yet, so nothing was saved.")
    return paragraph(
        f"Not fetched again, because unchanged: {plural(spared['unchanged'], 'document')}, "
        f"{size(spared['unchanged_bytes'])}. Not fetched, because their content type is not read: "
        f"{plural(spared['unwanted'], 'document')}, {size(spared['unwanted_bytes'])}. This took "
        f"{plural(spared['heads'], 'HEAD request')}, of which {number(spared['followed'])} had to be followed by a GET."
    )
