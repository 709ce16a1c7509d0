"""What one crawl process owns while it runs: its slot, the store and its thread, its archive file, the scope."""

from __future__ import annotations

import asyncio
import logging
import math
import os
import secrets
import socket
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from crawler.clock import steady_clock
from crawler.content.relevance import FocusModel
from crawler.errors import CrawlError
from crawler.frontier.politeness import HostClock
from crawler.items import Key
from crawler.monitor.record import RunRecord
from crawler.options import Options
from crawler.stores.contract.commits import VisitResult
from crawler.stores.contract.partitions import Assignment, WorkerStatus
from crawler.stores.contract.store import Store
from crawler.stores.open import open_store
from crawler.urls.hosts import host_of, port_of, registered_domain
from crawler.worker import startup
from crawler.worker.committer import CommitAnswer, Committer
from crawler.worker.crawl_topic import CrawlTopic
from crawler.worker.focus_learner import FocusLearner
from crawler.worker.slots import SlotLock, free_slots, has_unclean_slot, place_of, starting, take_slot

logger = logging.getLogger(__name__)
T = TypeVar("T")

PUBLISH_ANCHORS_EVERY = 60.0  # seconds between two changes in the feed because of new anchor text of a page
FEW_SITES = 1_000  # sites of new seeds up to which URLs are judged again site by site


