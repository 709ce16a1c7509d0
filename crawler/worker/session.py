"""What one crawl process owns: its slot, the thread with the store, its archive file."""

from __future__ import annotations

import asyncio
import logging
import math
import os
import resource
import secrets
import socket
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol, TypeVar
from weakref import WeakKeyDictionary

import msgspec
from scrapy.crawler import Crawler

from crawler.archive import segments
from crawler.archive.segments import SegmentWriter
from crawler.clock import steady_clock
from crawler.content.answers import ArchivedAnswer
from crawler.content.similarity import TemplatedAnswer
from crawler.duplicates.cascade import DuplicateRule
from crawler.errors import CrawlError, DiskTrouble, Misconfigured
from crawler.files import sync_directory, sync_file
from crawler.frontier.politeness import LONGEST_HOLD, HostClock, Politeness
from crawler.monitor.record import RunRecord
from crawler.options import PRODUCT, VERSION, Options
from crawler.stores.contract.partitions import Assignment, WorkerStatus
from crawler.stores.contract.store import Store
from crawler.stores.contract.urls import ScopeReview
from crawler.stores.open import open_store
from crawler.urls.hosts import host_of, matches, port_of, registered_domain
from crawler.worker.committer import Committer
from crawler.worker.slots import SlotLock, free_slots, take_slot

logger = logging.getLogger(__name__)

ANNOUNCE_EVERY = 60.0  # seconds; what others call a page is told of as seldom, since more words may come
_POLITENESS = "politeness"  # the fact that tells it
T = TypeVar("T")

_FILES = 65_536  # open files that are asked for
_OTHER_FILES = 100
FEW_SITES = 1_000  # new seeds' sites that are looked at one by one


class TextReader(Protocol):
    """Who reads texts again."""

    async def compare(self, new: TemplatedAnswer, others: Sequence[TemplatedAnswer]) -> list[float] | None: ...

    async def study(
        self, pages: Sequence[ArchivedAnswer], template: bytes | None
    ) -> tuple[bytes, list[bytes]] | None: ...


