"""Log lines are for people: none for normal events of single pages, and no text of a page can imitate one."""

from __future__ import annotations

import logging
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from scrapy.logformatter import LogFormatter
from scrapy.settings import BaseSettings

from crawler.engine.results import NotAPage
from crawler.errors import CrawlError
from crawler.items import Visited
from crawler.monitor.terminal import escape_controls
from crawler.urls.credentials import without_credentials

MOST_WARNINGS = 200  # that are written after the live view has ended


class QuietLogFormatter(LogFormatter):
    """Logs no line for pages and items without an error; their outcome is in the store."""

    def crawled(self, *args: Any, **kwargs: Any) -> None:  # type: ignore[override]
        return None

    def scraped(self, *args: Any, **kwargs: Any) -> None:  # type: ignore[override]
        return None

    def dropped(self, item: Any, exception: BaseException, *args: Any, **kwargs: Any) -> Any:
        if isinstance(exception, NotAPage):
            return None
        return super().dropped(_named(item), exception, *args, **kwargs)

    def item_error(self, item: Any, exception: BaseException, *args: Any, **kwargs: Any) -> Any:
        line = super().item_error(_named(item), exception, *args, **kwargs)
        if isinstance(exception, CrawlError):  # ends the crawl, whose last words it is
            line["level"] = logging.DEBUG
        return line


def _named(item: Any) -> Any:
    """Return what a log line says of an item: of a visit its URL, not all that was fetched."""
    return item.visit.url if isinstance(item, Visited) else item


def hide_startup_lines(settings: BaseSettings) -> None:
    """Hide the lines that Scrapy logs of itself when it starts, except warnings; unless the user wants DEBUG."""
    if settings.get("LOG_LEVEL") == "DEBUG" and settings.getpriority("LOG_LEVEL"):  # it is also Scrapy's default
        return
    for name in ("scrapy.utils.log", "scrapy.addons", "scrapy.crawler", "scrapy.middleware", "scrapy.core.engine"):
        # A filter, because Scrapy sets the levels anew when it configures logging.
        logging.getLogger(name).addFilter(lambda record: record.levelno >= logging.WARNING)


class EscapingFormatter(logging.Formatter):
    """Formats as another formatter does, then hides passwords, escapes control characters and indents further lines."""

    def __init__(self, usual: logging.Formatter) -> None:
        super().__init__()
        self._usual = usual

    def format(self, record: logging.LogRecord) -> str:
        text = without_credentials(self._usual.format(record))
        return escape_controls(text, keep="\n").replace("\n", "\n  ")


def escape_log_lines() -> None:
    """Escape control characters in all log lines: each may contain text of a page. Call it after Scrapy's setup."""
    for handler in logging.root.handlers:
        if not isinstance(handler.formatter, EscapingFormatter):
            handler.setFormatter(EscapingFormatter(handler.formatter or logging.Formatter()))


class LogTail(logging.Handler):
    """Collects the last log lines in a short form for the live view, and warnings in full for later."""

    def __init__(self, usual: logging.Handler, lines: int) -> None:
        super().__init__(usual.level)
        self.lines: deque[str] = deque(maxlen=lines)
        self.warnings: deque[str] = deque(maxlen=MOST_WARNINGS)
        self.lost = 0  # warnings that were dropped
        self._usual = usual
        self._short = logging.Formatter("%(asctime)s %(levelname)s %(message)s", "%H:%M:%S")

    def emit(self, record: logging.LogRecord) -> None:
        short = logging.makeLogRecord(record.__dict__ | {"exc_info": None, "exc_text": None, "stack_info": None})
        self.lines.append(escape_controls(without_credentials(self._short.format(short))))
        if record.levelno >= logging.WARNING:
            self.lost += len(self.warnings) == MOST_WARNINGS
            self.warnings.append(self._usual.format(record))


@contextmanager
def log_tail(lines: int) -> Iterator[LogTail | None]:
    """Collect log lines that would be written across the live view; write the warnings when it has ended."""
    usual = next((handler for handler in logging.root.handlers if _writes_to_terminal(handler)), None)
    if usual is None:
        yield None
        return
    tail = LogTail(usual, lines)
    logging.root.removeHandler(usual)
    logging.root.addHandler(tail)
    try:
        yield tail
    finally:
        logging.root.removeHandler(tail)
        logging.root.addHandler(usual)
        if tail.lost:
            usual.stream.write(f"… and {tail.lost} warnings before these\n")  # type: ignore[attr-defined]
        for line in tail.warnings:
            usual.stream.write(f"{line}\n")  # type: ignore[attr-defined]


def _writes_to_terminal(handler: logging.Handler) -> bool:
    return isinstance(handler, logging.StreamHandler) and handler.stream is sys.stderr and sys.stderr.isatty()
