"""Between Scrapy's engine and the worker: release the next visit as a request, wake the engine, end the crawl.

The engine asks `next_request` until it gets None; after that the worker has it woken when a visit may be ready. Which
visit is next, and when, is decided by the frontier.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterable
from functools import partial
from typing import Any, Self

from msgspec.structs import replace
from scrapy import Request, Spider, signals
from scrapy.core.scheduler import BaseScheduler
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.utils.asyncgen import as_async_generator
from scrapy.utils.defer import deferred_from_coro
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from crawler.engine.client import FetchClient
from crawler.engine.command import exit_with
from crawler.engine.feeds import feed_trouble
from crawler.engine.meta import LEFT_TO_THE_FRONTIER, RULES, TRUST, VISIT
from crawler.engine.requests import UnusedRequestParts
from crawler.engine.results import NotAPage, broken, exactly_one, result_and_items, without_spider
from crawler.engine.runtime import ScrapyRuntime
from crawler.engine.seeds import add_seeds_of_spider
from crawler.engine.session import components_of
from crawler.engine.spiders import callback_of
from crawler.errors import CrawlError
from crawler.items import Outcome, Reason, Visit, Visited
from crawler.stores.contract.urls import NewUrl
from crawler.urls.hosts import origin_of
from crawler.urls.keys import key_of
from crawler.worker.session import Session

logger = logging.getLogger(__name__)

STOP_GRACE = 5.0  # seconds in which visits that are under way may end when the crawl is stopped


class FrontierScheduler(BaseScheduler):
    """Implements Scrapy's scheduler interface. That is synchronous: what it returns must already be in memory."""

    def __init__(self, crawler: Crawler, session: Session, client: FetchClient, runtime: ScrapyRuntime) -> None:
        self._crawler = crawler
        self._session = session
        self._client = client
        self._runtime = runtime
        self._worker = runtime.worker
        self._frontier = runtime.frontier
        self._limits = session.options.crawl
        self._stats = crawler.stats
        self._is_stopping = False
        self._timers: list[asyncio.TimerHandle] = []

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        components = components_of(crawler)
        return cls(crawler, components.session, components.get(FetchClient.of), components.get(ScrapyRuntime.of))

    # ── Scrapy's interface ──

    def open(self, spider: Spider) -> None:
        for handler, signal in (
            (self._on_spider_error, signals.spider_error),
            (self._on_item_lost, signals.item_error),
            (self._on_item_dropped, signals.item_dropped),
            (self._on_opened, signals.spider_opened),
        ):
            self._crawler.signals.connect(handler, signal=signal)
        self._spider = spider
        self._unused_parts = UnusedRequestParts(spider)
        spider.worker = self._session.slot  # type: ignore[attr-defined]  # for the names of feeds: %(worker)s
        _warn_of_unused(spider)
        try:
            parse = callback_of(spider)
            self._parse = parse if getattr(spider, "yields_visits", False) else result_and_items(parse)
            add_seeds_of_spider(self._session, spider)
        except CrawlError as error:
            self._session.close()
            exit_with(error)
        if self._limits.max_seconds:
            self._later(self._limits.max_seconds, partial(self.finish, "time limit reached"))
        self._runtime.open(self)

    def _on_opened(self) -> None:
        """End the crawl before it begins, if its feeds cannot be written; their exporter has been told before."""
        if trouble := feed_trouble(self._crawler):
            self._runtime.fail(trouble)

    def next_request(self) -> Request | None:
        if not self._has_room():
            return None
        visit = self._worker.next_visit()
        if visit is None:
            return None
        self._record_request(visit)
        return self._request(visit)

    def has_pending_requests(self) -> bool:
        """Whether the crawl goes on. Asked only while nothing is under way, so a visit that did not end is lost."""
        lost = [] if self._is_engine_working() else list(self._frontier.in_flight.values())
        if lost:
            self._stats.inc_value("frontier/lost_visits", len(lost))
            self._finish_lost(lost)
        return not self._worker.is_done or bool(lost)

    def enqueue_request(self, request: Request) -> bool:
        """Add the URL of a spider's own request to the frontier; its answer goes to the spider's `parse`."""
        self._unused_parts.warn_of(request)
        url = self._session.scope.policy.canonicalize(request.url)
        if url is None or request.method != "GET":
            return False
        refusal = self._session.scope.rejection(url)
        # From -10, the last, to 10.
        hint = min(max(0.5 + request.priority / 20, 0.0), 1.0) if request.priority else None
        new = NewUrl(key=key_of(url), url=url, reason=Reason.REQUESTED, refused=refusal, hint=hint)
        self._worker.add_url(new)
        return True

    def close(self, reason: str) -> Deferred[None]:
        self._session.record.finished = reason
        return deferred_from_coro(self._close())

    # ── releasing visits ──

    def may_release(self) -> bool:
        engine = self._crawler.engine
        return self._has_room() and bool(engine.running) and not engine.needs_backout()

    def _has_room(self) -> bool:
        """Whether neither a limit of the crawl nor the memory for answers forbids another visit."""
        return not (self._is_stopping or self._is_over_page_limit() or self._client.is_buffer_full)

    def _is_over_page_limit(self) -> bool:
        """Whether all visits under way together could exceed the page limit."""
        possible = self._pages + len(self._frontier.in_flight) + self._worker.uncommitted
        return 0 < self._limits.max_pages <= possible

    @property
    def _pages(self) -> int:
        return self._session.record.pages + self._worker.pages_of_others

    def _record_request(self, visit: Visit) -> None:
        """Record the rest of the host before this request, by which the politeness of the run is judged."""
        back_queue = self._frontier.hosts[visit.host_key]
        clock, politeness = back_queue.clock, self._session.options.politeness
        gap = self._session.now() - clock.last_end if clock.last_end else None
        self._session.record.record_request(
            back_queue.name, gap, politeness.rest(back_queue.name, clock, clock.last_end)
        )

    def _request(self, visit: Visit) -> Request:
        origin = visit.origin or origin_of(visit.url)
        home = self._frontier.hosts.get(visit.key.host)
        meta = LEFT_TO_THE_FRONTIER | {
            VISIT: visit,
            RULES: home.rules.get(origin) if home is not None else None,
            TRUST: self._frontier.hosts[visit.host_key].trust,
            "verbatim_url": True,
        }
        return Request(visit.url, meta=meta, callback=self._on_answer, errback=self._on_failure, dont_filter=True)

    def _on_answer(self, response: Response) -> AsyncIterator[Any]:
        """Return the items of the spider; the result of the visit goes to the pipelines, past spider middlewares."""
        return self._delivered(exactly_one(self._parse, response), response)

    def _on_failure(self, failure: Failure) -> AsyncIterator[Any]:
        """Give the result of a visit that came to no spider to the pipelines."""
        assert failure.value is not None, "Scrapy gives errors"
        result = without_spider(failure.request.meta, failure.value)  # type: ignore[attr-defined]
        return self._delivered([result], failure)

    def _delivered(self, items: Iterable[Any] | AsyncIterator[Any], of: Response | Failure) -> AsyncIterator[Any]:
        """Deliver the result among these items, whether or not anybody asks for the others, which are returned."""
        return _others(asyncio.ensure_future(self._deliver(items, of)))

    async def _deliver(
        self, items: Iterable[Any] | AsyncIterator[Any], of: Response | Failure
    ) -> tuple[list[Any], Exception | None]:
        """Return the items that are no results, and the error of the spider behind them."""
        others: list[Any] = []
        try:
            async for item in items if isinstance(items, AsyncIterator) else as_async_generator(items):
                if isinstance(item, Visited):
                    await self._crawler.engine.scraper.start_itemproc_async(item, response=of)
                else:
                    others.append(item)
        except Exception as error:
            return others, error
        return others, None

    # ── visits that Scrapy lost ──

    def _on_spider_error(self, failure: Failure, response: Any) -> None:
        meta = getattr(response, "request", None) and response.request.meta
        if meta and VISIT in meta:
            self._runtime.finish_lost_visit(broken(meta, repr(failure.value)))

    def _on_item_lost(self, item: Any, response: Any) -> None:
        if isinstance(item, Visited):
            lost = replace(
                item, outcome=Outcome.BROKEN, reason=Reason.INTERNAL_ERROR, page=None, records=(), rules=None
            )
            self._runtime.finish_lost_visit(replace(lost, location=None, detail="an item pipeline lost it"))

    def _on_item_dropped(self, item: Any, response: Any, exception: BaseException) -> None:
        if not isinstance(exception, NotAPage):
            self._on_item_lost(item, response)

    def _finish_lost(self, visits: list[Visit]) -> None:
        for visit in visits:
            if self._session.fatal is None:
                logger.error("The visit of %s ended without a result", visit.url)
            self._runtime.finish_lost_visit(broken({VISIT: visit}, "the visit ended without a result"))

    # ── the end ──

    def stop(self) -> None:
        """Release nothing more; visits that are under way may end within STOP_GRACE."""
        if not self._is_stopping:
            self._is_stopping = True
            self._worker.stop()
            self._later(STOP_GRACE, self._client.abort_all)

    def finish(self, reason: str) -> None:
        self.stop()
        asyncio.ensure_future(self._crawler.engine.close_spider_async(reason=reason))  # noqa: RUF006

    def look_around(self) -> None:
        """Stop at a limit; and if another command than ours ends the crawl, which would wait for all in flight."""
        if self._is_engine_closing() and not self._is_stopping:
            self.stop()
        self.check_page_limit()

    def check_page_limit(self) -> None:
        engine = self._crawler.engine
        is_running = engine is not None and engine.running
        if is_running and not self._is_stopping and 0 < self._limits.max_pages <= self._pages:
            self.finish("page limit reached")

    async def _close(self) -> None:
        self._is_stopping = True
        for timer in self._timers:
            timer.cancel()
        self._finish_lost(list(self._frontier.in_flight.values()))
        await self._runtime.close()
        self._set_stats()

    def count(self, stat: str, times: int) -> None:
        self._stats.inc_value(stat, times)

    def _set_stats(self) -> None:
        """Put the counters of the run into Scrapy's stats as well."""
        record, set_value = self._session.record, self._stats.set_value
        set_value("visits/count", record.visits)
        set_value("visits/pages", record.pages)
        for (outcome, reason), count in record.outcomes.items():
            set_value(f"visits/{outcome.name.lower()}/{reason.name.lower()}", count)
        set_value("frontier/new_urls", record.new_urls)
        set_value("duplicates/exact", record.duplicates - record.near_duplicates)
        set_value("duplicates/near", record.near_duplicates)
        set_value("commit/batches", record.commits)
        set_value("archive/bytes", record.bytes_archived)

    def _later(self, delay: float, act: Callable[[], object]) -> None:
        self._timers.append(asyncio.get_running_loop().call_later(delay, act))

    # ── the one place that uses private parts of the engine ──

    def wake(self) -> None:
        """Have the engine ask for requests again; by itself it does so only every five seconds."""
        slot = self._crawler.engine._slot
        if slot is not None:
            slot.nextcall.schedule()

    def _is_engine_closing(self) -> bool:
        slot = self._crawler.engine._slot
        return slot is not None and slot.closing is not None

    def _is_engine_working(self) -> bool:
        slot = self._crawler.engine._slot
        return slot is not None and bool(slot.inprogress)


async def _others(delivery: asyncio.Future[tuple[list[Any], Exception | None]]) -> AsyncIterator[Any]:
    items, error = await delivery
    for item in items:
        yield item
    if error is not None:
        raise error


def _warn_of_unused(spider: Spider) -> None:
    if getattr(spider, "allowed_domains", None):
        logger.warning("allowed_domains of the spider is not used: SCOPE and the seeds say which URLs are visited")
