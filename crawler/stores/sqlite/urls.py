"""The role `urls` on SQLite: URLs, hosts and sites are added and looked up."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice

import apsw

from crawler.frontier.budgets import day_of, next_day
from crawler.frontier.trust import Source, Trust
from crawler.items import NO_VALIDATORS, Key, Kind, Reason, RobotsFile, State, Validators
from crawler.stores.contract.urls import (
    FeedAnnouncement,
    HostRow,
    Judge,
    NewUrl,
    ScopeReview,
    SiteRow,
    UrlRow,
    VisitChoice,
    WithoutHold,
)
from crawler.stores.sqlite import due_again, scope
from crawler.stores.sqlite.database import Database
from crawler.stores.sqlite.host_trust import trust_of
from crawler.stores.sqlite.ledger import HostLedger
from crawler.stores.sqlite.new_urls import add_seeds, insert_urls, make_urgent, new_url_row
from crawler.stores.sqlite.rows import CLOCK_COLUMNS, RULES_COLUMNS, clock_of, rules_of

_ADD_BATCH = 20_000  # URLs a transaction when a long list is added: other writers wait about a second

_FIND_URL = """
SELECT u.url, u.state, u.reason, u.kind, u.level, u.step, u.due, u.depth, u.hops, u.tries, u.crashes, v.url,
       u.found, u.visited, u.last_reason, u.status, u.detail, u.visits, u.changes, u.hint,
       max(u.inlinks, (SELECT count(DISTINCT a.site) FROM anchors a JOIN hosts h ON h.host = a.host
                       WHERE a.host = u.host AND a.rest = u.rest AND a.site <> h.site)),
       coalesce(f.missing, 0), l.url, f.lastmod, f.interval, f.etag, f.last_modified, f.length, f.reused