class Session:
    """Open from `open` to `close`. Everything that touches the store runs in one thread, in the order asked for."""

    def __init__(self, options: Options, lock: SlotLock, now: Callable[[], float], expected: int = 1) -> None:
        self.options = options
        self.expected = expected
        self.now = now
        self.started = now()
        self.owner = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        self.scope = options.new_scope()
        self.record = RunRecord()
        self.fatal: CrawlError | None = None  # what ended the crawl before its time
        self._lock = lock
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="store")
        self._committer: Committer | None = None
        self.store_seconds = 0.0  # for which the store's thread has worked
        self.lease_end: Callable[[], float] = lambda: math.inf  # nothing is sent from then on
        self.pages_waiting: Callable[[], int] = lambda: 0  # for a content process
        self.content: TextReader | None = None
        self.content_is_open = asyncio.Event()
        self._last_seed = 0
        self._announce_at = 0.0
        self.seeds: list[str] = []
        self.tenure = Assignment(partitions={}, workers=1, share=0)  # what the session began with
        self.on_seeds: list[Callable[[Sequence[str]], None]] = []  # who else must know of new seeds

    @classmethod
    def open(cls, options: Options, *, join: bool = False, expected: int = 1) -> Session:
        """Take the directory, bring what a dead process left behind in order, and become its worker, or one more.

        `expected` workers there will be, so that the first does not take what it must give to the others.
        """
        prepare_directory(options)
        workers = options.crawl.dir / "workers"
        lock = take_slot(workers, join=join)
        session = cls(options, lock, steady_clock(), expected)
        try:
            session.call(lambda: session._begin(workers))
            lock.sign(session.started)
        except BaseException:
            session._thread.shutdown()
            lock.drop()
            raise
        return session

    @property
    def slot(self) -> int:
        """Our number among the workers."""
        return self._lock.number

    @property
    def committer(self) -> Committer:
        assert self._committer is not None, "the session is open"
        return self._committer

    @property
    def store(self) -> Store:
        """Only for use in the store's thread."""
        return self.committer.store

    def call(self, act: Callable[[], T]) -> T:
        """Run something in the store's thread, and wait for it."""
        return self._thread.submit(act).result()

    def run(self, act: Callable[[], T]) -> asyncio.Future[T]:
        """Run something in the store's thread, after all that was asked for before."""
        return asyncio.wrap_future(self._thread.submit(self._timed, act))

    def _timed(self, act: Callable[[], T]) -> T:
        begun = time.monotonic()
        try:
            return act()
        finally:
            self.store_seconds += time.monotonic() - begun

    def new_seeds(self) -> list[str]:
        """Seeds that were added since the last call, by whomever. In the store's thread; `welcome` them afterwards."""
        seeds = list(self.store.urls.seeds(self._last_seed))
        if seeds:
            self._last_seed = seeds[-1][0]
        return [url for _, url in seeds]

    def learn(self, seeds: Sequence[str]) -> None:
        """Extend the scope."""
        self.seeds.extend(seeds)
        for seed in seeds:
            self.scope.add(seed)
        for tell in self.on_seeds:
            tell(seeds)

    async def finish(self) -> None:
        """End well, without blocking the event loop: signals must still be heard."""
        if self.fatal is None:
            try:
                await self.run(self._end)
            except Exception as error:
                self.fatal = error if isinstance(error, CrawlError) else CrawlError(f"The end failed: {error!r}")
        self._let_go()

    def close(self) -> None:
        """End well, before a crawl has begun."""
        try:
            self.call(self._end)
        except CrawlError as error:
            self.fatal = error
        self._let_go()

    def _let_go(self) -> None:
        """Everything is committed and nothing leased; after a fatal error, whoever comes next recovers."""
        self._thread.shutdown(wait=self.fatal is None)
        if self.fatal is None:
            self._lock.release()
        else:
            self._lock.drop()

    # ── in the store's thread ──

    def _begin(self, workers: Path) -> None:
        unclean = self._lock.was_unclean
        group_of = self.options.politeness.group_of
        store = open_store(
            self.options.store,
            check=unclean,
            budgets=self.options.budgets,
            probe_after=self.options.probe_after,
            duplicates=self.options.duplicates,
            group_of=group_of,
        )
        try:
            self._recover(store, self._lock)
            for lock in free_slots(workers, but=self._lock.number):
                self._recover(store, lock)
                lock.release()
            self._check_time(store)
            self._committer = Committer(store, self._new_archive(), self.now, self.options.commit.step_hook)
            self._group(store)
            self._match_sketches(store)
            store.crawl.set_facts({_POLITENESS: msgspec.json.encode(self.options.politeness).decode()})
            self.tenure = self.keep()
            self.learn(self.new_seeds())
            self.refuse_strangers(self.seeds)
            self._reconsider()
        except BaseException:
            store.close()
            raise

    def keep(self) -> Assignment:
        """Tell the others that we live, and take over from those that do not. In the store's thread."""
        options, record = self.options, self.record
        for lock in free_slots(options.crawl.dir / "workers", but=self._lock.number):
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
            # Others are still starting; who is not there after a lease will not come.
            expected=self.expected if self.now() < self.started + options.partition_lease else 1,
        )
        lease, longest = options.partition_lease, options.fetch.limits.timeout
        tenure = self.store.partitions.renew_lease(worker, self.now(), lease, longest, self._full_rest)
        if tenure.returned or tenure.quarantined:
            logger.warning(
                "A worker has not been heard of: %d URLs that it was visiting wait again, %d are left alone",
                tenure.returned,
                tenure.quarantined,
            )
        if self.now() >= self._announce_at:
            self._announce_at = self.now() + ANNOUNCE_EVERY
            self.store.changes.publish_anchors()
        return tenure

    def _full_rest(self, name: str, clock: HostClock) -> HostClock:
        return self.options.politeness.after_unclean_stop(name, clock, self.now())

    def _group(self, store: Store) -> None:
        """Hosts that count as one are in one partition."""
        groups = repr(sorted(self.options.politeness.groups))
        if store.crawl.facts().get("groups", "[]") != groups:
            if store.partitions.workers():
                raise Misconfigured("POLITENESS_GROUPS is not what the crawl that is running has; give it the same.")
            store.partitions.regroup()
            store.crawl.set_facts({"groups": groups})

    def _match_sketches(self, store: Store) -> None:
        """Sketches are compared only with such as were made in the same way, and met by one set of bands."""
        rule = self.options.duplicates
        if not rule.threshold:
            store.crawl.set_facts({"bands": "0"})  # what changes meanwhile is not entered
            return
        now_so = {"sketches": sketches_of(rule), "bands": f"{rule.threshold:g}"}
        facts = store.crawl.facts()
        if all(facts.get(name, value) == value for name, value in now_so.items()):
            store.crawl.set_facts(now_so)
            return
        if store.partitions.workers():
            raise Misconfigured(
                "DUPLICATE_THRESHOLD or DUPLICATE_SHINGLE is not what the crawl that is running has; give it the same."
            )
        if facts.get("sketches", now_so["sketches"]) != now_so["sketches"]:
            logger.warning(
                "DUPLICATE_SHINGLE has changed: pages that were fetched before are met again when they are visited"
            )
            store.similarity.forget_sketches()
        else:
            logger.info("DUPLICATE_THRESHOLD has changed: %d pages are entered anew", store.similarity.rebuild_index())
        store.crawl.set_facts(now_so)

    def _reconsider(self) -> None:
        """Judge again what was found under other settings, and say so when URLs are spelled in another way than before."""
        store, urls = self.store, self.options.urls
        facts = store.crawl.facts()
        now_so = {
            "url_spelling": urls.spelling(),
            "url_scope": urls.scope(),
            "judged_seed": str(self._last_seed),
            "budgets": repr(self.options.budgets),
        }
        known_before = "url_scope" in facts or store.commits.last() is not None
        if known_before and facts.get("url_spelling") != now_so["url_spelling"]:
            logger.warning(
                "URLs are spelled by other rules than in the last crawl: pages that are known under another spelling are "
                "fetched again under the new one when a link to them is found"
            )
        if known_before and facts.get("url_scope") != now_so["url_scope"]:
            logger.info("The scope is not that of the last crawl: judging the URLs that were found again")
            self._tell(store.urls.review_scope(self.scope.rejection, self.now()))
        elif known_before and facts.get("judged_seed") != now_so["judged_seed"]:
            self.welcome([url for _, url in store.urls.seeds(int(facts.get("judged_seed", "0")))])
        if facts.get("budgets") != now_so["budgets"]:
            store.urls.review_budgets(self.now())
        store.crawl.set_facts(now_so)

    def welcome(self, seeds: Sequence[str]) -> None:
        """Open what these seeds bring into the scope and was found before them. In the store's thread."""
        if not seeds:
            return
        judge = self.options.urls.new_scope(self.seeds).rejection  # of our own: the other belongs to the event loop
        self.committer.judge_again(judge)
        for site in self._widened(seeds):
            self._tell(self.store.urls.review_scope(judge, self.now(), site))
        self.store.crawl.set_facts({"judged_seed": str(self._last_seed)})

    def _widened(self, seeds: Sequence[str]) -> Iterable[str | None]:
        """The sites of which more is in the scope with these seeds; None = all."""
        mode, ports = self.options.urls.mode, self.options.urls.ports
        if any(port_of(url) not in ports for url in seeds):
            return [None]  # a seed's port is allowed everywhere
        hosts = {host_of(url) for url in seeds} if mode != "any" else set()
        sites = {registered_domain(host) or host for host in hosts} if mode == "domains" else hosts
        return sites if len(sites) <= FEW_SITES else [None]

    def refuse_strangers(self, seeds: Sequence[str]) -> None:
        """Nobody is visited who could not find out by whom."""
        options = self.options
        if options.contact:
            return
        strangers = [url for url in seeds if not matches(host_of(url), options.urls.own_hosts)]
        if strangers:
            raise Misconfigured(
                f"CONTACT is not set, so {host_of(strangers[0])} may not be crawled: the people who run it must be able to "
                "reach you. Add -s CONTACT=https://your.site/about-the-bot (or an e-mail address); only hosts in OWN_HOSTS "
                "can do without."
            )

    @staticmethod
    def _tell(judged: ScopeReview) -> None:
        if judged.opened or judged.closed:
            logger.info(
                "%d URLs are in the scope now and wait, %d are not and are parked", judged.opened, judged.closed
            )

    def _recover(self, store: Store, lock: SlotLock) -> None:
        directory = self.options.warc_directory
        whole, cut = segments.recover(directory, lock.number, store.archive.segments(lock.number))
        for name in whole:
            store.archive.close_segment(name)
        left = store.partitions.recover([lock.number], self.now(), self._full_rest)
        if lock.was_unclean or left.returned or left.quarantined or cut:
            logger.warning(
                "The last crawl did not end well: %d URLs that were in flight wait again, %d are left alone because "
                "crawls died over them, %d bytes that were never acknowledged were cut off the archive",
                left.returned,
                left.quarantined,
                cut,
            )

    def _check_time(self, store: Store) -> None:
        last = store.commits.last()
        if last is not None and self.now() < last - 60:
            logger.warning(
                "The clock of this machine is %.0f s behind the last commit; hosts are not made to wait for it to catch "
                "up, but pages fetched meanwhile are due again by the clock that was",
                last - self.now(),
            )
            store.frontier.clamp_future_times(self.now() + LONGEST_HOLD)

    def _new_archive(self) -> SegmentWriter:
        options = self.options
        started = datetime.fromtimestamp(self.started, UTC).strftime("%Y%m%dT%H%M%S")
        return SegmentWriter(
            options.warc_directory,
            prefix=f"{PRODUCT.lower()}-{started}-{secrets.token_hex(3)}",
            slot=self.slot,
            max_bytes=options.warc_segment_bytes,
            now=self.now,
            step=options.commit.step_hook,
            facts=[
                ("software", f"{PRODUCT}/{VERSION}"),
                ("format", "WARC File Format 1.1"),
                ("conformsTo", "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"),
                ("robots", "obey"),
                ("http-header-user-agent", options.user_agent),
            ],
        )

    def _end(self) -> None:
        self.committer.close()
        self.store.changes.publish_anchors()
        self.store.partitions.leave(self.owner)
        self.store.close()


