"""A log line is for a person: what is normal for a page is not worth one."""

from __future__ import annotations

from typing import Any

from scrapy.logformatter import LogFormatter


class QuietLogFormatter(LogFormatter):
    """Says nothing of pages and items that went well; their outcome is in the store."""

    def crawled(self, *args: Any, **kwargs: Any) -> None:  # type: ignore[override]
        return None

    def scraped(self, *args: Any, **kwargs: Any) -> None:  # type: ignore[override]
        return None
