"""The role `commits` on SQLite: all effects of a batch of visits, in one transaction."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import apsw

from crawler.frontier.next_state import GONE_AFTER_MISSING
from crawler.frontier.priority import PriorityInputs, level_of
from crawler.items import (
    NO_VALIDATORS,
    Key,
    Kind,
    Link,
    Outcome,
    Page,
    Reason,
    State,
    Validators,
    Visited,
)
from crawler.stores.contract.archive import SegmentState
from crawler.stores.contract.commits import CommitSummary, CommittedVisit, EarlyUrls, LateCommit, VisitResult
from crawler.stores.sqlite import index_pages, preferred_hosts, site_templates, soft404
from crawler.stores.sqlite.database import Database
from crawler.stores.sqlite.document_rows import kind_of
from crawler.stores.sqlite.document_writer import AddedDocument, DocumentWriter
from crawler.stores.sqlite.early_urls import insert_early
from crawler.stores.sqlite.found_urls import found_rows
from crawler.stores.sqlite.host_trust import TrustObservations
from crawler.stores.sqlite.inlinks import InlinkWriter
from crawler.stores.sqlite.ledger import HostLedger
from crawler.stores.sqlite.listed_urls import ListedUrlWriter
from crawler.stores.sqlite.new_urls import LONGEST_DETAIL, insert_urls
from crawler.stores.sqlite.rows import RULES_COLUMNS, clock_values, crawl_limits_values
from crawler.stores.sqlite.similarity import SqliteSimilarity
from crawler.stores.sqlite.similarity_index import SimilarityIndex
from crawler.stores.sqlite.url_placer import UrlPlacer, learn_from_visits

# A page off topic is fetched in full each time: the topic may have changed.
_COMPLETE = frozenset({Reason.OK, Reason.NOINDEX})
_EMPTY_DIGEST = hashlib.sha256(b"").digest()


class SqliteCommits:
    """Implements `crawler.stores.contract.commits.CommitStore`."""

    def __init__(self, database: Database, similarity: SqliteSimilarity, probe_after: int) -> None:
        self._database = database
        self._similarity = similarity
        self._probe_after = probe_after

    def commit(self, batch: Sequence[VisitResult], segments: Sequence[SegmentState], now: float) -> CommitSummary:
        with self._database.changing(now) as (connection, ledger):
            index = self._similarity.index_for_commit(connection)
            return self._commit(connection, ledger, index, batch, segments, now)

    def _commit(
        self,
        connection: apsw.Connection,
        ledger: HostLedger,
        index: SimilarityIndex,
        batch: Sequence[VisitResult],
        segments: Sequence[SegmentState],
        now: float,
    ) -> CommitSummary:
        """Write 1. states of URLs and hosts, 2. documents one by one, 3. new URLs and in-links together."""
        seen_cache = self._database.seen_cache
        urls = _move_urls(connection, ledger, batch, now)
        _write_segments(connection, segments)
        _write_robots(connection, batch)
        connection.execute("INSERT OR REPLACE INTO crawl VALUES ('last_commit', ?)", (now,))
        _write_hosts(connection, ledger, batch)
        hosts = _reopen_urls(connection, ledger, batch, now)
        focus = self._database.focus
        placer = UrlPlacer(focus, seen_cache, batch) if focus is not None and seen_cache.is_focused else None
        if focus is not None:
            learn_from_visits(connection, ledger, focus, placer, batch)
        documents, observations = DocumentWriter(connection, index, batch, now), TrustObservations(connection)
        lists = ListedUrlWriter(connection, seen_cache, ledger, now)
        observations.compare_heads(batch)
        soft404.store_sketches(connection, batch)
        found = soft404.new_probes(connection, batch, self._probe_after, now)
        linked: list[tuple[int, list[Link]]] = []
        added: dict[Key, AddedDocument] = {}
        for result in batch:
            visited, url = result.visited, urls[result.visited.visit.key]
            _update_change_count(connection, ledger, observations, url, result, keeps_level=seen_cache.has_fixed_levels)
            document = documents.add(url.id, result)
            added[visited.visit.key] = document
            host = visited.visit.key.host
            links = seen_cache.drop_seen_links(host, visited.page.links) if visited.page is not None else []
            found += found_rows(
                connection, url.id, visited, links, document.original, seen_cache, now, follow=index.rule.links
            )
            found += lists.rows(url.id, visited)
            if document.original is None and links:
                linked.append((host, links))
        inserted = insert_urls(connection, seen_cache, ledger, found, placer)
        if placer is not None:
            placer.write_new(connection, ledger, inserted)
            placer.raise_waiting(connection, ledger)
        inlinks = InlinkWriter(connection, seen_cache, ledger, inserted.new, now)
        for source, links in linked:
            inlinks.add(source, links)
        inlinks.write()
        observations.write()
        index.write()
        hosts |= lists.write()
        new_links = Counter(row.via for row in inserted.new.values())
        return CommitSummary(
            new_urls=len(inserted.new),
            hosts_with_new=hosts | inserted.hosts,
            visits={key: _committed(document, new_links[urls[key].id]) for key, document in added.items()},
            template_hosts=site_templates.add_jobs(connection, batch),
        )

    def insert_early(self, batch: Sequence[VisitResult], most: int, now: float) -> EarlyUrls:
        return insert_early(self._database, self._similarity, batch, most, now)

    def last(self) -> float | None:
        with self._database.errors():
            last: float | None = self._database.connection.execute(
                "SELECT value FROM crawl WHERE name = 'last_commit'"
            ).get
            return last


def _committed(added: AddedDocument, new_links: int) -> CommittedVisit:
    original = added.original
    return CommittedVisit(
        document=added.document,
        duplicate_of=original.document if original is not None and not added.is_preferred else None,
        similarity=original.similarity if original is not None else None,
        tier=original.tier if original is not None else None,
        change=added.change,
        new_links=new_links,
    )


def _reopen_urls(connection: apsw.Connection, ledger: HostLedger, batch: Sequence[VisitResult], now: float) -> set[int]:
    """Reopen URLs that were parked in favour of a URL that is gone, and return their hosts."""
    hosts: set[int] = set()
    for host, level in index_pages.update_twins(connection, batch, now):
        ledger.add_waiting(host, now, level)
        hosts.add(host)
    return hosts | preferred_hosts.reopen(connection, ledger, batch, now)


_WRITE_FACTS = """
INSERT INTO url_facts (id, etag, last_modified, length, reused, missing, interval) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET etag = excluded.etag, last_modified = excluded.last_modified, length = excluded.length,
    reused = excluded.reused, missing = excluded.missing, interval = coalesce(excluded.interval, interval)
