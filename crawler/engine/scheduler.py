"""Between Scrapy's engine and the crawl: next visit out, results in, wake-ups, and when the crawl is over.

The engine asks `next_request` until it gets None; after that a timer, and every answer of the store, wakes it. What to
visit and when is decided by the frontier; the worker carries its questions to the store and the answers back.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Callable
from functools import partial
from typing import Any, Self, TypeVar

from msgspec.structs import replace
from scrapy import Request, Spider, signals
from scrapy.core.scheduler import BaseScheduler
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.utils.defer import deferred_from_coro
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from crawler.engine.client import FetchClient
from crawler.engine.meta import RULES, TRUST, VISIT, VisitDenied
from crawler.engine.results import broken, exactly_one, refused
from crawler.engine.runtime import ScrapyRuntime
from crawler.engine.session import components_of
from crawler.errors import CrawlError, DiskTrouble
from crawler.fetch.robots import judge_robots
from crawler.frontier.census import Census, census
from crawler.frontier.frontier import Frontier
from crawler.frontier.priority import BiasedDraw
from crawler.items import Kind, Outcome, Reason, Visit, Visited
from crawler.monitor.bottleneck import ProcessLoad, bottleneck
from crawler.monitor.vitals import Vitals
from crawler.stores.contract.urls import NewUrl
from crawler.urls.hosts import origin_of
from crawler.urls.keys import key_of
from crawler.worker.session import Session
from crawler.worker.startup import connections_possible
from crawler.worker.worker import Worker

logger = logging.getLogger(__name__)
T = TypeVar("T")

STOP_GRACE = 5.0  # what is in flight when the crawl is stopped may take so long to finish
COUNT_EVERY = 1.0  # seconds between two counts of the hosts, at least
COUNT_SHARE = 0.005  # and the share of the time that counting may take


class FrontierScheduler(BaseScheduler):
    """Implements Scrapy's scheduler interface, which is synchronous: what it answers must already be in memory."""

    def __init__(self, crawler: Crawler, session: Session, client: FetchClient) -> None:
        options = session.options
        self._crawler = crawler
        self._session = session
        self._client = client
        self._options = options
        self._stats = crawler.stats
        self._frontier = Frontier(
            options.politeness,
            active_hosts=options.frontier.active_hosts,
            in_flight=min(options.concurrent_requests, connections_possible()),
            ahead=options.frontier.lease_ahead,
            most_hosts=options.frontier.most_hosts,
            bandwidth=options.bandwidth_limit,
        )
        self._worker = Worker(ScrapyRuntime(self, session, client), options, self._frontier, BiasedDraw(random.random))
        self._pages = 0
        self._measured = (0.0, 0.0, 0.0, 0)  # time; what the main thread and the store's had worked by then; visits
        self._census = Census()
        self._count_again = 0.0
        self._stopping = False
        self._timers: list[asyncio.TimerHandle] = []

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        components = components_of(crawler)
        return cls(crawler, components.session, components.get(FetchClient))

    # ── Scrapy's interface ──

    def open(self, spider: Spider) -> None:
        for handler, signal in (
            (self._on_spider_error, signals.spider_error),
            (self._on_item_lost, signals.item_error),
            (self._on_item_lost, signals.item_dropped),
        ):
            self._crawler.signals.connect(handler, signal=signal)
        self._spider = spider
        if self._options.crawl.max_seconds:
            self._later(self._options.crawl.max_seconds, partial(self._finish, "time limit reached"))
        self._worker.open(self._session.assignment, self._session.started)
        self._session.lease_end = lambda: self._frontier.lease_end

    def next_request(self) -> Request | None:
        if not self.may_release():
            return None
        visit = self._worker.next()
        if visit is None:
            return None
        self._note_release(visit)
        return self._request(visit)

    def has_pending_requests(self) -> bool:
        """Asked only when the downloader and the pipelines are idle; so a visit that is still out is lost."""
        lost = [] if self._engine_is_working() else list(self._frontier.in_flight.values())
        for visit in lost:
            self._stats.inc_value("frontier/lost_visits")
            self._settle_soon(broken({VISIT: visit}, "the visit ended without a result"))
        return not self._worker.is_done or bool(lost)

    def enqueue_request(self, request: Request) -> bool:
        """A spider's own request becomes a URL like any other; its answer goes to the spider's `parse`."""
        url = self._session.scope.policy.canonicalize(request.url)
        if url is None or request.method != "GET":
            return False
        refusal = self._session.scope.rejection(url)
        # From -10, the last, to 10.
        hint = min(max(0.5 + request.priority / 20, 0.0), 1.0) if request.priority else None
        new = NewUrl(key=key_of(url), url=url, reason=Reason.REQUESTED, refused=refusal, hint=hint)
        self._worker.add(new)
        return True

    def close(self, reason: str) -> Deferred[None]:
        self._session.record.finished = reason
        return deferred_from_coro(self._close())

    def vitals(self) -> Vitals:
        """What is going on right now; may be asked for in any thread."""
        frontier, worker = self._frontier, self._worker
        return Vitals(
            hosts=self._counted_hosts(),
            in_flight=len(frontier.in_flight),
            connections=frontier.connections,
            bytes_in_flight=self._client.bytes_in_flight,
            pages_waiting=self._session.pages_waiting(),
            uncommitted=worker.uncommitted,
            allowed=frontier.supply.rate if frontier.supply.visits else 0.0,
            workers=worker.workers,
            pages_of_others=worker.pages_of_others,
            is_network_down=frontier.network.is_down,
        )

    def _counted_hosts(self) -> Census:
        """Not counted more often than is worth it: that takes the longer the more hosts there are."""
        begun = time.monotonic()
        if begun >= self._count_again:
            self._census = census(self._frontier, self._session.now())
            ended = time.monotonic()
            self._count_again = ended + max(COUNT_EVERY, (ended - begun) / COUNT_SHARE)
        return self._census

    def find_bottleneck(self) -> None:
        """What has kept this process from being faster since the last time."""
        frontier, session, now = self._frontier, self._session, time.monotonic()
        then, main, store, visits = self._measured
        self._measured = (now, time.thread_time(), session.store_seconds, session.record.visits)
        if not then or now <= then:
            return
        span = now - then
        record = session.record
        record.rate, record.store_share = (record.visits - visits) / span, (session.store_seconds - store) / span
        record.limited_by = bottleneck(
            ProcessLoad(
                main_thread=(self._measured[1] - main) / span,
                store_thread=record.store_share,
                is_network_down=frontier.network.is_down,
                is_bandwidth_spent=frontier.is_bandwidth_spent(session.now()),
                is_buffer_full=self._is_full(),
                pages_waiting=session.pages_waiting(),
                content_processes=self._options.content.processes,
                connections_free=frontier.room,
                hosts=len(frontier.hosts),
                allowed=frontier.supply.rate if frontier.supply.visits else 0.0,
                rate=record.rate,
            )
        )

    def may_release(self) -> bool:
        """Whether a visit that is ready could be sent now."""
        return not (self._stopping or self._is_over_limit() or self._is_full())

    def _note_release(self, visit: Visit) -> None:
        """What the politeness of this run will be judged by."""
        back = self._frontier.hosts[visit.host_key]
        clock = back.clock
        gap = self._session.now() - clock.last_end if clock.last_end else None
        self._session.record.record_request(
            back.name, gap, self._options.politeness.rest(back.name, clock, clock.last_end)
        )

    # ── results ──

    async def settle(self, visited: Visited) -> None:
        """Take in what became of a visit; returns when it is acknowledged."""
        visit = visited.visit
        if self._session.fatal is not None:
            raise self._session.fatal
        if self._frontier.in_flight.get(visit.key) is not visit:
            logger.error("A second result for %s is dropped", visit.url)
            return
        acknowledged: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._worker.settle(self._with_rules(visited, self._session.now()), partial(_tell, acknowledged))
        await acknowledged

    def _with_rules(self, visited: Visited, now: float) -> Visited:
        """A robots.txt visit over which we failed counts as no answer: its origin is left alone, not asked at once."""
        visit = visited.visit
        if visit.kind is not Kind.ROBOTS or visited.rules is not None or visited.outcome is Outcome.ABORTED:
            return visited
        home = self._frontier.hosts.get(visit.key.host)
        rules = judge_robots(
            status=0,
            reason=visited.reason,
            body=b"",
            fetched=now,
            previous=home.rules.get(visit.origin) if home is not None else None,
            host=visit.key.host,
            origin=visit.origin,
            retry=self._options.robots.retry_delay,
        )
        return replace(visited, rules=rules)

    def stop(self) -> None:
        """Release nothing more, give back what was not sent, and let what is in flight finish, but not for long."""
        if not self._stopping:
            self._stopping = True
            self._worker.stop()
            self._later(STOP_GRACE, self._client.abort_all)

    def acknowledged(self, host: str, visited: Visited) -> None:
        """A visit's result was committed."""
        self._session.record.record_visit(host, visited)
        if visited.outcome is Outcome.FETCHED and visited.visit.kind is Kind.PAGE:
            self._pages += 1
            self._look_at_limit()

    def _look_at_limit(self) -> None:
        pages = self._pages + self._worker.pages_of_others
        if self._options.crawl.max_pages and pages >= self._options.crawl.max_pages and not self._stopping:
            self._finish("page limit reached")

    def _is_over_limit(self) -> bool:
        limit = self._options.crawl.max_pages - self._worker.pages_of_others
        return bool(self._options.crawl.max_pages) and (
            self._pages + len(self._frontier.in_flight) + self._worker.uncommitted >= limit
        )

    def _is_full(self) -> bool:
        return self._client.bytes_in_flight > self._options.fetch.max_buffered

    # ── the end ──

    def _finish(self, reason: str) -> None:
        self.stop()
        asyncio.ensure_future(self._crawler.engine.close_spider_async(reason=reason))  # noqa: RUF006

    def fail(self, error: BaseException) -> None:
        """Nothing can be written any more: end as a kill would, which loses nothing."""
        if self._session.fatal is not None:
            return
        if isinstance(error, OSError):
            error = DiskTrouble(
                f"The disk failed ({error.strerror}). What was committed is kept; mend it and start again."
            )
        if not isinstance(error, CrawlError):
            logger.error("The store's thread failed", exc_info=error)
            error = CrawlError(f"An internal error stopped the crawl ({error!r}). What was committed is kept.")
        self._session.fatal = error
        self._worker.abandon(error)
        self._client.abort_all()
        self._finish("fatal error")

    def count(self, what: str, times: int) -> None:
        self._stats.inc_value(what, times)
        if what == "commit/late":
            self._session.record.late += times

    def lease_renewed(self) -> None:
        """The others have told what they do."""
        self.find_bottleneck()
        if self._crawler.engine is not None and self._crawler.engine.running:
            self._look_at_limit()

    def _tell_stats(self) -> None:
        """The run in Scrapy's own statistics, for whoever reads them there."""
        record, tell = self._session.record, self._stats.set_value
        record.supply = self._frontier.supply.as_data(self._frontier.connections)
        tell("visits/count", record.visits)
        tell("visits/pages", record.pages)
        for (outcome, reason), count in record.outcomes.items():
            tell(f"visits/{outcome.name.lower()}/{reason.name.lower()}", count)
        tell("frontier/new_urls", record.new_urls)
        tell("duplicates/exact", record.duplicates - record.near_duplicates)
        tell("duplicates/near", record.near_duplicates)
        tell("commit/batches", record.commits)
        tell("archive/bytes", record.bytes_archived)

    async def _close(self) -> None:
        self._stopping = True
        for timer in self._timers:
            timer.cancel()
        if self._session.fatal is None:
            for visit in list(self._frontier.in_flight.values()):
                self._settle_soon(broken({VISIT: visit}, "the visit ended without a result"))
            await asyncio.sleep(0)
            self._worker.close()
        while self._worker.is_waiting and self._session.fatal is None:
            await self._session.run(lambda: None)
            await asyncio.sleep(0)
        self._tell_stats()
        await self._session.finish()

    # ── what user code lost ──

    def _on_spider_error(self, failure: Failure, response: Any) -> None:
        meta = getattr(response, "request", None) and response.request.meta
        if meta and VISIT in meta:
            self._settle_soon(broken(meta, repr(failure.value)))

    def _on_item_lost(self, item: Any, response: Any) -> None:
        if isinstance(item, Visited):
            lost = replace(
                item, outcome=Outcome.BROKEN, reason=Reason.INTERNAL_ERROR, page=None, records=(), rules=None
            )
            self._settle_soon(replace(lost, location=None, detail="an item pipeline lost it"))

    def _settle_soon(self, visited: Visited) -> None:
        if self._session.fatal is None and visited.visit.key in self._frontier.in_flight:
            asyncio.ensure_future(self.settle(visited))  # noqa: RUF006

    # ── requests ──

    def _request(self, visit: Visit) -> Request:
        origin = visit.origin or origin_of(visit.url)
        home = self._frontier.hosts.get(visit.key.host)
        meta = {
            VISIT: visit,
            RULES: home.rules.get(origin) if home is not None else None,
            TRUST: self._frontier.hosts[visit.host_key].trust,
            "verbatim_url": True,
        }
        return Request(visit.url, meta=meta, callback=self._on_answer, errback=self._on_failure, dont_filter=True)

    def _on_answer(self, response: Response) -> Any:
        return exactly_one(self._spider.parse, response)

    def _on_failure(self, failure: Failure) -> list[Visited]:
        """A middleware refused the visit, or failed."""
        meta = failure.request.meta  # type: ignore[attr-defined]
        if isinstance(failure.value, VisitDenied):
            return [refused(meta, failure.value)]
        logger.error("A visit failed inside: %s", meta[VISIT].url, exc_info=failure.value)
        return [broken(meta, repr(failure.value))]

    def _later(self, delay: float, act: Callable[[], object]) -> None:
        self._timers.append(asyncio.get_running_loop().call_later(delay, act))

    # ── the one place that touches what the engine does not offer ──

    def wake(self) -> None:
        """Have the engine ask again. Without this it would do so only every five seconds."""
        slot = self._crawler.engine._slot
        if slot is not None:
            slot.nextcall.schedule()

    def _engine_is_working(self) -> bool:
        slot = self._crawler.engine._slot
        return slot is not None and bool(slot.inprogress)

    def engine_is_ready(self) -> bool:
        engine = self._crawler.engine
        return bool(engine.running) and not engine.needs_backout()


def _tell(acknowledged: asyncio.Future[None], error: BaseException | None) -> None:
    if acknowledged.done():  # nobody waits any more
        return
    if error is None:
        acknowledged.set_result(None)
    else:
        acknowledged.set_exception(error)
