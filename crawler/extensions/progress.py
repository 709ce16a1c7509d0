"""Show the progress of a running crawl: a live view on a terminal, log lines elsewhere."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import Callable
from contextlib import ExitStack
from typing import Self

from rich.console import Console
from rich.live import Live
from scrapy import signals
from scrapy.crawler import Crawler

from crawler.engine.logs import LogTail, escape_log_lines, log_tail
from crawler.engine.runtime import ScrapyRuntime
from crawler.engine.session import components_of
from crawler.monitor.live_view import OUTCOMES, TAIL, LiveFacts, LiveView, log_line
from crawler.monitor.rates import RecentRate, remaining
from crawler.monitor.terminal import can_redraw
from crawler.monitor.vitals import Vitals
from crawler.worker.session import Session

logger = logging.getLogger(__name__)

REDRAWS = 4  # redrawings a second of the live view
LINES_EVERY = 15.0  # seconds between two log lines
LAG_EVERY = 0.05  # seconds between two measurements of the event loop's lag
RATE_SPAN = 5.0  # seconds over which the rates shown are averaged
ETA_SPAN = 60.0  # the same for the rate from which the remaining time is estimated


class Progress:
    """The Scrapy extension that shows progress on the standard error, so that results can be piped.

    The live view is drawn in a thread of its own, so that neither the drawing nor a slow terminal blocks the crawl.
    """

    def __init__(self, session: Session, vitals: Callable[[], Vitals]) -> None:
        self._session = session
        self._vitals = vitals
        self._until_closed = ExitStack()
        self._tail: LogTail | None = None
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._started = session.now()
        self._rate, self._long_rate = RecentRate(RATE_SPAN), RecentRate(ETA_SPAN)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        components = components_of(crawler)
        progress = cls(components.session, components.get(ScrapyRuntime.of).vitals.read)
        crawler.signals.connect(progress.open, signal=signals.spider_opened)
        crawler.signals.connect(progress.close, signal=signals.spider_closed)
        return progress

    def open(self) -> None:
        loop = asyncio.get_running_loop()
        self._started = self._session.now()
        escape_log_lines()
        if can_redraw(sys.stderr, os.environ.get("TERM")):
            self._start_live_view()
        else:
            self._facts()  # the first sample, from which rates are computed
            self._timers["line"] = loop.call_later(LINES_EVERY, self._log_progress)
        self._expect = loop.time() + LAG_EVERY
        self._timers["lag"] = loop.call_at(self._expect, self._measure_lag)

    def close(self) -> None:
        for timer in self._timers.values():
            timer.cancel()
        self._until_closed.close()

    def _start_live_view(self) -> None:
        self._tail = self._until_closed.enter_context(log_tail(TAIL))
        live = Live(
            get_renderable=self._live_view,
            console=Console(file=sys.stderr, highlight=False, markup=False, emoji=False),
            refresh_per_second=REDRAWS,
            transient=True,
            redirect_stdout=sys.stdout.isatty(),
        )
        self._until_closed.enter_context(live)

    def _measure_lag(self) -> None:
        loop = asyncio.get_running_loop()
        self._session.record.record_lag(loop.time() - self._expect)
        self._expect = loop.time() + LAG_EVERY
        self._timers["lag"] = loop.call_at(self._expect, self._measure_lag)

    def _log_progress(self) -> None:
        logger.info("%s", log_line(self._facts()))
        self._timers["line"] = asyncio.get_running_loop().call_later(LINES_EVERY, self._log_progress)

    def _live_view(self) -> LiveView:
        return LiveView(self._facts(), list(self._tail.lines) if self._tail is not None else ())

    def _facts(self) -> LiveFacts:
        record, options, now = self._session.record, self._session.options, self._session.now()
        vitals, elapsed = self._vitals(), now - self._started
        pages = record.pages + vitals.pages_of_others
        pages_a_second, bytes_a_second = self._rate.rates(now, record.pages, record.bytes_received)
        (long_rate,) = self._long_rate.rates(now, pages)
        return LiveFacts(
            directory=str(options.crawl.dir),
            elapsed=elapsed,
            remaining=remaining(
                elapsed=elapsed,
                max_seconds=options.crawl.max_seconds,
                pages=pages,
                max_pages=options.crawl.max_pages,
                pages_a_second=long_rate,
            ),
            max_pages=options.crawl.max_pages,
            pages=record.pages,
            visits=record.visits,
            new_urls=record.new_urls,
            duplicates=record.duplicates,
            near_duplicates=record.near_duplicates,
            harvest=record.judged.as_data(),
            bytes_received=record.bytes_received,
            pages_a_second=pages_a_second,
            bytes_a_second=bytes_a_second,
            outcomes=record.most_common_reasons(OUTCOMES),
            failing=record.failing,
            closest=record.closest,
            early=record.early,
            limited_by=record.limited_by,
            vitals=vitals,
        )
