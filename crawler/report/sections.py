"""The first half of a crawl's page: what was done, and how politely."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crawler.monitor.text import span_of
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
from crawler.report.times import number, percent, plural, seconds, size

Data = Mapping[str, Any]


def overview(data: Data) -> Markup:
    totals, times = data["totals"], data["times"]
    if times["first"] is None:
        return section("overview", "Overview", paragraph("This crawl knows no URL yet."))
    return section(
        "overview",
        "Overview",
        cards(
            ("Pages", number(totals["pages"]), f"among {plural(totals['documents'], 'answer')} archived"),
            ("URLs known", number(totals["known"]), f"of {plural(totals['hosts'], 'host')}"),
            ("waiting", number(totals["waiting"]), percent(totals["waiting"], totals["known"])),
            ("leased", number(totals["leased"]), "being visited"),
            ("parked", number(totals["parked"]), percent(totals["parked"], totals["known"])),
            ("Archive", size(totals["archive_bytes"]), plural(totals["archive_files"], "file")),
            ("Store", size(totals["store_bytes"]), f"{totals['store_bytes'] / max(totals['known'], 1):,.0f} B a URL"),
            ("Time", span_of(times["last"] - times["first"]), "from the first find to the last visit"),
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
        return "Nothing waits to be visited."
    return "URLs are due now." if due <= data["made"] else f"The next URL is due {date_or_never(due)}."


def _collisions(count: int) -> Markup | None:
    return (
        paragraph(f"{plural(count, 'URL')} could not be kept, because others have the same key.") if count > 0 else None
    )


def over_time(data: Data) -> Markup:
    history = data["history"]
    names = {"discovered": "discovered", "queued": "waiting for a first visit", "fetched": "answers archived"}
    drawn = [
        cumulative_chart(history, "Discovered, queued and fetched", names, "URLs and answers, in all"),
        rate_chart(history, "Pages a second", "pages_per_second", "pages a second", "pages a second"),
    ]
    width = f"Each point stands for {span_of(history['slice_seconds'])}." if history["slice_seconds"] else ""
    return section(
        "time",
        "Over time",
        chart_grid(*drawn) if any(drawn) else paragraph("Nothing was fetched yet, so there is nothing to draw."),
        paragraph(width) if any(drawn) else None,
        _runs(data),
    )


def _runs(data: Data) -> Markup:
    runs = data["runs"]
    if not runs:
        return paragraph("No run has ended yet.")
    shown = runs[-BARS:]
    told = (
        f"The last {len(shown)} of {plural(data['runs_counted'], 'run')}"
        if data["runs_counted"] > len(shown)
        else "Runs"
    )
    return element(
        "div",
        element("h3", told),
        table(
            ["Ended", "How", "Took", "Pages", "A second", "Visits", "New URLs", "Received"],
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
        paragraph(
            "How the last visit of each URL ended, and how many of the archived answers, old versions included, did."
        ),
        chart_grid(
            bar_chart("URLs by how their last visit ended", bars, "URLs", of="Reason") if bars else None,
            outcome_table(rows),
        ),
    )


def politeness(data: Data) -> Markup:
    facts = data["politeness"]
    rows = facts["worst_hosts"]
    if not rows:
        return section(
            "politeness", "Politeness", paragraph("No host has given two answers yet, so there is no rest to measure.")
        )
    bars = [ChartBar(row["host"], [row["asked"], row["shortest_gap"]]) for row in rows[:BARS]]
    return section(
        "politeness",
        "Politeness",
        _verdict(facts),
        paragraph(
            "What is asked is the most of our own least rest, Crawl-delay and Request-rate, as they are now; slow or troubled hosts "
            "get more. What was done is the shortest time from the end of an archived answer to the start of the next request "
            "that was answered; requests for robots.txt itself are left out."
        ),
        bar_chart(
            "Hosts with the least time to spare",
            bars,
            "seconds between two requests",
            ["asked", "done, at the shortest"],
            of="Host",
            told=seconds,
            whole=False,
        ),
        expandable("These hosts in full", _host_table(rows)),
        _closest(facts["closest_in_runs"]),
    )


def _verdict(facts: Data) -> Markup:
    hosts, short, early = facts["hosts_with_gaps"], facts["hosts_asked_too_soon"], facts["requests_before_their_time"]
    if not short and not early:
        who = f"Every one of {number(hosts)} hosts" if hosts > 1 else "The one host that has answered more than once"
        return paragraph(f"{who} had the rest that it is due.")
    return paragraph(
        warning(
            f"{number(short)} of {plural(hosts, 'host')} had less rest than is asked now; the runs count {plural(early, 'early request')}."
        ),
        " What a host asks may have changed since; ",
        element("code", "scrapy report --host"),
        " shows one in full.",
    )


def _host_table(rows: list[Data]) -> Markup:
    return table(
        ["Host", "Crawl-delay", "Request-rate", "Our rest now", "Asked", "Shortest done", "Visits"],
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
        "The closest requests of all runs, those without an archived answer included",
        table(
            ["Host", "Gap", "Required"],
            [[untrusted(str(row["host"])), seconds(row["gap"]), seconds(row["required"])] for row in rows],
        ),
    )


def robots(data: Data) -> Markup:
    facts, spared = data["robots"], data["spared"]
    if not facts["origins"]:
        return section("robots", "robots.txt and what was spared", paragraph("No robots.txt was asked for yet."))
    return section(
        "robots",
        "robots.txt and what was spared",
        cards(
            ("Origins", number(facts["origins"]), "scheme, host and port"),
            ("fetched", number(facts["fetched"]), percent(facts["fetched"], facts["origins"])),
            ("with rules", number(facts["with_rules"]), percent(facts["with_rules"], facts["origins"])),
            ("without a file", number(facts["absent"]), "everything is allowed"),
            ("unavailable", number(facts["unavailable"]), "left alone for now"),
            ("URLs denied", number(facts["urls_denied"]), "by rules"),
            ("Crawl-delay", number(facts["crawl_delay"]), "origins ask for one"),
            ("Request-rate", number(facts["request_rate"]), "origins ask for one"),
            ("Visit-time", number(facts["visit_time"]), "origins have hours"),
        ),
        _spared(spared),
    )


def _spared(spared: Data) -> Markup:
    if not any(spared.values()):
        return paragraph("No request was conditional or for a head alone yet, so nothing was spared.")
    return paragraph(
        f"Not fetched again, because it is as it was: {plural(spared['unchanged'], 'document')}, {size(spared['unchanged_bytes'])}. "
        f"Not fetched, because its type is not read: {plural(spared['unwanted'], 'document')}, "
        f"{size(spared['unwanted_bytes'])}. That took {plural(spared['heads'], 'request')} for heads alone, of which "
        f"{number(spared['followed'])} had to be followed by one for the whole."
    )
