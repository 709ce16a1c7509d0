"""The store contract on one SQLite file."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import apsw

from crawler.duplicates.cascade import DuplicateRule
from crawler.frontier.budgets import Budgets, next_day
from crawler.frontier.frontier import HostLoad
from crawler.frontier.politeness import HostClock
from crawler.frontier.priority import Draw, most_important
from crawler.frontier.trust import Source, Trust
from crawler.items import Key, Link, ListedUrl, Reason, RobotsFile, Visit
from crawler.stores.contract import (
    ArchivedBody,
    Assignment,
    Committed,
    CrawlAccount,
    DocumentRow,
    FeedAnnouncement,
    GrantedLeases,
    HostRow,
    Judge,
    NewUrl,
    Outlook,
    PublishedChange,
    Recovery,
    ScopeReview,
    SegmentState,
    SimilarPage,
    SiteRow,
    TemplateJob,
    TemplateResult,
    UndecidedPage,
    UrlRow,
    VisitResult,
    WorkerStatus,
)
from crawler.stores.sqlite import (
    commit,
    documents,
    frontier,
    host_trust,
    originals,
    partitions,
    pending_anchors,
    reading,
    scope,
    similarity_doubts,
    similarity_index,
    site_templates,
)
from crawler.stores.sqlite import urls as url_rows
from crawler.stores.sqlite.connection import open_for_reading, open_for_writing, trouble
from crawler.stores.sqlite.ledger import HostLedger
from crawler.stores.sqlite.similarity_index import SimilarityIndex
from crawler.stores.sqlite.survey import SqliteSurvey
from crawler.stores.survey import Survey

_ADD_BATCH = 20_000  # URLs a transaction when a long list is made known: others wait about a second


class SqliteStore:
    """Implements `crawler.stores.contract.Store`; belongs to the thread that opened it."""

    def __init__(
        self,
        path: Path,
        *,
        read_only: bool = False,
        check: bool = False,
        durable: bool = True,
        budgets: Budgets | None = None,
        probe_after: int = 0,
        duplicates: DuplicateRule | None = None,
        group_of: Callable[[str], str] | None = None,
    ) -> None:
        self._path = path
        self._budgets = budgets or Budgets()
        self._probe_after = probe_after
        self._rule = duplicates or DuplicateRule()
        self._looked: tuple[int, SimilarityIndex] | None = (
            None  # what was looked up for a batch, and in which state of the store
        )
        self._known = url_rows.SeenCache(group_of)
        self._connection = open_for_reading(path) if read_only else open_for_writing(path, check=check, durable=durable)

    @contextmanager
    def _transaction(self) -> Iterator[apsw.Connection]:
        """All or nothing. A deferred BEGIN would fail as busy when another process writes; IMMEDIATE waits."""
        with trouble(self._path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                self._known.forget()
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    @contextmanager
    def _changes(self, now: float) -> Iterator[tuple[apsw.Connection, HostLedger]]:
        """A transaction that changes hosts and sites."""
        with self._transaction() as connection:
            ledger = HostLedger(connection, self._budgets, now)
            yield connection, ledger
            ledger.write()

    @contextmanager
    def _snapshot(self) -> Iterator[apsw.Connection]:
        """Several reads that see one state."""
        if self._connection.in_transaction:
            yield self._connection
            return
        with trouble(self._path):
            self._connection.execute("BEGIN")
            try:
                yield self._connection
            finally:
                self._connection.execute("ROLLBACK")

    # ── partitions ──

    def recover(self, slots: Collection[int], now: float, full_rest: Callable[[str, HostClock], HostClock]) -> Recovery:
        with self._changes(now) as (connection, ledger):
            return partitions.recover(connection, ledger, slots, now, full_rest)

    def keep(
        self,
        worker: WorkerStatus,
        now: float,
        lease: float,
        longest_request: float,
        full_rest: Callable[[str, HostClock], HostClock],
    ) -> Assignment:
        with self._changes(now) as (connection, ledger):
            return partitions.keep(connection, ledger, worker, now, lease, longest_request, full_rest)

    def release(self, owner: str, partitions_: Collection[int]) -> None:
        with self._transaction() as connection:
            partitions.release(connection, owner, partitions_)

    def leave(self, owner: str) -> None:
        with self._transaction() as connection:
            partitions.leave(connection, owner)

    def workers(self) -> list[WorkerStatus]:
        with trouble(self._path):
            return partitions.workers(self._connection)

    def regroup(self) -> None:
        with self._transaction() as connection:
            partitions.regroup(connection, self._known.group_of)

    def claim(self, owner: str, hosts: Sequence[tuple[int, str]]) -> set[int]:
        with self._transaction() as connection:
            return partitions.claim(connection, owner, hosts)

    def hand_over(self, owner: str, addresses: Sequence[str]) -> None:
        with self._transaction() as connection:
            partitions.hand_over(connection, owner, addresses)

    def note_errands(self, errands: Sequence[Visit]) -> None:
        with self._transaction() as connection:
            self._known.make_hosts_known(connection, [(errand.host_key, errand.url) for errand in errands])
            partitions.note_errands(connection, errands)

    def errands(self, owner: str, now: float) -> list[Visit]:
        with trouble(self._path):
            if self._connection.execute("SELECT 1 FROM remote_robots LIMIT 1").get is None:
                return []
        with self._transaction() as connection:
            return partitions.errands(connection, owner, now)

    # ── the frontier ──

    def add(self, urls: Iterable[NewUrl], now: float) -> int:
        def add(connection: apsw.Connection, ledger: HostLedger, batch: Sequence[NewUrl]) -> int:
            rows = [url_rows.row_of(connection, url, now) for url in batch]
            return len(url_rows.insert(connection, self._known, ledger, rows).new)

        return self._in_batches(urls, add, now)

    def add_seeds(self, urls: Iterable[NewUrl], now: float, *, urgent: bool = False) -> int:
        def add(connection: apsw.Connection, ledger: HostLedger, batch: Sequence[NewUrl]) -> int:
            new = url_rows.add_seeds(connection, self._known, ledger, batch, now)
            if urgent:
                url_rows.put_in_front(connection, ledger, batch)
            return new

        return self._in_batches(urls, add, now)

    def _in_batches(
        self, urls: Iterable[NewUrl], act: Callable[[apsw.Connection, HostLedger, Sequence[NewUrl]], int], now: float
    ) -> int:
        new, source = 0, iter(urls)
        while batch := list(islice(source, _ADD_BATCH)):
            with self._changes(now) as (connection, ledger):
                new += act(connection, ledger, batch)
        return new

    def reconsider(self, judge: Judge, now: float, site: str | None = None) -> ScopeReview:
        with trouble(self._path):
            hosts = [None] if site is None else scope.hosts_of_site(self._connection, site)
        done = [part for host in hosts for part in self._reconsidered(judge, now, host)]
        return ScopeReview(opened=sum(part.opened for part in done), closed=sum(part.closed for part in done))

    def _reconsidered(self, judge: Judge, now: float, host: int | None) -> Iterator[ScopeReview]:
        """One host, or all, in transactions that do not keep others waiting."""
        after: float | None = -math.inf
        while after is not None:
            with self._changes(now) as (connection, ledger):
                after, part = scope.reconsider(connection, ledger, judge, now, host, after)
            yield part

    def collision(self, key: Key) -> list[str]:
        with trouble(self._path):
            return reading.collision(self._connection, key)

    def facts(self) -> Mapping[str, str]:
        with trouble(self._path):
            return dict(self._connection.execute("SELECT name, value FROM crawl WHERE typeof(value) = 'text'"))

    def note_facts(self, facts: Mapping[str, str]) -> None:
        with self._transaction() as connection:
            connection.executemany("INSERT OR REPLACE INTO crawl VALUES (?, ?)", facts.items())

    def seeds(self, after: int = 0) -> Iterator[tuple[int, str]]:
        with trouble(self._path):
            yield from frontier.seeds(self._connection, after)

    def activate(
        self, owner: str, now: float, hosts: int, urls: int, exclude: Collection[int], draw: Draw = most_important
    ) -> list[HostLoad]:
        with trouble(self._path):
            must_review = frontier.has_to_review(self._connection, now)
        if must_review:
            with self._changes(now) as (_, ledger):
                ledger.review()
        with self._transaction() as connection:
            return frontier.activate(connection, owner, now, hosts, urls, exclude, draw)

    def urgent(self, hosts: Collection[int], now: float) -> list[int]:
        with trouble(self._path):
            if not frontier.has_urgent(self._connection):
                return []
        with self._transaction() as connection:
            return frontier.urgent(connection, hosts, now)

    def review_budgets(self, now: float) -> None:
        with self._transaction() as connection:
            connection.execute("UPDATE sites SET review = ? WHERE excess > 0", (now,))
            # Hosts that had their visits of the day are held until the next one begins, to the second.
            connection.execute(
                "UPDATE hosts SET held_until = 0, due = iif(due IS NULL, NULL, ?1) WHERE held_until = ?2",
                (now, next_day(now)),
            )

    def next_due(self, now: float) -> float:
        with trouble(self._path):
            return frontier.next_due(self._connection, now)

    def send_back(self, hosts: Sequence[int], now: float) -> None:
        with self._transaction() as connection:
            connection.executemany("UPDATE hosts SET due = max(due, ?) WHERE host = ?", [(now, host) for host in hosts])

    def load_host(self, owner: str, host: int, name: str, now: float, urls: int) -> HostLoad | None:
        with self._transaction() as connection:
            self._known.make_hosts_known(connection, [(host, f"http://{name}/")])
            return frontier.load_host(connection, owner, host, now, urls)

    def load(self, host: int, now: float, urls: int) -> list[Visit]:
        with self._transaction() as connection:
            return frontier.load(connection, host, now, urls)

    def load_all(self, hosts: Sequence[int], now: float, urls: int) -> list[tuple[int, list[Visit]]]:
        with self._transaction() as connection:
            return [(host, frontier.load(connection, host, now, urls)) for host in hosts]

    def lease(self, owner: str, visits: Sequence[Visit], now: float) -> GrantedLeases:
        with self._changes(now) as (connection, ledger):
            return frontier.lease(connection, self._known, ledger, owner, visits, now)

    def unlease(self, visits: Sequence[Visit], now: float) -> None:
        with self._changes(now) as (connection, ledger):
            frontier.unlease(connection, ledger, visits, now)

    def postpone(self, visits: Sequence[tuple[Visit, float]], reason: Reason) -> None:
        with self._transaction() as connection:
            frontier.postpone(connection, visits, reason)

    def gates(self) -> dict[str, float]:
        with trouble(self._path):
            return dict(self._connection.execute("SELECT name, next_visit FROM gates"))

    def hold(self, hosts: Sequence[tuple[int, float]]) -> None:
        with self._transaction() as connection:
            frontier.hold(connection, hosts)

    def commit(self, batch: Sequence[VisitResult], segments: Sequence[SegmentState], now: float) -> Committed:
        with self._changes(now) as (connection, ledger):
            index = self._index(connection)
            return commit.commit(connection, self._known, ledger, index, batch, segments, now, self._probe_after)

    def doubts(self, batch: Sequence[VisitResult]) -> Mapping[Key, Sequence[SimilarPage]]:
        with trouble(self._path):
            version, index = self._connection.pragma("data_version"), SimilarityIndex(self._connection, self._rule)
            found = similarity_doubts.doubts(self._connection, index, batch)
            self._looked = (version, index)
            return found

    def _index(self, connection: apsw.Connection) -> SimilarityIndex:
        """With what was looked up for this batch, unless another process has written since."""
        looked, self._looked = self._looked, None
        if looked is not None and looked[0] == connection.pragma("data_version"):
            return looked[1]
        return SimilarityIndex(connection, self._rule)

    def lessons(self, owner: str) -> list[int]:
        with trouble(self._path):
            return site_templates.lessons(self._connection, owner)

    def lesson(self, host: int) -> TemplateJob | None:
        with self._transaction() as connection:
            return site_templates.lesson(connection, host)

    def learn(self, learned: TemplateResult, now: float) -> Sequence[UndecidedPage]:
        with self._transaction() as connection:
            return site_templates.learn(connection, SimilarityIndex(connection, self._rule), learned, now)

    def decide(self, unsure: UndecidedPage, compared: Mapping[int, float], now: float) -> None:
        with self._transaction() as connection:
            site_templates.decide(connection, SimilarityIndex(connection, self._rule), unsure, compared, now)

    def rebuild_index(self) -> int:
        with self._transaction() as connection:
            return SimilarityIndex(connection, self._rule).rebuild()

    def forget_sketches(self) -> None:
        with self._transaction() as connection:
            connection.execute(
                "DELETE FROM bands; DELETE FROM sketches; DELETE FROM template_jobs; UPDATE hosts SET template = NULL"
            )

    def known_bodies(self, digests: Collection[bytes]) -> set[bytes]:
        with trouble(self._path):
            return documents.known_bodies(self._connection, digests)

    def archived_body(self, payload_digest: bytes, body_digest: bytes) -> ArchivedBody | None:
        with trouble(self._path):
            return documents.archived_body(self._connection, payload_digest, body_digest)

    def held_body(self, key: Key) -> ArchivedBody | None:
        with trouble(self._path):
            return documents.held_body(self._connection, key)

    def add_links(self, visit: Visit, links: Sequence[Link], now: float) -> Committed:
        with self._changes(now) as (connection, ledger):
            return commit.add_links(connection, self._known, ledger, visit, links, now)

    def add_listed(self, visit: Visit, listed: Sequence[ListedUrl], now: float) -> Committed:
        with self._changes(now) as (connection, ledger):
            return commit.add_listed(connection, self._known, ledger, visit, listed, now)

    def outlook(self) -> Outlook:
        with self._snapshot() as connection:
            return frontier.outlook(connection)

    def believe_no_later_than(self, latest: float) -> None:
        with self._transaction() as connection:
            frontier.believe_no_later_than(connection, latest)

    def last_commit(self) -> float | None:
        with trouble(self._path):
            last: float | None = self._connection.execute("SELECT value FROM crawl WHERE name = 'last_commit'").get
            return last

    # ── the archive's files ──

    def segments(self, slot: int | None = None) -> list[SegmentState]:
        with trouble(self._path):
            return reading.segments(self._connection, slot)

    def close_segment(self, name: str) -> None:
        with self._transaction() as connection:
            connection.execute("UPDATE segments SET closed = 1 WHERE name = ?", (name,))

    # ── reading ──

    def find_url(self, key: Key) -> UrlRow | None:
        with trouble(self._path):
            return reading.find_url(self._connection, key)

    def find_host(self, host: int, now: float) -> HostRow | None:
        with trouble(self._path):
            return reading.find_host(self._connection, host, now)

    def trust(self, host: int) -> Mapping[Source, Trust]:
        with trouble(self._path):
            return host_trust.trust_of(self._connection, host)

    def announcements(self, key: Key) -> list[FeedAnnouncement]:
        with trouble(self._path):
            return reading.announcements(self._connection, key)

    def find_site(self, host: int, now: float) -> SiteRow | None:
        with trouble(self._path):
            return reading.find_site(self._connection, host, now)

    def find_rules(self, origin: str) -> RobotsFile | None:
        with trouble(self._path):
            return reading.find_rules(self._connection, origin)

    def documents(self, key: Key) -> list[DocumentRow]:
        with trouble(self._path):
            return reading.documents(self._connection, key)

    def find_document(self, document: int) -> DocumentRow | None:
        with trouble(self._path):
            return reading.find_document(self._connection, document)

    def sketches(self) -> Iterator[Sequence[tuple[int, int, bytes]]]:
        with trouble(self._path):
            yield from similarity_index.sketches(self._connection)

    def count_sketches(self) -> int:
        with trouble(self._path):
            return similarity_index.count_sketches(self._connection)

    def sketched(self, number: int) -> SimilarPage | None:
        with self._snapshot() as connection:
            return similarity_index.sketched(connection, number)

    def template(self, host: int) -> bytes:
        with trouble(self._path):
            return similarity_index.template(self._connection, host)

    def duplicates(self, key: Key) -> list[str]:
        with trouble(self._path):
            return originals.duplicates(self._connection, key)

    def copies(self, body_digest: bytes, text_digest: bytes, most: int) -> list[DocumentRow]:
        with self._snapshot() as connection:
            return originals.copies(connection, body_digest, text_digest, most)

    def anchors(self, key: Key) -> list[tuple[str, str]]:
        with trouble(self._path):
            return reading.anchors(self._connection, key)

    def changes(self, after: int = 0) -> Iterator[tuple[str, str]]:
        with trouble(self._path):
            yield from reading.changes(self._connection, after)

    def version(self) -> int:
        with trouble(self._path):
            return reading.version(self._connection)

    def published(
        self, after: int = 0, until: int | None = None, most: int | None = None, told: int | None = None
    ) -> Iterator[PublishedChange]:
        with trouble(self._path):
            yield from reading.published(self._connection, after, until, most, told)

    def announce(self) -> int:
        told = 0
        while pending_anchors.has_some(self._connection):
            with self._transaction() as connection:
                told += pending_anchors.announce(connection)
        return told

    def has_to_announce(self) -> bool:
        with trouble(self._path):
            return pending_anchors.has_some(self._connection)

    def mark_of(self, version: int) -> str:
        with trouble(self._path):
            row = self._connection.execute("SELECT host, rest, at FROM changes WHERE version = ?", (version,)).get
        return ":".join(map(str, row)) if row is not None else ""

    def note_run(self, summary: Mapping[str, Any], now: float) -> None:
        with self._transaction() as connection:
            connection.execute("INSERT INTO runs (ended, summary) VALUES (?, ?)", (now, json.dumps(summary)))

    def runs(self) -> list[Mapping[str, Any]]:
        with trouble(self._path):
            rows: list[Any] = self._connection.execute("SELECT ended, summary FROM runs ORDER BY id").fetchall()
        return [json.loads(summary) | {"ended": ended} for ended, summary in rows]

    @contextmanager
    def survey(self) -> Iterator[Survey]:
        with self._snapshot() as connection:
            yield SqliteSurvey(connection)

    def account(self) -> CrawlAccount:
        with self._snapshot() as connection:
            return reading.account(connection)

    def count_urls(self) -> int:
        with trouble(self._path):
            known: int = self._connection.execute("SELECT coalesce(sum(known), 0) FROM hosts").get
            return known

    def size(self) -> int:
        with trouble(self._path):
            pages: int = self._connection.pragma("page_count")
            return pages * int(self._connection.pragma("page_size"))

    def check(self) -> str | None:
        with trouble(self._path):
            answer = self._connection.execute("PRAGMA integrity_check(1)").get
            return None if answer == "ok" else str(answer)

    def close(self) -> None:
        with trouble(self._path):
            self._connection.close()
