"""Between Scrapy's engine and the frontier: next visit out, results in, wake-ups, and when the crawl is over.

The frontier decides and does no I/O; the store lives in a thread of its own. This is the messenger: it asks the frontier
what it wants, has it done in the store's thread, and brings the answer back. The engine asks `next_request` until it
gets None; after that a timer, and every answer of the store, wakes it.
"""

from __future__ import annotations

import asyncio
import logging
import math
import random
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Self, TypeVar

from scrapy import Request, Spider, signals
from scrapy.core.scheduler import BaseScheduler
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.utils.defer import deferred_from_coro
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from crawler.download import RULES, VISIT, Denied, client_of
from crawler.errors import CrawlError, DiskTrouble
from crawler.fetch.robots import judge_robots
from crawler.frontier.frontier import Frontier, HostLoad
from crawler.frontier.priority import BiasedDraw
from crawler.items import Key, Kind, Outcome, Reason, Visit, Visited
from crawler.session import Session, connections_possible, session_of
from crawler.stores.contract import Committed, NewUrl, Outlook, Settled
from crawler.urls.hosts import host_of, origin_of
from crawler.urls.keys import key_of
from crawler.visits import broken, exactly_one, refused

logger = logging.getLogger(__name__)
T = TypeVar("T")

LOOK_EVERY = 0.5  # how often the store is asked for hosts that have become due, or were seeded from outside
PUMP_EVERY = 0.02  # seconds
LOOK_WHEN_IDLE = 5.0  # at least this often when nothing is due
HOSTS_A_LOOK = 500
STOP_GRACE = 5.0  # what is in flight when the crawl is stopped may take so long to finish