"""

_MOVE_URL = f"""
UPDATE urls SET state = ?, reason = ?, due = ?, tries = ?, crashes = 0, epoch = NULL, leased_host = NULL,
    visited = coalesce(?, visited), last_reason = ?, status = ?, detail = ?, visits = visits + ?, kind = ?
WHERE host = ? AND rest = ? AND state = {State.LEASED:d} AND epoch = ?
RETURNING host, rest, id, level, depth, inlinks, hint, visits, changes
"""
_LAST_BODY_DIGEST = f"""
SELECT body_digest FROM documents
WHERE host = ? AND rest = ? AND reason IN ({Reason.OK:d}, {Reason.NOINDEX:d}, {Reason.OFF_TOPIC:d}) AND status BETWEEN 200 AND 299
ORDER BY fetched DESC, id DESC LIMIT 1
"""


class _VisitedUrl(NamedTuple):
    """A visited URL, with its level before this commit and its new counts."""

    id: int
    level: int
    priority: PriorityInputs


def _move_urls(
    connection: apsw.Connection, ledger: HostLedger, batch: Sequence[VisitResult], now: float
) -> dict[Key, _VisitedUrl]:
    """Move each URL to its next state; raise `LateCommit` if one was leased under an old epoch."""
    moved = connection.executemany(_MOVE_URL, [_url_values(result, now) for result in batch])
    urls = {
        Key(host, rest): _VisitedUrl(number, level, PriorityInputs(*priority))
        for host, rest, number, level, *priority in moved
    }
    late = {result.visited.visit.key for result in batch} - set(urls)
    if late:
        raise LateCommit(late)
    for result in batch:
        if result.next_state.state is State.WAITING:
            key = result.visited.visit.key
            ledger.add_waiting(key.host, result.next_state.due, urls[key].level)
    connection.executemany(_WRITE_FACTS, [row for result in batch if (row := _facts_values(result, urls)) is not None])
    return urls


def _facts_values(result: VisitResult, urls: Mapping[Key, _VisitedUrl]) -> tuple[object, ...] | None:
    """Return the row of `url_facts` for the next visit; None if nothing changes, as after most failed first visits."""
    visited, missing = result.visited, result.next_state.missing
    visit, validators = visited.visit, _validators_after(visited, missing)
    interval = visited.page.interval if visited.page is not None else None
    if (validators, missing, interval) == (visit.validators, visit.missing, None):
        return None
    return urls[visit.key].id, *validators, missing, interval


def _update_change_count(
    connection: apsw.Connection,
    ledger: HostLedger,
    observations: TrustObservations,
    url: _VisitedUrl,
    result: VisitResult,
    *,
    keeps_level: bool,
) -> None:
    """Count a change of a page that was visited before, and update its level and the trust in its host."""
    visited = result.visited
    if url.priority.visits < 2 or visited.page is None or visited.outcome is not Outcome.FETCHED:
        return
    before = connection.execute(_LAST_BODY_DIGEST, visited.visit.key).get
    has_changed = before is not None and before != visited.page.body_digest
    if before is not None:
        observations.compare(url.id, visited, has_changed=has_changed)
    priority = url.priority._replace(changes=url.priority.changes + has_changed)
    level = url.level if keeps_level else level_of(priority)
    if has_changed or level != url.level:
        connection.execute(
            "UPDATE urls SET changes = ?, level = ? WHERE host = ? AND rest = ?",
            (priority.changes, level, *visited.visit.key),
        )
    if level != url.level and result.next_state.state is State.WAITING:
        ledger.add_waiting(visited.visit.key.host, result.next_state.due, level)


def _url_values(result: VisitResult, now: float) -> tuple[object, ...]:
    visited, after = result.visited, result.next_state
    fetched = visited.fetched
    is_visit = visited.outcome is not Outcome.PROMISING  # an answer to HEAD does not count
    ended = fetched.ended if fetched is not None else now
    return (
        after.state,
        after.reason,
        after.due or now,
        after.tries,
        ended if is_visit else None,
        visited.reason,
        fetched.status if fetched is not None else 0,
        visited.detail[:LONGEST_DETAIL],
        int(is_visit),
        kind_of(visited),
        *visited.visit.key,
        visited.visit.epoch,
    )


def _validators_after(visited: Visited, missing: int) -> Validators:
    """Return the validators for the next visit.

    There are none if the page counts as gone or has an expiry date: then it must be fetched in full.
    """
    before, page, fetched = visited.visit.validators, visited.page, visited.fetched
    if missing >= GONE_AFTER_MISSING or (page is not None and page.unavailable_after is not None):
        return NO_VALIDATORS
    if visited.outcome is Outcome.UNCHANGED:
        latest = page or Page()  # an answer to HEAD has no page
        etag, last_modified = latest.etag or before.etag, latest.last_modified or before.last_modified
        return Validators(etag, last_modified, before.length, before.reused + 1)
    if visited.outcome is Outcome.FETCHED and page is not None and fetched is not None:
        length = 0 if page.body_digest == _EMPTY_DIGEST else len(fetched.body)
        return Validators(page.etag, page.last_modified, length) if visited.reason in _COMPLETE else NO_VALIDATORS
    return before


def _write_segments(connection: apsw.Connection, segments: Sequence[SegmentState]) -> None:
    connection.executemany(
        """INSERT INTO segments (name, slot, length, records, closed) VALUES (?, ?, ?, ?, ?)
           ON CONFLICT (name) DO UPDATE SET length = excluded.length, records = excluded.records""",
        [(segment.name, segment.slot, segment.length, segment.records, segment.closed) for segment in segments],
    )


def _write_robots(connection: apsw.Connection, batch: Sequence[VisitResult]) -> None:
    connection.executemany(
        f"""INSERT INTO origins ({RULES_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
           ON CONFLICT (origin) DO UPDATE SET status = excluded.status, body = excluded.body,
               fetched = excluded.fetched, expires = excluded.expires, held_until = excluded.held_until,
               failures = excluded.failures, location = excluded.location, hops = excluded.hops,
               crawl_delay = excluded.crawl_delay, request_rate = excluded.request_rate,
               visit_time = excluded.visit_time, preferred = excluded.preferred""",
        [
            (
                rules.host,
                rules.origin,
                rules.status,
                rules.body,
                rules.fetched,
                rules.expires,
                rules.held_until,
                rules.failures,
                rules.location,
                rules.hops,
                rules.preferred,
                *crawl_limits_values(rules.crawl_limits),
            )
            for result in batch
            if (rules := result.visited.rules) is not None
        ],
    )
    connection.executemany(
        "DELETE FROM remote_robots WHERE origin = ?",
        [(rules.origin,) for result in batch if (rules := result.visited.rules) is not None],
    )


def _write_hosts(connection: apsw.Connection, ledger: HostLedger, batch: Sequence[VisitResult]) -> None:
    connection.executemany(
        """UPDATE hosts SET next_visit = ?1, held_until = ?2, crawl_delay = ?3, request_rate = ?4, visit_time = ?5,
                  backoff = ?6, latency = ?7, last_end = ?8, last_bytes = ?9,
                  due = CASE WHEN due IS NULL THEN NULL ELSE max(due, ?2) END
           WHERE host = ?10""",
        [(*clock_values(clock), host) for result in batch for host, clock in result.clocks.items()],
    )
    connection.executemany(
        """UPDATE hosts SET visits = visits + ?, pages = pages + ?, failures = failures + ?, bytes = bytes + ?,
                  address = coalesce(nullif(?, ''), address)
           WHERE host = ?""",
        [_host_counts(result.visited) for result in batch],
    )
    for result in batch:
        visit, fetched = result.visited.visit, result.visited.fetched
        if visit.kind is not Kind.ROBOTS and (fetched is None or not fetched.was_sent):
            ledger.uncount_visit(visit.host_key)
    connection.executemany(
        """INSERT INTO gates VALUES (?1, ?2, ?3)
           ON CONFLICT (name) DO UPDATE SET next_visit = max(next_visit, ?2), rest = ?3""",
        [(name, *times) for result in batch for name, times in result.gates.items()],
    )


def _host_counts(visited: Visited) -> tuple[int, int, int, int, str, int]:
    fetched = visited.fetched
    return (
        int(fetched is not None and fetched.was_sent),
        int(visited.outcome is Outcome.FETCHED and visited.visit.kind is Kind.PAGE),
        int(visited.outcome is Outcome.FAILED),
        len(fetched.body) + len(fetched.head) if fetched is not None else 0,
        fetched.address if fetched is not None else "",
        visited.visit.host_key,
    )
