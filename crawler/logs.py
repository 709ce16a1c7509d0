"""A log line is for a person: what is normal for a page is not worth one."""

from __future__ import annotations

import logging
from typing import Any

from scrapy.logformatter import LogFormatter


class QuietLogFormatter(LogFormatter):
    """Says nothing of pages and items that went well; their outcome is in the store."""

    def crawled(self, *args: Any, **kwargs: Any) -> None:  # type: ignore[override]
        return None

    def scraped(self, *args: Any, **kwargs: Any) -> None:  # type: ignore[override]
        return None


def quieten() -> None:
    """What Scrapy says of itself when it starts is for developers: they can ask for DEBUG."""
    for name in ("scrapy.utils.log", "scrapy.addons", "scrapy.crawler", "scrapy.middleware", "scrapy.core.engine"):
        # A filter, because Scrapy sets the levels anew when it configures logging.
        logging.getLogger(name).addFilter(lambda record: record.levelno >= logging.WARNING)