class FrontierScheduler(BaseScheduler):
    """Implements Scrapy's scheduler interface, which is synchronous: what it answers must already be in memory."""

    def __init__(self, crawler: Crawler, session: Session) -> None:
        options = session.options
        self._crawler = crawler
        self._session = session
        self._options = options
        self._stats = crawler.stats
        self._frontier = Frontier(
            options.politeness,
            active_hosts=options.active_hosts,
            in_flight=min(options.in_flight, connections_possible()),
            ahead=options.lease_ahead,
        )
        self._batch: list[tuple[Settled, asyncio.Future[None]]] = []
        self._committing: list[tuple[Settled, asyncio.Future[None]]] = []
        self._flush_again = False
        self._asked = 0  # questions to the store that are not answered yet
        self._draw = BiasedDraw(random.random)
        self._named: set[int] = set()  # hosts whose names are being looked up
        self._busy: set[str] = set()  # questions of which one at a time is enough
        self._look_at = 0.0  # when to ask the store for hosts
        self._pages = 0
        self._done = False
        self._stopping = False
        self._timers: dict[str, asyncio.TimerHandle] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler, session_of(crawler))

    # ── Scrapy's interface ──

    def open(self, spider: Spider) -> None:
        for handler, signal in (
            (self._on_spider_error, signals.spider_error),
            (self._on_item_lost, signals.item_error),
            (self._on_item_lost, signals.item_dropped),
        ):
            self._crawler.signals.connect(handler, signal=signal)
        self._spider = spider
        self._frontier.lease_end = self._session.started + self._options.partition_lease
        self._frontier.restore_gates(self._session.gates)
        self._set_timer("renew", self._options.partition_lease / 3, self._renew)
        if self._options.max_seconds:
            self._set_timer("limit", self._options.max_seconds, partial(self._finish, "time limit reached"))
        self._pump()

    def next_request(self) -> Request | None:
        if self._stopping or self._is_over_limit() or self._is_full():
            return None
        visit = self._frontier.next(self._session.now())
        if visit is None:
            self._pump_soon()
            return None
        self._note_release(visit)
        return self._request(visit)

    def has_pending_requests(self) -> bool:
        """Asked only when the downloader and the pipelines are idle; so a visit that is still out is lost."""
        lost = [] if self._engine_is_working() else list(self._frontier.in_flight.values())
        for visit in lost:
            self._stats.inc_value("frontier/lost_visits")
            self._settle_soon(broken({VISIT: visit}, "the visit ended without a result"))
        return not self._done or bool(lost)

    def enqueue_request(self, request: Request) -> bool:
        """A spider's own request becomes a URL like any other; its answer goes to the spider's `parse`."""
        url = self._session.scope.policy.canonicalize(request.url)
        if url is None or request.method != "GET":
            return False
        refusal = self._session.scope.rejection(url)
        new = NewUrl(key=key_of(url), url=url, reason=Reason.REQUESTED, refused=refusal)
        self._done = False
        self._ask(lambda: self._session.store.add([new], self._session.now()), self._look_now)
        return True

    def close(self, reason: str) -> Deferred[None]:
        self._session.record.finished = reason
        return deferred_from_coro(self._close())

    def view(self) -> str:
        """What is going on right now, in words."""
        frontier = self._frontier
        if frontier.network.is_down:
            return "our network seems to be down; waiting"
        uncommitted = len(self._batch) + len(self._committing)
        return f"{len(frontier.in_flight)} in flight, {len(frontier.hosts)} hosts active, {uncommitted} to commit"

    def _note_release(self, visit: Visit) -> None:
        """What the politeness of this run will be judged by."""
        back = self._frontier.hosts[visit.asked]
        clock = back.clock
        gap = self._session.now() - clock.last_end if clock.last_end else None
        self._session.record.released(back.name, gap, self._options.politeness.rest(back.name, clock, clock.last_end))

    # ── results ──

    async def settle(self, visited: Visited) -> None:
        """Take in what became of a visit; returns when it is acknowledged."""
        visit = visited.visit
        if self._session.fatal is not None:
            raise self._session.fatal
        if self._frontier.in_flight.get(visit.key) is not visit:
            logger.error("A second result for %s is dropped", visit.url)
            return
        now = self._session.now()
        visited = self._with_rules(visited, now)
        was_down = self._frontier.network.is_down
        clocks = self._frontier.ended(visited, now)
        self._note_network(was_down=was_down)
        clock = clocks[visit.asked]
        excused = self._frontier.network.is_down or clock.backoff > 1  # it is not this URL that fails
        after = self._options.revisit.after(visited, now, clock.next_visit, excused=excused)
        gates = self._frontier.gate_times(visit.asked)
        acknowledged: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._batch.append((Settled(visited=visited, aftermath=after, clocks=clocks, gates=gates), acknowledged))
        if len(self._batch) >= self._options.commit_visits or visit.crashes:
            self._flush()
        elif "flush" not in self._timers:
            self._set_timer("flush", self._options.commit_interval, self._flush)
        self._pump_soon()
        await acknowledged

    def _note_network(self, *, was_down: bool) -> None:
        is_down = self._frontier.network.is_down
        if is_down and not was_down:
            self._stats.inc_value("frontier/outages")
            logger.warning(
                "Our network seems to be down: hosts that answered before cannot be reached. The crawl waits, tries one "
                "now and then, and blames nobody"
            )
        elif was_down and not is_down:
            logger.warning("The network is back; the crawl goes on")

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
            retry=self._options.robots_retry,
        )
        return replace(visited, rules=rules)

    def stop(self) -> None:
        """Release nothing more, give back what was not sent, and let what is in flight finish, but not for long."""
        if not self._stopping:
            self._stopping = True
            self._give_back()
            self._set_timer("abort", STOP_GRACE, client_of(self._session).abort_all)

    # ── the messenger ──

    def _pump_soon(self) -> None:
        """Pump once for all that happens within a moment: at speed, a dozen things happen per page."""
        if "pump soon" not in self._timers and not self._stopping:
            self._set_timer("pump soon", PUMP_EVERY, self._pump)

    def _pump(self) -> None:
        """Do whatever can be done now, and come back when more can."""
        self._timers.pop("pump soon", None)
        if self._stopping or self._session.fatal is not None:
            return
        now = self._session.now()
        self._send_back(now)
        self._refill(now)
        self._activate(now)
        self._lease(now)
        self._run_errands(now)
        self._postpone()
        self._look_ahead()
        self._come_back(now)

    def _ask(self, act: Callable[[], T], then: Callable[[T], None], one: str = "") -> None:
        """Have something done in the store's thread; of a kind with a name, one at a time."""
        if one and one in self._busy:
            return
        self._busy.add(one)
        self._asked += 1
        self._session.run(act).add_done_callback(partial(self._answered, then, one))

    def _answered(self, then: Callable[[T], None], one: str, future: asyncio.Future[T]) -> None:
        self._asked -= 1
        self._busy.discard(one)
        try:
            then(future.result())
            self._pump_soon()
        except Exception as error:
            self.fail(error)

    def _run_errands(self, now: float) -> None:
        session = self._session
        while self._frontier.errands:
            visit = self._frontier.errands.popleft()
            load = partial(session.store.load_host, session.owner, visit.asked, host_of(visit.url), now, 0)
            self._ask(load, partial(self._errand_loaded, visit))

    def _errand_loaded(self, visit: Visit, load: HostLoad | None) -> None:
        if load is not None:
            self._name(load, visit)
        else:
            self._frontier.forget(visit)

    def _postpone(self) -> None:
        held = self._frontier.to_hold()
        if held:
            self._ask(lambda: self._session.store.hold(held), lambda _: None)
        postponed = self._frontier.to_postpone()
        if postponed:
            self._stats.inc_value("frontier/postponed", len(postponed))
            store = self._session.store
            self._ask(lambda: store.postpone(postponed, Reason.ROBOTS_UNAVAILABLE), lambda _: None)

    def _send_back(self, now: float) -> None:
        hosts = self._frontier.to_send_back()
        if hosts:
            self._look_at = 0.0  # others can take their places; the store is asked in this order
            self._ask(lambda: self._session.store.send_back(hosts, now), lambda _: None)

    def _refill(self, now: float) -> None:
        store, length = self._session.store, self._options.queue_length
        hosts = self._frontier.wants_refill()
        if hosts:
            self._ask(lambda: store.load_all(hosts, now, length), self._refilled)

    def _refilled(self, loads: Sequence[tuple[int, Sequence[Visit]]]) -> None:
        for host, visits in loads:
            self._frontier.refill(host, visits, self._session.now())

    def _activate(self, now: float) -> None:
        room = min(self._frontier.wants_hosts() - len(self._named), HOSTS_A_LOOK)
        if now < self._look_at:
            return
        self._look_at = now + LOOK_EVERY
        if room <= 0:
            return
        session, active = self._session, set(self._frontier.hosts) | self._named

        def look() -> tuple[list[str], list[HostLoad]]:
            seeds = session.new_seeds()
            return seeds, session.store.activate(
                session.owner, now, room, self._options.queue_length, active, self._draw
            )

        self._ask(look, partial(self._activated, room), one="activate")

    def _activated(self, room: int, answer: tuple[Sequence[str], Sequence[HostLoad]]) -> None:
        seeds, loads = answer
        if seeds:
            self._session.learn(seeds)
            self._ask(lambda: self._session.welcome(seeds), lambda _: self._look_now(0))
        for load in loads:
            self._done = False
            self._name(load)
        if len(loads) == room:
            self._look_at = 0.0

    def _name(self, load: HostLoad, errand: Visit | None = None) -> None:
        """A host becomes active when its server is known: it may share it with others that are being visited."""
        client = client_of(self._session)
        if client.known_address(load.name) is not None:
            self._named_now(load, errand)
            return
        self._named.add(load.host)
        look_up = asyncio.ensure_future(client.address_of(load.name))
        look_up.add_done_callback(partial(self._looked_up, load, errand))

    def _looked_up(self, load: HostLoad, errand: Visit | None, _: object) -> None:
        self._named.discard(load.host)
        if not self._stopping and self._session.fatal is None:
            self._named_now(load, errand)
            self._pump_soon()

    def _named_now(self, load: HostLoad, errand: Visit | None) -> None:
        address = client_of(self._session).known_address(load.name) or load.address
        self._frontier.activate(replace(self._sane(load), address=address), self._session.now(), errand)

    def _sane(self, load: HostLoad) -> HostLoad:
        return replace(load, clock=self._options.politeness.sane(load.clock, self._session.now()))

    def _lease(self, now: float) -> None:
        if "lease" in self._busy:
            return
        visits = self._frontier.to_lease(now)
        if visits:
            session = self._session
            self._ask(lambda: session.store.lease(session.owner, visits), partial(self._leased, visits), one="lease")

    def _leased(self, asked: Sequence[Visit], granted: Sequence[Visit]) -> None:
        self._frontier.leased(asked, granted)
        if self._stopping:
            self._give_back()
        self._wake_engine()

    def _give_back(self) -> None:
        visits = self._frontier.recall()
        if visits:
            session = self._session
            self._ask(lambda: session.store.unlease(visits, session.now()), lambda _: None)

    def _renew(self) -> None:
        session, lease = self._session, self._options.partition_lease
        now = session.now()
        self._ask(lambda: session.store.renew(session.owner, now, lease), partial(self._renewed, now + lease))
        self._set_timer("renew", lease / 3, self._renew)

    def _renewed(self, lease_end: float, partitions: int) -> None:
        if partitions:
            self._frontier.lease_end = lease_end
        else:
            self.fail(CrawlError("Another worker has taken over this crawl's hosts. Nothing was lost."))

    # ── commits ──

    def _flush(self) -> None:
        self._cancel_timer("flush")
        if "commit" in self._busy:
            self._flush_again = True  # the batch grows meanwhile; `_committed` comes back for it
            return
        most = self._options.commit_visits
        batch, self._batch = self._batch[:most], self._batch[most:]
        if batch:
            self._committing += batch
            settled = [entry[0] for entry in batch]
            self._ask(lambda: self._session.committer.commit(settled), partial(self._committed, batch), one="commit")

    def _committed(
        self, batch: Sequence[tuple[Settled, asyncio.Future[None]]], answer: tuple[Committed, Collection[Key]]
    ) -> None:
        committed, late = answer
        for settled, acknowledged in batch:
            visited = settled.visited
            if visited.visit.key in late:
                self._stats.inc_value("commit/late")
                visited = replace(visited, rules=None)
            else:
                self._count(visited)
            self._frontier.committed(visited)
            if not acknowledged.done():
                acknowledged.set_result(None)
        self._committing = [entry for entry in self._committing if not entry[1].done()]
        self._note_commit(committed)
        self._frontier.found(committed.hosts_with_new, self._session.now())
        if any(host not in self._frontier.hosts for host in committed.hosts_with_new):
            self._look_at = 0.0
        if self._flush_again or self._stopping:
            self._flush_again = False
            self._flush()
        self._wake_engine()

    def _note_commit(self, committed: Committed) -> None:
        record = self._session.record
        record.commits += 1
        record.new_urls += committed.new_urls
        record.duplicates += committed.duplicates
        record.bytes_archived += committed.bytes_archived

    def _count(self, visited: Visited) -> None:
        back = self._frontier.hosts[visited.visit.asked]
        self._session.record.acknowledged(back.name, visited)
        if visited.outcome is Outcome.FETCHED and visited.visit.kind is Kind.PAGE:
            self._pages += 1
            if self._pages == self._options.max_pages:
                self._finish("page limit reached")

    def _is_over_limit(self) -> bool:
        limit = self._options.max_pages
        out = len(self._frontier.in_flight) + len(self._batch) + len(self._committing)
        return bool(limit) and self._pages + out >= limit

    def _is_full(self) -> bool:
        return client_of(self._session).bytes_in_flight > self._options.max_buffered

    # ── the end ──

    def _look_ahead(self) -> None:
        """When nothing is left in memory, ask the store whether anything is left at all."""
        waiting = self._asked or self._named or self._batch
        if not self._done and not waiting and self._frontier.is_quiet:
            self._ask(self._session.store.outlook, self._looked_ahead, one="outlook")

    def _looked_ahead(self, outlook: Outlook) -> None:
        now = self._session.now()
        if not self._frontier.is_quiet or self._batch or self._named:
            return
        next_due = outlook.next_due if outlook.next_due is not None else math.inf
        if outlook.leased or next_due <= now + self._options.horizon:
            self._look_at = min(max(next_due, now + LOOK_EVERY / 5), now + LOOK_WHEN_IDLE)
            self._busy.add("outlook")  # until then: `_tick` takes it out
        else:
            self._done = True
            self._wake_engine()

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
        for _, acknowledged in (*self._batch, *self._committing):
            if not acknowledged.done():
                acknowledged.set_exception(error)
        self._batch.clear()
        client_of(self._session).abort_all()
        self._finish("fatal error")

    def _tell_stats(self) -> None:
        """The run in Scrapy's own statistics, for whoever reads them there."""
        record, tell = self._session.record, self._stats.set_value
        tell("visits/count", record.visits)
        tell("visits/pages", record.pages)
        for (outcome, reason), count in record.outcomes.items():
            tell(f"visits/{outcome.name.lower()}/{reason.name.lower()}", count)
        tell("frontier/new_urls", record.new_urls)
        tell("duplicates/exact", record.duplicates)
        tell("commit/batches", record.commits)
        tell("archive/bytes", record.bytes_archived)

    async def _close(self) -> None:
        self._stopping = True
        for name in list(self._timers):
            self._cancel_timer(name)
        if self._session.fatal is None:
            for visit in list(self._frontier.in_flight.values()):
                self._settle_soon(broken({VISIT: visit}, "the visit ended without a result"))
            await asyncio.sleep(0)
            self._give_back()
            self._flush()
            while self._asked and self._session.fatal is None:
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

    # ── requests and timers ──

    def _request(self, visit: Visit) -> Request:
        origin = visit.origin or origin_of(visit.url)
        home = self._frontier.hosts.get(visit.key.host)
        meta = {
            VISIT: visit,
            RULES: home.rules.get(origin) if home is not None else None,
            "verbatim_url": True,
        }
        return Request(visit.url, meta=meta, callback=self._on_answer, errback=self._on_failure, dont_filter=True)

    def _on_answer(self, response: Response) -> Any:
        return exactly_one(self._spider.parse, response)

    def _on_failure(self, failure: Failure) -> list[Visited]:
        """A middleware refused the visit, or failed."""
        meta = failure.request.meta  # type: ignore[attr-defined]
        if isinstance(failure.value, Denied):
            return [refused(meta, failure.value)]
        logger.error("A visit failed inside: %s", meta[VISIT].url, exc_info=failure.value)
        return [broken(meta, repr(failure.value))]

    def _look_now(self, _: object) -> None:
        self._look_at = 0.0

    def _come_back(self, now: float) -> None:
        times = [self._look_at]
        engine = self._crawler.engine
        may_release = engine.running and not (self._is_over_limit() or self._is_full() or engine.needs_backout())
        next_time = self._frontier.next_time(now, lease="lease" not in self._busy, release=may_release)
        if next_time is not None:
            times.append(next_time)
        self._set_timer("pump", max(0.0, min(times) - now), self._tick)

    def _tick(self) -> None:
        if self._look_at <= self._session.now():
            self._busy.discard("outlook")
        self._wake_engine()
        self._pump()

    def _set_timer(self, name: str, delay: float, act: Callable[[], object]) -> None:
        self._cancel_timer(name)
        self._timers[name] = asyncio.get_running_loop().call_later(delay, act)

    def _cancel_timer(self, name: str) -> None:
        timer = self._timers.pop(name, None)
        if timer is not None:
            timer.cancel()

    # ── the one place that touches what the engine does not offer ──

    def _wake_engine(self) -> None:
        """Have the engine ask again. Without this it would do so only every five seconds."""
        slot = self._crawler.engine._slot
        if slot is not None:
            slot.nextcall.schedule()

    def _engine_is_working(self) -> bool:
        slot = self._crawler.engine._slot
        return slot is not None and bool(slot.inprogress)
