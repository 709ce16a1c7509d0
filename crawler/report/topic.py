"""The section of the reports on the topic of a focused crawl: the harvest, its curve, the best sources and sections."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from crawler.monitor.topic import harvest_shares
from crawler.report.charts import count_chart, table
from crawler.report.lines import ChartLine
from crawler.report.markup import Content, Markup, element, untrusted, url
from crawler.report.parts import cards, chart_grid, paragraph, section
from crawler.report.times import number, percent

Data = Mapping[str, Any]
NAME, TITLE = "topic", "Topic"


def topic_section(data: Data) -> Markup | None:
    """Draw the harvest of a crawl, or of a host; None if no page was judged by a topic."""
    facts = data["topic"]
    if facts is None:
        return None
    return section(
        NAME,
        TITLE,
        paragraph(_about(facts["name"])),
        cards(
            ("Judged", number(facts["pages"]), "pages, all versions counted"),
            ("On topic", number(facts["on_topic"]), percent(facts["on_topic"], facts["pages"])),
            (
                "Lately",
                percent(facts["last_on_topic"], facts["last_pages"]),
                f"of the last {number(facts['last_pages'])}",
            ),
        ),
        chart_grid(*_charts(facts["curve"])),
        _ranking("Pages whose links led to pages on topic", "Page", facts.get("best_sources", ()), url),
        _ranking("Sections with pages on topic", "Section", facts["best_sections"], untrusted),
    )


def _about(name: str) -> str:
    about = f"The crawl is about the topic {name}." if name else "The crawl had a topic in an earlier run."
    return f"{about} A page is on topic if it was relevant enough to be kept when it was fetched."


def _charts(curve: Sequence[Mapping[str, int]]) -> list[Markup | None]:
    """Draw the harvest curve, and the share of pages on topic between its points as steps."""
    pages = [point["pages"] for point in curve]
    on_topic = ChartLine("on topic", [point["on_topic"] for point in curve])
    shares = [share for share in harvest_shares(curve) for _ in range(2)]
    edges = [pages[0], *(edge for edge in pages[1:-1] for _ in range(2)), pages[-1]]
    return [
        count_chart("Harvest curve", pages, [on_topic, ChartLine("all pages", pages)], "pages fetched", "pages"),
        count_chart("Share on topic", edges, [ChartLine("share", shares)], "pages fetched", "share", whole=False)
        if any(shares)
        else None,
    ]


def _ranking(title: str, what: str, sources: Sequence[Data], shown: Callable[[str], Markup]) -> Markup | None:
    if not sources:
        return None
    rows: list[list[Content]] = [
        [
            shown(source["name"]),
            number(source["pages"]),
            number(source["on_topic"]),
            number(source["relevance"]),
            number(source["shrunk_yield"]),
        ]
        for source in sources
    ]
    return element(
        "div",
        element("h3", title),
        table([what, "Pages", "On topic", "Mean relevance", "The same, if few pages count less"], rows),
    )
