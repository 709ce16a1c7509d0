"""Sections of the crawl report on the collection: duplicates, pages, archive, slow hosts, refused URLs, coverage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from crawler.monitor.text import plural
from crawler.report.bars import ChartBar
from crawler.report.charts import bar_chart, table
from crawler.report.markup import Markup, element, untrusted, url
from crawler.report.parts import BARS, cards, chart_grid, expandable, paragraph, section, url_list, warning
from crawler.report.times import number, percent, seconds, size

Data = Mapping[str, Any]
_TIERS = {
    "body": "the same bytes",
    "text": "the same text",
    "sketch": "similar, by their sketches",
    "compared": "similar, texts compared",
}
_FILES = 30  # files of the archive that are listed


def duplicates(data: Data) -> Markup:
    facts = data["duplicates"]
    if not facts["pages"]:
        return section("duplicates", "Duplicates", paragraph("No complete page was fetched yet."))
    if not facts["duplicates"]:
        return section(
            "duplicates",
            "Duplicates",
            paragraph(f"None of {plural(facts['pages'], 'page')} is a duplicate of another."),
        )
    tiers = [ChartBar(_TIERS[row["tier"]], [row["duplicates"]]) for row in facts["tiers"]]
    return section(
        "duplicates",
        "Duplicates",
        cards(
            ("Duplicates", number(facts["duplicates"]), f"{percent(facts['duplicates'], facts['pages'])} of all pages"),
            ("Clusters", number(facts["clusters"]), "originals that have duplicates"),
            ("Pages", number(facts["pages"]), "complete ones, one per URL"),
        ),
        bar_chart("Duplicates by how they were detected", tiers, "pages", of="How"),
        element("h3", "Largest clusters"),
        table(
            ["Duplicates", "Original, and some of its duplicates", "Title"],
            [
                [
                    number(row["copies"]),
                    [url(row["url"]), expandable("duplicates", url_list(row["examples"]))],
                    untrusted(row["title"]),
                ]
                for row in facts["largest"]
            ],
            words=(1, 2),
        ),
    )


def pages(data: Data) -> Markup:
    depths = [
        ChartBar(f"{row['depth']}", [row["urls"], row["visited"]]) for row in data["depths"]
    ]  # fmt: skip
    if not data["totals"]["pages"] and not depths:
        return section("pages", "Pages", paragraph("No page was fetched yet."))
    return section(
        "pages",
        "Pages",
        chart_grid(
            bar_chart("URLs by depth (links from a seed)", depths, "URLs", ["known", "visited"], of="Links from a seed")
            if depths
            else None,
            _shares("Pages by language", data["languages"], "Language"),
            _shares("Pages by detected format", data["formats"], "Format"),
            _shares("Pages by Content-Type header", data["content_types"], "Content type"),
            _sizes(data["sizes"]),
            _shares("Responses by status", data["statuses"], "Status", "responses"),
        ),
        _problems(data["problems"]),
    )


def _shares(title: str, rows: Sequence[Data], of: str, unit: str = "pages") -> Markup | None:
    bars = [ChartBar(row["name"] or "unknown", [row["answers"]]) for row in rows]
    if not bars:
        return None
    if len(bars) > BARS:
        rest = sum(bar.values[0] for bar in bars[BARS - 1 :])
        bars = [*bars[: BARS - 1], ChartBar(f"the next {len(bars) - BARS + 1}", [rest])]
    return bar_chart(title, bars, unit, of=of)


def _sizes(rows: Sequence[Data]) -> Markup | None:
    if not rows:
        return None
    bars = [ChartBar(f"{_binary(row['below'] // 2)} to {_binary(row['below'])}", [row["pages"]]) for row in rows]
    return bar_chart("Pages by size of the body as received", bars, "pages", of="Bytes")


def _binary(count: int) -> str:
    """Format a power of two of bytes.

    >>> _binary(512), _binary(2048), _binary(1 << 21)
    ('512 B', '2 KiB', '2 MiB')
    """
    for unit, power in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if count >= 1 << power:
            return f"{count >> power} {unit}"
    return f"{count} B"


def _problems(rows: Sequence[Data]) -> Markup | None:
    problems = [row for row in rows if row["name"]]
    if not problems:
        return None
    return expandable(
        "Pages that could not be read in full",
        table(["Problem", "Pages"], [[untrusted(row["name"]), number(row["answers"])] for row in problems]),
    )


def archive(data: Data) -> Markup:
    facts = data["archive"]
    files = facts["files"]
    if not files:
        return section("archive", "Archive", paragraph("Nothing was archived yet."))
    return section(
        "archive",
        "Archive",
        cards(
            ("Bodies", size(facts["body_bytes"]), "as received, some compressed by servers"),
            (
                "Response records",
                size(facts["record_bytes"]),
                percent(facts["record_bytes"], facts["body_bytes"]) + " of the bodies",
            ),
            ("Files", size(facts["file_bytes"]), "with requests and metadata"),
            ("Bodies stored once", number(facts["reused"]), "the same as those of other responses"),
        ),
        table(
            ["File", "Responses", "Bodies", "Records", "File size", "Records / bodies"],
            [
                [
                    untrusted(row["segment"]),
                    number(row["answers"]),
                    size(row["body_bytes"]),
                    size(row["record_bytes"]),
                    size(row["file_bytes"]),
                    percent(row["record_bytes"], row["body_bytes"]),
                ]
                for row in files[-_FILES:]
            ],
        ),
        paragraph(f"These are the last of {plural(len(files), 'file')}.") if len(files) > _FILES else None,
    )


def slow_hosts(data: Data) -> Markup:
    now, runs = data["slowest_hosts"], data["slowest_in_runs"]
    if not now and not runs:
        return section("slow", "Slow hosts", paragraph("No host has responded yet."))
    return section(
        "slow",
        "Slow hosts",
        chart_grid(
            bar_chart(
                "Time of the last response",
                [ChartBar(row["host"], [row["latency"]]) for row in now[:BARS]],
                "seconds",
                of="Host",
                format_value=seconds,
                whole=False,
            )
            if now
            else None,
            bar_chart(
                "Slowest response in any run",
                [ChartBar(str(row["host"]), [row["seconds"]]) for row in runs[:BARS]],
                "seconds",
                of="Host",
                format_value=seconds,
                whole=False,
            )
            if runs
            else None,
        ),
    )


def refusals(data: Data) -> Markup:
    rows = data["refusals"]
    if not rows:
        return section("refusals", "Traps and refusals", paragraph("No discovered URL was refused."))
    return section(
        "refusals",
        "Traps and refusals",
        paragraph(
            "URLs that are known and not visited, by site and reason; reasons that suggest a crawler trap are marked."
        ),
        table(
            ["Site", "URLs", "Reason", "What it means, and an example"],
            [
                [
                    untrusted(row["site"]),
                    number(row["urls"]),
                    [element("code", row["reason"]), [" ", warning("trap")] if row["is_trap"] else None],
                    [row["meaning"], expandable("example", url(row["example"]))],
                ]
                for row in rows
            ],
            words=(0, 2, 3),
        ),
    )


def coverage(data: Data) -> Markup:
    facts = data["coverage"]
    if facts["estimate"] is None:
        return section("coverage", "Coverage", paragraph(facts["why_not"]))
    discovered = facts["linked"] + facts["listed"] - facts["both"]
    return section(
        "coverage",
        "Coverage",
        cards(
            (
                "Estimated pages",
                number(facts["estimate"]),
                f"{number(facts['low'])} to {number(facts['high'])}, 95 % confidence",
            ),
            ("Discovered", number(discovered), f"{percent(discovered, facts['estimate'])} of the estimate"),
            ("by links", number(facts["linked"]), ""),
            ("in lists", number(facts["listed"]), "sitemaps and feeds"),
            ("by both", number(facts["both"]), ""),
        ),
        paragraph(
            "Links and lists are two samples of the pages of sites that have lists; from their overlap Chapman's "
            "estimator gives the number of all pages. ",
            facts["assumption"],
        ),
    )
