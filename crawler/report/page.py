"""The HTML report of a crawl: one self-contained file, drawn from the data of `crawler.report.data`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from crawler.report import holdings, sections
from crawler.report.markup import Markup, document, element, untrusted
from crawler.report.parts import contents_list, date_or_never, paragraph
from crawler.report.style import CSS
from crawler.report.topic import NAME, TITLE, topic_section

_SECTIONS: tuple[tuple[str, str, Callable[[Mapping[str, Any]], Markup | None]], ...] = (
    ("overview", "Overview", sections.overview),
    ("time", "Over time", sections.over_time),
    (NAME, TITLE, topic_section),
    ("outcomes", "Outcomes", sections.outcomes),
    ("politeness", "Politeness", sections.politeness),
    ("robots", "robots.txt", sections.robots),
    ("duplicates", "Duplicates", holdings.duplicates),
    ("pages", "Pages", holdings.pages),
    ("archive", "Archive", holdings.archive),
    ("slow", "Slow hosts", holdings.slow_hosts),
    ("refusals", "Traps and refusals", holdings.refusals),
    ("coverage", "Coverage", holdings.coverage),
)


def crawl_page(data: Mapping[str, Any]) -> str:
    """Write the report of a crawl as HTML."""
    drawn = [(name, title, content) for name, title, draw in _SECTIONS if (content := draw(data)) is not None]
    return document(
        f"Crawl report: {data['directory']}",
        CSS,
        [
            element(
                "header",
                element("h1", "Crawl report"),
                paragraph(
                    "Crawl in ",
                    untrusted(data["directory"]),
                    f", as of {date_or_never(data['made'])}",
                    class_="soft",
                ),
                contents_list([(name, title) for name, title, _ in drawn]),
            ),
            element("main", [content for _, _, content in drawn]),
            element(
                "footer",
                "Made by scrapy report from one consistent state of the store. URLs are shown as text, not as links, "
                "and this file loads nothing.",
            ),
        ],
    )
