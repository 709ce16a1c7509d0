"""How the crawl is going, while it is going: a live line on a terminal, plain lines elsewhere."""

from __future__ import annotations

import asyncio
import logging
import sys
from typing import Self

from rich.console import Console
from rich.live import Live
from rich.text import Text
from scrapy import signals
from scrapy.crawler import Crawler

from crawler.run_record import RunRecord
from crawler.scheduler import FrontierScheduler
from crawler.session import session_of

logger = logging.getLogger(__name__)

LIVE_EVERY = 0.25  # seconds between two pictures on a terminal
PLAIN_EVERY = 15.0  # and between two lines elsewhere
LAG_EVERY = 0.05  # how often the loop's lag is measured


class Progress:
    """Reads the run's record; writes to the standard error, so that results can be piped."""

    def __init__(self, crawler: Crawler, record: RunRecord, console: Console) -> None:
        self._crawler = crawler
        self._record = record
        self._console = console
        self._live: Live | None = None
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._started = 0.0
        self._last = (0.0, 0)  # time and pages at the last picture

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        progress = cls(crawler, session_of(crawler).record, Console(file=sys.stderr, highlight=False))
        crawler.signals.connect(progress.open, signal=signals.spider_opened)
        crawler.signals.connect(progress.close, signal=signals.spider_closed)
        return progress

    def open(self) -> None:
        loop = asyncio.get_running_loop()
        self._started = loop.time()
        self._last = (self._started, 0)
        if self._console.is_terminal:
            self._live = Live(self._picture(), console=self._console, refresh_per_second=4, transient=True)
            self._live.start()
        self._repeat("show", LIVE_EVERY if self._live is not None else PLAIN_EVERY)
        self._expect = loop.time() + LAG_EVERY
        self._timers["lag"] = loop.call_at(self._expect, self._measure_lag)

    def close(self) -> None:
        for timer in self._timers.values():
            timer.cancel()
        if self._live is not None:
            self._live.stop()

    def _measure_lag(self) -> None:
        loop = asyncio.get_running_loop()
        self._record.lagged(loop.time() - self._expect)
        self._expect = loop.time() + LAG_EVERY
        self._timers["lag"] = loop.call_at(self._expect, self._measure_lag)

    def _repeat(self, name: str, delay: float) -> None:
        def again() -> None:
            self._show()
            self._repeat(name, delay)

        self._timers[name] = asyncio.get_running_loop().call_later(delay, again)

    def _show(self) -> None:
        if self._live is not None:
            self._live.update(self._picture())
        else:
            logger.info("%s", self._picture())

    def _picture(self) -> Text:
        now, record = asyncio.get_running_loop().time(), self._record
        since, pages = self._last
        rate = (record.pages - pages) / (now - since) if now > since else 0.0
        if now - since >= 2:
            self._last = (now, record.pages)
        scheduler = self._crawler.engine.scheduler
        here = scheduler.view() if isinstance(scheduler, FrontierScheduler) else ""
        elapsed = int(now - self._started)
        return Text(
            f"{elapsed // 60:3}:{elapsed % 60:02}  {record.pages} pages ({rate:.1f}/s)  {record.visits} visits  "
            f"{record.new_urls} new URLs  {record.duplicates} duplicates  "
            f"{record.bytes_received / 1e6:.1f} MB  {here}"
        )
