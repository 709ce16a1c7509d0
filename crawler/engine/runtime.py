"""The worker of a crawl under Scrapy: the event loop, the store's thread and the client are its runtime.

Pipelines give it the results of visits; the scheduler asks it for the next one.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol, Self, TypeVar

from crawler.engine.client import FetchClient
from crawler.engine.page_reader import ArchivedPageReader, pass_result
from crawler.engine.session import Components
from crawler.engine.vitals import VitalsReader
from crawler.errors import CrawlError, DiskTrouble
from crawler.frontier.frontier import Frontier
from crawler.frontier.priority import BiasedDraw
from crawler.items import ExportedDocument, Visited
from crawler.stores.contract.commits import CommitSummary
from crawler.worker.runtime import Runtime
from crawler.worker.session import Session
from crawler.worker.startup import connections_possible
from crawler.worker.worker import Worker

logger = logging.getLogger(__name__)
T = TypeVar("T")


class EngineControl(Protocol):
    """What a worker may do with Scrapy's engine; the scheduler does it."""

    def may_release(self) -> bool:
        """Whether a visit that is ready could be sent now."""

    def wake(self) -> None:
        """Have the engine ask for requests again."""

    def check_page_limit(self) -> None:
        """End the crawl if it has fetched as many pages as it may."""

    def look_around(self) -> None:
        """Do what is to be done every few seconds: see whether the crawl is to end."""

    def finish(self, reason: str) -> None:
        """End the crawl."""

    def count(self, stat: str, times: int) -> None: ...


class EventLoopClock:
    """Implements `crawler.worker.runtime.Clock`."""

    def __init__(self, now: Callable[[], float]) -> None:
        self.now = now

    def later(self, delay: float, act: Callable[[], object]) -> asyncio.TimerHandle:
        return asyncio.get_running_loop().call_later(delay, act)


class SessionThread:
    """Implements `crawler.worker.runtime.StoreThread`."""

    def __init__(self, session: Session, fail: Callable[[BaseException], None]) -> None:
        self._session = session
        self._fail = fail

    def run(self, act: Callable[[], T], then: Callable[[T], None]) -> None:
        self._session.run(act).add_done_callback(partial(pass_result, then, self._fail))


class ScrapyRuntime:
    """One worker with its runtime. Implements `crawler.worker.runtime.Engine`."""

    def __init__(self, session: Session, client: FetchClient) -> None:
        options = session.options
        self.frontier = Frontier(
            options.politeness,
            active_hosts=options.frontier.active_hosts,
            in_flight=min(options.concurrent_requests, connections_possible()),
            ahead=options.frontier.lease_ahead,
            most_hosts=options.frontier.most_hosts,
            bandwidth=options.bandwidth_limit,
        )
        # None = near-duplicates are not looked for.
        self.page_reader = ArchivedPageReader(session, self.fail) if options.duplicates.threshold else None
        runtime = Runtime(
            clock=EventLoopClock(session.now),
            store_thread=SessionThread(session, self.fail),
            store_access=session,
            host_names=client,
            engine=self,
            page_reader=self.page_reader,
        )
        self.worker = Worker(runtime, options, self.frontier, BiasedDraw(random.random))
        self.vitals = VitalsReader(session, client, self.frontier, self.worker)
        self._session = session
        self._client = client
        self._control: EngineControl | None = None  # from `open` on

    @classmethod
    def of(cls, components: Components) -> Self:
        return cls(components.session, components.get(FetchClient.of))

    def open(self, control: EngineControl) -> None:
        """Begin to crawl with the partitions that the session has leased."""
        self._control = control
        self.worker.open(self._session.assignment, self._session.started)
        self._session.lease_end = lambda: self.frontier.lease_end

    async def finish_visit(self, visited: Visited, *, wants_page: bool = False) -> ExportedDocument | None:
        """Take the result of a visit; returns when it is committed, with its page if that is wanted and it has one."""
        if self._session.fatal is not None:
            raise self._session.fatal
        acknowledged: asyncio.Future[ExportedDocument | None] = asyncio.get_running_loop().create_future()
        self.worker.finish_visit(visited, partial(_resolve, acknowledged), wants_page=wants_page)
        return await acknowledged

    def finish_lost_visit(self, visited: Visited) -> None:
        """Take the result of a visit that came to no pipeline, unless it has ended meanwhile."""
        if self._session.fatal is None and visited.visit.key in self.frontier.in_flight:
            asyncio.ensure_future(self.finish_visit(visited))  # noqa: RUF006

    async def close(self) -> None:
        """Commit what has ended, and end the session."""
        if self._session.fatal is None:
            await asyncio.sleep(0)  # lost visits are taken in first
            self.worker.close()
        while self.worker.is_waiting and self._session.fatal is None:
            await self._session.run(lambda: None)
            await asyncio.sleep(0)
        self._session.record.supply = self.frontier.supply.as_data(self.frontier.connections)
        await self._session.finish()

    # ── what the worker tells the engine ──

    def may_release(self) -> bool:
        return self._control is not None and self._control.may_release()

    def wake(self) -> None:
        if self._control is not None:
            self._control.wake()

    def visit_acknowledged(self, host: str, visited: Visited) -> None:
        record, control = self._session.record, self._control
        pages = record.pages
        record.record_visit(host, visited)
        if record.pages > pages and control is not None:
            control.check_page_limit()

    def batch_committed(self, summary: CommitSummary) -> None:
        record = self._session.record
        record.commits += 1
        record.new_urls += summary.new_urls
        record.duplicates += summary.duplicates
        record.near_duplicates += summary.near_duplicates
        record.bytes_archived += summary.bytes_archived

    def lease_renewed(self) -> None:
        self.vitals.find_bottleneck()
        if (model := self._session.take_model()) is not None:
            for listener in self._session.on_model:
                listener(model)
        if self._control is not None:
            self._control.look_around()  # other workers have told how many pages they fetched

    def seeds_added(self, seeds: Sequence[str]) -> None:
        self._session.extend_scope(seeds)

    def count(self, stat: str, times: int = 1) -> None:
        if stat == "commit/late":
            self._session.record.late += times
        if self._control is not None:
            self._control.count(stat, times)

    def fail(self, error: BaseException) -> None:
        """End the crawl as a kill would, which loses nothing: nothing can be committed any more."""
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
        self.worker.abandon(error)
        self._client.abort_all()
        if self._control is not None:
            self._control.finish("fatal error")


def _resolve(
    acknowledged: asyncio.Future[ExportedDocument | None], error: BaseException | None, page: ExportedDocument | None
) -> None:
    if acknowledged.done():  # nobody waits any more
        return
    if error is None:
        acknowledged.set_result(page)
    else:
        acknowledged.set_exception(error)