FROM urls u LEFT JOIN urls v ON v.id = u.via LEFT JOIN url_facts f ON f.id = u.id LEFT JOIN urls l ON l.id = f.lister
WHERE u.host = ? AND u.rest = ?
"""

_FIRST_KEY = -(1 << 63)  # of hosts and sites
_Add = Callable[[apsw.Connection, HostLedger, Sequence[NewUrl]], int]


class SqliteUrls:
    """Implements `crawler.stores.contract.urls.UrlStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, urls: Iterable[NewUrl], now: float) -> int:
        def add(connection: apsw.Connection, ledger: HostLedger, batch: Sequence[NewUrl]) -> int:
            rows = [new_url_row(connection, url, now) for url in batch]
            return len(insert_urls(connection, self._database.seen_cache, ledger, rows).new)

        return self._in_batches(urls, add, now)

    def add_seeds(self, urls: Iterable[NewUrl], now: float, *, urgent: bool = False) -> int:
        def add(connection: apsw.Connection, ledger: HostLedger, batch: Sequence[NewUrl]) -> int:
            new = add_seeds(connection, self._database.seen_cache, ledger, batch, now)
            if urgent:
                make_urgent(connection, ledger, batch)
            return new

        return self._in_batches(urls, add, now)

    def _in_batches(self, urls: Iterable[NewUrl], add: _Add, now: float) -> int:
        new, source = 0, iter(urls)
        while batch := list(islice(source, _ADD_BATCH)):
            with self._database.changing(now) as (connection, ledger):
                new += add(connection, ledger, batch)
        return new

    def count_chosen(self, choice: VisitChoice, host: int | None, now: float) -> int:
        with self._database.errors():
            return due_again.count_chosen(self._database.connection, choice, host, now)

    def make_due(self, choice: VisitChoice, host: int | None, now: float, without_hold: WithoutHold) -> int:
        self._end_holds(host, now, without_hold)
        count, after = 0, 0
        while True:
            with self._database.changing(now) as (connection, ledger):
                last, made = due_again.make_due(connection, ledger, choice, host, now, after)
            count += made
            if last is None:
                return count
            after = last

    def _end_holds(self, host: int | None, now: float, without_hold: WithoutHold) -> None:
        start: int | None = _FIRST_KEY
        while start is not None:
            with self._database.transaction() as connection:
                start = due_again.end_holds(connection, host, now, without_hold, start)
        after: str | None = ""
        while after is not None:
            with self._database.transaction() as connection:
                after = due_again.expire_robots(connection, host, now, after)

    def seeds(self, after: int = 0) -> Iterator[tuple[int, str]]:
        with self._database.errors():
            yield from self._database.connection.execute(
                "SELECT serial, url FROM seeds WHERE serial > ? ORDER BY serial", (after,)
            )

    def review_scope(self, judge: Judge, now: float, site: str | None = None) -> ScopeReview:
        with self._database.errors():
            hosts = [None] if site is None else scope.hosts_of_site(self._database.connection, site)
        parts = [part for host in hosts for part in self._scope_reviews(judge, now, host)]
        return ScopeReview(opened=sum(part.opened for part in parts), closed=sum(part.closed for part in parts))

    def _scope_reviews(self, judge: Judge, now: float, host: int | None) -> Iterator[ScopeReview]:
        """Review one host, or all, in short transactions."""
        after: float | None = -math.inf
        while after is not None:
            with self._database.changing(now) as (connection, ledger):
                after, part = scope.review(connection, ledger, judge, now, host, after)
            yield part

    def review_budgets(self, now: float) -> None:
        self._in_slices(
            "SELECT site FROM sites WHERE site >= ?1 AND excess > 0 ORDER BY 1",
            "UPDATE sites SET review = ?1 WHERE site = ?2",
            now,
        )
        # A host whose daily budget is spent is held until exactly the next day begins.
        self._in_slices(
            f"SELECT host FROM hosts WHERE host >= ?1 AND held_until = {next_day(now)!r} ORDER BY 1",
            "UPDATE hosts SET held_until = 0, due = iif(due IS NULL, NULL, ?1) WHERE host = ?2",
            now,
        )

    def _in_slices(self, choose: str, change: str, now: float) -> None:
        """Change rows in short transactions: those whose keys, from the first parameter on, a statement returns."""
        start, is_last = _FIRST_KEY, False
        while not is_last:
            with self._database.transaction() as connection:
                keys = [key for (key,) in connection.execute(f"{choose} LIMIT {due_again.SLICE}", (start,))]
                connection.executemany(change, [(now, key) for key in keys])
            is_last = len(keys) < due_again.SLICE
            start = keys[-1] + 1 if keys else start

    def collisions(self, key: Key) -> list[str]:
        with self._database.errors():
            rows = self._database.connection.execute("SELECT url FROM collisions WHERE host = ? AND rest = ?", key)
            return [url for (url,) in rows]

    def find(self, key: Key) -> UrlRow | None:
        with self._database.errors():
            row = self._database.connection.execute(_FIND_URL, key).get
        if row is None:
            return None
        url, state, reason, kind, level, step, due, depth, hops, tries, crashes, via, *row = row
        found, visited, last_reason, status, detail, visits, changes, hint, inlinks, *row = row
        missing, lister, lastmod, interval, *validators = row
        return UrlRow(
            key=key,
            url=url,
            state=State(state),
            reason=Reason(reason),
            kind=Kind(kind),
            level=level,
            step=step,
            due=due,
            depth=depth,
            hops=hops,
            tries=tries,
            crashes=crashes,
            via=via,
            found=found,
            visited=visited,
            last_reason=Reason(last_reason) if last_reason is not None else None,
            status=status,
            detail=detail,
            visits=visits,
            changes=changes,
            hint=hint,
            inlinks=inlinks,
            missing=missing,
            lister=lister,
            lastmod=lastmod,
            interval=interval,
            validators=Validators(*validators) if validators[2] is not None else NO_VALIDATORS,
        )

    def find_host(self, host: int, now: float) -> HostRow | None:
        with self._database.errors():
            row = self._database.connection.execute(
                f"""SELECT name, partition, address, known, visits, pages, failures, bytes, admitted, excess,
                           iif(day = ?1, admitted_today, 0), iif(day = ?1, visits_today, 0), soft404, {CLOCK_COLUMNS}
                    FROM hosts WHERE host = ?2""",
                (day_of(now), host),
            ).get
        if row is None:
            return None
        name, partition, address, known, visits, pages, failures, size, *row = row
        admitted, excess, admitted_today, visits_today, soft404, *clock = row
        return HostRow(
            host=host,
            name=name,
            partition=partition,
            address=address,
            known=known,
            visits=visits,
            pages=pages,
            failures=failures,
            bytes=size,
            admitted=admitted,
            excess=excess,
            admitted_today=admitted_today,
            visits_today=visits_today,
            soft404=None if soft404 is None else bool(soft404),
            clock=clock_of(clock),
        )

    def find_site(self, host: int, now: float) -> SiteRow | None:
        with self._database.errors():
            row = self._database.connection.execute(
                """SELECT s.name, s.seeded, s.endorsers, s.admitted, s.excess,
                          iif(s.day = ?1, s.admitted_today, 0), iif(s.day = ?1, s.visits_today, 0)
                   FROM sites s JOIN hosts h ON h.site = s.site WHERE h.host = ?2""",
                (day_of(now), host),
            ).get
        if row is None:
            return None
        name, seeded, endorsers, admitted, excess, admitted_today, visits_today = row
        return SiteRow(
            name=name,
            seeded=bool(seeded),
            endorsers=endorsers,
            admitted=admitted,
            excess=excess,
            admitted_today=admitted_today,
            visits_today=visits_today,
        )

    def find_robots(self, origin: str) -> RobotsFile | None:
        with self._database.errors():
            row = self._database.connection.execute(
                f"SELECT {RULES_COLUMNS} FROM origins WHERE origin = ?", (origin,)
            ).get
        return rules_of(row) if row is not None else None

    def trust(self, host: int) -> Mapping[Source, Trust]:
        with self._database.errors():
            return trust_of(self._database.connection, host)

    def announcements(self, key: Key) -> list[FeedAnnouncement]:
        with self._database.errors():
            rows = self._database.connection.execute(
                """SELECT f.url, a.title, a.summary, a.dated FROM announcements a JOIN urls f ON f.id = a.feed
                   WHERE a.host = ? AND a.rest = ? ORDER BY a.found DESC""",
                key,
            )
            return [
                FeedAnnouncement(feed=feed, title=title, summary=summary, dated=dated)
                for feed, title, summary, dated in rows
            ]

    def count(self) -> int:
        with self._database.errors():
            known: int = self._database.connection.execute("SELECT coalesce(sum(known), 0) FROM hosts").get
            return known