class Session:
    """A worker's state from `open` to `close`. Calls of the store run in one thread, in order.

    Implements `crawler.worker.runtime.StoreAccess`.
    """

    def __init__(self, options: Options, now: Callable[[], float], expected: int = 1) -> None:
        self.options = options
        self.expected = expected
        self.now = now
        self.started = now()
        self.owner = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        self.scope = options.new_scope()
        self.record = RunRecord()
        self.fatal: CrawlError | None = None  # the error that ended the crawl early
        self.store_seconds = 0.0  # seconds that the store's thread was busy
        self.lease_end: Callable[[], float] = lambda: math.inf  # when the lease ends; nothing is sent after it
        self.pages_waiting: Callable[[], int] = lambda: 0  # pages that wait for a content process
        self.learner: FocusLearner | None = None  # of a focused crawl; belongs to the store's thread
        self.model: FocusModel | None = None  # with which content processes begin to judge pages, if it is focused
        self.on_model: list[Callable[[FocusModel], object]] = []  # called with what it has learned since
        self.seeds: list[str] = []
        self.seeds_argument: object = ""  # the spider's argument `seeds` that was added already
        self.on_seeds: list[Callable[[Sequence[str]], None]] = []  # called with new seeds
        self.assignment = Assignment(partitions={}, workers=1, share=0)  # when the lease was renewed last
        self._workers_directory = options.crawl.dir / "workers"
        self._place = place_of(self._workers_directory)
        self._lock: SlotLock | None = None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="store")
        self._committer: Committer | None = None
        self._last_seed = 0
        self._publish_anchors_at = 0.0
        self._topic: CrawlTopic | None = None
        self._new_model: FocusModel | None = None  # that the content processes do not have yet

    @classmethod
    def open(cls, options: Options, *, join: bool = False, expected: int = 1, topic: str | None = None) -> Session:
        """Take a slot of the crawl directory, recover what dead workers left, and become a worker.

        `join` those that are running, or be the only one. With several workers `expected`, the first does not take
        partitions that it would have to release at once. A focused crawl has a `topic`; an empty one is the topic that
        it has already.
        """
        startup.prepare_directory(options)
        with starting(options.crawl.dir / "workers", join=join):
            session = cls(options, steady_clock(), expected)
            try:
                session.call(lambda: session._start(topic))
                session._slot_lock.sign(session.started)
            except BaseException:
                session._thread.shutdown()
                if session._lock is not None:
                    session._lock.drop()
                raise
        return session

    @property
    def slot(self) -> int:
        """The number of this worker among those of the crawl."""
        return self._slot_lock.number

    @property
    def _slot_lock(self) -> SlotLock:
        assert self._lock is not None, "the session is open"
        return self._lock

    @property
    def committer(self) -> Committer:
        assert self._committer is not None, "the session is open"
        return self._committer

    @property
    def store(self) -> Store:
        """The store. Only for use in the store's thread."""
        return self.committer.store

    def call(self, act: Callable[[], T]) -> T:
        """Run a call in the store's thread, and wait for its result."""
        return self._thread.submit(act).result()

    def run(self, act: Callable[[], T]) -> asyncio.Future[T]:
        """Run a call in the store's thread, after all earlier ones."""
        return asyncio.wrap_future(self._thread.submit(self._measured, act))

    def _measured(self, act: Callable[[], T]) -> T:
        started = time.monotonic()
        try:
            return act()
        finally:
            self.store_seconds += time.monotonic() - started

    def extend_scope(self, seeds: Sequence[str]) -> None:
        """Extend the scope by new seeds; `open_scope` then judges again the URLs that were found before."""
        self.seeds.extend(seeds)
        for seed in seeds:
            self.scope.add(seed)
        for listener in self.on_seeds:
            listener(seeds)

    async def finish(self) -> None:
        """End the session without blocking the event loop, so that signals are still handled."""
        if self.fatal is None:
            try:
                await self.run(self._end)
            except Exception as error:
                self.fatal = error if isinstance(error, CrawlError) else CrawlError(f"The end failed: {error!r}")
        self._release_slot()

    def close(self) -> None:
        """End the session before a crawl has begun."""
        try:
            self.call(self._end)
        except CrawlError as error:
            self.fatal = error
        self._release_slot()

    def _release_slot(self) -> None:
        """Unlock the slot: everything is committed and nothing leased. After a fatal error the next worker recovers."""
        self._thread.shutdown(wait=self.fatal is None)
        if self.fatal is None:
            self._slot_lock.release()
        else:
            self._slot_lock.drop()

    # ── in the store's thread ──

    def _start(self, topic: str | None) -> None:
        options = self.options
        store = open_store(
            options.store,
            check=has_unclean_slot(self._workers_directory),
            budgets=options.budgets,
            probe_after=options.probe_after,
            duplicates=options.duplicates,
            group_of=options.politeness.group_of,
            order=options.order,
        )
        try:
            self._lock = take_slot(self._workers_directory, self._place, store.partitions)
            startup.refuse_copied_directory(store, options, self.slot, self.now())
            store.archive.add_directory(self._place, str(options.warc_directory.resolve()))
            self._recover(store, self._lock)
            for lock in self._free_slots(store):
                self._recover(store, lock)
                lock.release()
            startup.check_clock(store, self.now())
            archive = startup.new_archive(options, self.slot, self.now)
            self._committer = Committer(
                store, archive, self.now, options.commit.step_hook, lambda: self.assignment.workers
            )
            startup.apply_groups(store, options.politeness)
            startup.apply_duplicate_rule(store, options.duplicates)
            startup.store_settings(store, options)
            self.renew_lease()
            self.extend_scope(self.new_seeds())
            startup.refuse_foreign_hosts(options, self.seeds)
            startup.apply_scope(store, options, self.scope.rejection, self._last_seed, self.now(), self.open_scope)
            self._start_focus(store, topic)
        except BaseException:
            store.close()
            raise

    def _start_focus(self, store: Store, topic: str | None) -> None:
        self._topic = startup.topic_of_crawl(store, self.options, topic)
        if self._topic is not None:
            self.learner = FocusLearner(self._topic.read())
            startup.begin_focus(store, self.learner, self.slot, self._topic.name, self.now())
            self.model = self.learner.model()

    def _free_slots(self, store: Store) -> Iterator[SlotLock]:
        """Lock, one by one, the other slots of our directory whose workers are gone."""
        for lock in free_slots(self._workers_directory, but=self.slot):
            if store.partitions.claim_slot(self._place, lock.number):
                yield lock
            else:  # the store gave the number to another directory
                lock.drop()

    def _recover(self, store: Store, lock: SlotLock) -> None:
        startup.recover(store, self.options, lock, self.now(), self._full_rest)

    def _full_rest(self, name: str, clock: HostClock) -> HostClock:
        return self.options.politeness.after_unclean_stop(name, clock, self.now())

    def commit(self, batch: Sequence[VisitResult], wanted: Collection[Key]) -> CommitAnswer:
        """Archive and acknowledge a batch of visits; return the pages of `wanted` ones."""
        return self.committer.commit(batch, wanted)

    def renew_lease(self) -> Assignment:
        """Extend our lease, recover what dead workers left, and every minute publish new anchor text."""
        options, record = self.options, self.record
        for lock in self._free_slots(self.store):
            if lock.was_unclean:
                self._recover(self.store, lock)
                lock.release()
            else:
                lock.drop()
        worker = WorkerStatus(
            slot=self.slot,
            owner=self.owner,
            pid=os.getpid(),
            since=self.started,
            visits=record.visits,
            pages=record.pages,
            new_urls=record.new_urls,
            late=record.late,
            rate=record.rate,
            store_share=record.store_share,
            limited_by=record.limited_by,
            # Others are still starting; one that is not there after the time of a lease will not come.
            expected=self.expected if self.now() < self.started + options.partition_lease else 1,
        )
        lease, longest = options.partition_lease, options.fetch.limits.timeout
        assignment = self.store.partitions.renew_lease(worker, self.now(), lease, longest, self._full_rest)
        self.assignment = assignment
        if assignment.returned or assignment.quarantined:
            logger.warning(
                "A worker has not been heard of: %d URLs that it was visiting wait again, %d are left alone",
                assignment.returned,
                assignment.quarantined,
            )
        self._exchange_lessons()
        if self.now() >= self._publish_anchors_at:
            self._publish_anchors_at = self.now() + PUBLISH_ANCHORS_EVERY
            self.store.changes.publish_anchors()
        return assignment

    def _exchange_lessons(self) -> None:
        """Store what was learned, take in what other workers have learned and whether the topic was trained again."""
        if self.learner is None or self._topic is None or self.model is None:
            return
        self.store.focus.save()
        if self._topic.has_changed():
            self._retrain(self.learner, self._topic)
        self._new_model = self.learner.new_model()

    @staticmethod
    def _retrain(learner: FocusLearner, topic: CrawlTopic) -> None:
        try:
            learner.retrain(topic.read())
        except CrawlError as error:
            logger.warning("The topic %s has changed and cannot be read, so it stays as it was: %s", topic.name, error)
        else:
            logger.info("The topic %s was trained again; the crawl goes on with it", topic.name)

    def take_model(self) -> FocusModel | None:
        """Return, once, what was learned since the last call; None if that is nothing."""
        model, self._new_model = self._new_model, None
        return model

    def new_seeds(self) -> list[str]:
        """Return the seeds that any process has added since the last call, for `extend_scope` and `open_scope`."""
        seeds = list(self.store.urls.seeds(self._last_seed))
        if seeds:
            self._last_seed = seeds[-1][0]
        return [url for _, url in seeds]

    def open_scope(self, seeds: Sequence[str]) -> None:
        """Judge the URLs again that were found before these seeds and that the seeds may bring into the scope."""
        if not seeds:
            return
        # A scope of this thread's own: `self.scope` belongs to the event loop.
        judge = self.options.urls.new_scope(self.seeds).rejection
        self.committer.judge_again(judge)
        opened = 0
        for site in self._sites_to_review(seeds):
            review = self.store.urls.review_scope(judge, self.now(), site)
            startup.log_review(review)
            opened += review.opened
        if opened and self.learner is not None:
            startup.place_waiting(self.store, self.now())
        self.store.crawl.set_facts({"judged_seed": str(self._last_seed)})

    def _sites_to_review(self, seeds: Sequence[str]) -> Iterable[str | None]:
        """Return the sites of which these seeds may bring URLs into the scope; None = all."""
        mode, ports = self.options.urls.mode, self.options.urls.ports
        if any(port_of(url) not in ports for url in seeds):
            return [None]  # the port of a seed is allowed on all hosts
        hosts = {host_of(url) for url in seeds} if mode != "any" else set()
        sites = {registered_domain(host) or host for host in hosts} if mode == "domains" else hosts
        return sites if len(sites) <= FEW_SITES else [None]

    def _end(self) -> None:
        self.committer.close()
        if self.learner is not None:
            self.store.focus.save(is_last=True)
        self.store.changes.publish_anchors()
        self.store.partitions.leave(self.owner)
        self.store.close()