def last_politeness(store: Store, otherwise: Politeness) -> Politeness:
    """As the last crawl had it: what it did is to be held against that."""
    try:
        return msgspec.json.decode(store.crawl.facts().get(_POLITENESS, ""), type=Politeness)
    except msgspec.MsgspecError:
        return otherwise


def sketches_of(rule: DuplicateRule) -> str:
    """What sketches are made of, as it is kept with a crawl: those of something else cannot be compared."""
    return f"runs of {rule.shingle} words"


def prepare_directory(options: Options) -> None:
    """Make sure that we can write where the crawl is kept, and that what we write stays there."""
    directory = options.crawl.dir
    probe = directory / f".probe-{os.getpid()}"
    try:
        directory.mkdir(parents=True, exist_ok=True, mode=0o750)
        options.warc_directory.mkdir(exist_ok=True, mode=0o750)
        with probe.open("wb") as file:
            file.write(b"probe")
            sync_file(file)
        probe.unlink()
        sync_directory(directory)
    except (FileExistsError, NotADirectoryError) as error:
        raise Misconfigured(
            f"CRAWL_DIR={str(directory)!r}: {error.filename} is not a directory; name another."
        ) from error
    except OSError as error:
        raise DiskTrouble(
            f"CRAWL_DIR={str(directory)!r}: cannot be written ({error.strerror}); check its permissions and the disk, or "
            "name another directory."
        ) from error


def connections_possible() -> int:
    """How many connections may be open at once, after asking the system for as many files as it gives."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard == resource.RLIM_INFINITY or soft < hard:
        wanted = min(hard, _FILES) if hard != resource.RLIM_INFINITY else _FILES
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
        soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    # A connection may be idle beside the one in use; the rest is for the store, the archive and the name look-ups.
    return max(1, (soft - _OTHER_FILES) // 2)


_sessions: WeakKeyDictionary[Crawler, Session] = WeakKeyDictionary()


def attach(crawler: Crawler, session: Session) -> None:
    """Give a crawler the session that its components share."""
    _sessions[crawler] = session


def session_of(crawler: Crawler) -> Session:
    """The crawler's session, opened now if nobody has."""
    session = _sessions.get(crawler)
    if session is None:
        session = _sessions[crawler] = Session.open(Options.of(crawler.settings))
    return session
