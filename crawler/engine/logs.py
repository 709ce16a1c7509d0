"""A log line is for a person: what is normal for a page is not worth one, and what a page says must not pass as one."""

from __future__ import annotations

import logging
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from scrapy.logformatter import LogFormatter

from crawler.monitor.terminal import escape_controls

KEPT = 200  # warnings that are told again after a picture


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


class HarmlessFormatter(logging.Formatter):
    """Another's format, with control characters spelled out; only the first line of a record begins at the margin."""

    def __init__(self, usual: logging.Formatter) -> None:
        super().__init__()
        self._usual = usual

    def format(self, record: logging.LogRecord) -> str:
        return escape_controls(self._usual.format(record), keep="\n").replace("\n", "\n  ")


def make_harmless() -> None:
    """What strangers wrote may be in any line of the log. For when Scrapy has set up its handler."""
    for handler in logging.root.handlers:
        if not isinstance(handler.formatter, HarmlessFormatter):
            handler.setFormatter(HarmlessFormatter(handler.formatter or logging.Formatter()))


class LogTail(logging.Handler):
    """The last lines of the log in short; warnings also in full, for later."""

    def __init__(self, usual: logging.Handler, lines: int) -> None:
        super().__init__(usual.level)
        self.lines: deque[str] = deque(maxlen=lines)
        self.kept: deque[str] = deque(maxlen=KEPT)
        self.lost = 0
        self._usual = usual
        self._short = logging.Formatter("%(asctime)s %(levelname)s %(message)s", "%H:%M:%S")

    def emit(self, record: logging.LogRecord) -> None:
        brief = logging.makeLogRecord(record.__dict__ | {"exc_info": None, "exc_text": None, "stack_info": None})
        self.lines.append(escape_controls(self._short.format(brief)))
        if record.levelno >= logging.WARNING:
            self.lost += len(self.kept) == KEPT
            self.kept.append(self._usual.format(record))


@contextmanager
def tailed(lines: int) -> Iterator[LogTail | None]:
    """While a picture is drawn, what would be written across it goes to a tail; its warnings are told afterwards."""
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
        for line in tail.kept:
            usual.stream.write(f"{line}\n")  # type: ignore[attr-defined]


def _writes_to_terminal(handler: logging.Handler) -> bool:
    return isinstance(handler, logging.StreamHandler) and handler.stream is sys.stderr and sys.stderr.isatty()
