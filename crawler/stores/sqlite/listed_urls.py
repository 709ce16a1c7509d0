"""URLs that sitemaps and feeds list are added, with the dates and intervals that the lists state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import apsw

from crawler.frontier.priority import PriorityInputs, level_of
from crawler.frontier.trust import UNKNOWN, Source
from crawler.items import Key, Kind, Link, ListedUrl, Reason, State, Visit, Visited
from crawler.stores.sqlite.host_trust import trust_of
from crawler.stores.sqlite.ledger import HostLedger
from crawler.stores.sqlite.new_urls import SCOPE_CODES, NewUrlRow, SeenCache, initial_state, url_id, whole_second
from crawler.urls.hosts import host_of, registered_domain

SITEMAPS_PER_HOST = 5_000
VOUCHERS_PER_SITEMAP = 20
ENTRIES_PER_FEED = 2_000  # the newest, which are stored: more than any feed may have

_WRITE_FACTS = f"""
INSERT INTO url_facts (id, lister, lastmod, interval)
SELECT id, ?1, ?2, ?3 FROM urls WHERE host = ?4 AND rest = ?5 AND url = ?6 AND kind = {Kind.PAGE:d}
ON CONFLICT (id) DO UPDATE SET lister = excluded.lister, lastmod = excluded.lastmod,
    interval = coalesce(excluded.interval, interval)
WHERE lister IS NOT excluded.lister OR lastmod IS NOT excluded.lastmod OR interval IS NOT excluded.interval
"""

# A page is due at once if a trusted list states that it has changed since its last visit.
_MAKE_DUE = f"""
UPDATE urls SET due = ?1
WHERE host = ?2 AND rest = ?3 AND url = ?4 AND kind = {Kind.PAGE:d} AND state = {State.WAITING:d}
  AND due > ?1 AND ?5 > visited
RETURNING host, level
"""

# A URL that was found as a page, or was out of scope, is named as a sitemap or feed. Any page may name any URL, so one
# that was visited as a page, or is a seed, keeps its kind until its content shows that it is a list.
_MAKE_LIST = f"""
UPDATE urls SET kind = ?1, reason = iif(state = {State.PARKED:d}, ?2, reason),
                due = iif(state = {State.PARKED:d}, ?3, due),
                state = iif(state = {State.PARKED:d}, {State.WAITING:d}, state), detail = '', depth = min(depth, ?7)
WHERE host = ?4 AND rest = ?5 AND url = ?6
  AND (state = {State.WAITING:d} AND kind = {Kind.PAGE:d} AND visits = 0
       AND NOT EXISTS (SELECT 1 FROM seeds s WHERE s.url = ?6)
       OR state = {State.PARKED:d} AND kind IN ({Kind.PAGE:d}, ?1) AND reason IN ({SCOPE_CODES}))
RETURNING host, due, level
"""

_COUNT_SITEMAPS = f"SELECT count(*) FROM urls INDEXED BY urls_sitemaps WHERE host = ? AND kind = {Kind.SITEMAP:d}"


class ListedUrlWriter:
    """Collects what the lists of a batch state, and writes it at its end. It belongs to one transaction."""

    def __init__(self, connection: apsw.Connection, seen_cache: SeenCache, ledger: HostLedger, now: float) -> None:
        self._connection = connection
        self._seen_cache = seen_cache
        self._ledger = ledger
        self._now = now
        self._facts: list[tuple[object, ...]] = []
        self._stated_changes: list[tuple[object, ...]] = []
        self._lists: list[tuple[object, ...]] = []
        # Host → whether the dates of its sitemaps, and those of its feeds, are trusted.
        self._trust: dict[int, tuple[bool, bool]] = {}

    def rows(self, lister: int, visited: Visited) -> list[NewUrlRow]:
        """Return rows for the URLs that a visit found in lists, and for the sitemaps and feeds that it names."""
        visit, page = visited.visit, visited.page
        rows: list[NewUrlRow] = []
        if visited.sitemaps:
            rows += self._list_rows(lister, visit.origin or visit.url, visited.sitemaps, Kind.SITEMAP, 0)
            self._add_vouchers(visited.sitemaps, [host_of(visit.origin or visit.url)])
        if visit.kind is Kind.SITEMAP and visited.location is not None:
            self._add_vouchers([visited.location], [host_of(visit.url), *visit.vouchers])
        if page is None:
            return rows
        if page.sitemaps:
            rows += self._list_rows(lister, visit.url, page.sitemaps, Kind.SITEMAP, visit.depth + 1)
            self._add_vouchers(page.sitemaps, [host_of(visit.url), *visit.vouchers])
        if page.feeds:  # most pages of a site name the same ones
            feeds = [feed for feed in page.feeds if self._seen_cache.feeds.get(feed.key) != hash(feed)]
            self._seen_cache.feeds.update((feed.key, hash(feed)) for feed in feeds)
            rows += self._list_rows(lister, visit.url, feeds, Kind.FEED, visit.depth)
        if page.listed:
            rows += self.listed_rows(lister, visit, page.kind, page.listed)
        return rows

    def listed_rows(self, lister: int, visit: Visit, kind: Kind, listed: Sequence[ListedUrl]) -> list[NewUrlRow]:
        """Return rows for the URLs in a list, and collect what it states about them."""
        if kind is Kind.FEED:
            listed = self._new_entries(lister, listed)
        reason = Reason.IN_FEED if kind is Kind.FEED else Reason.IN_SITEMAP
        at, depth = whole_second(self._now), visit.depth + 1
        rows: list[NewUrlRow] = []
        for entry in listed:
            state, initial_reason, detail = initial_state(entry.refused, reason)
            level = level_of(PriorityInputs(depth, hint=entry.hint))
            rows.append(
                NewUrlRow(
                    *(*entry.key, entry.url, state, initial_reason, Kind.PAGE, level, at, depth, 0, lister, at),
                    detail=detail,
                    hint=entry.hint,
                )
            )
        self._seen_cache.add_hosts(self._connection, [(entry.key.host, entry.url) for entry in listed])
        self._facts += [(lister, entry.modified, entry.interval, *entry.key, entry.url) for entry in listed]
        self._stated_changes += [
            (self._now, *entry.key, entry.url, entry.modified)
            for entry in listed
            if entry.modified is not None and self._trusts_dates(entry.key.host, kind)
        ]
        return rows

    def _list_rows(self, via: int, named_by: str, links: Sequence[Link], kind: Kind, depth: int) -> list[NewUrlRow]:
        reason = Reason.FEED_FILE if kind is Kind.FEED else Reason.SITEMAP_FILE
        at, level = whole_second(self._now), level_of(PriorityInputs(depth))
        links = self._limit_sitemaps(links) if kind is Kind.SITEMAP else links
        # A URL on another site keeps its kind until its content shows that it is a list.
        self._lists += [
            (kind, reason, at, *link.key, link.url, depth) for link in links if _is_own_list(link, named_by)
        ]
        rows: list[NewUrlRow] = []
        for link in links:
            state, initial_reason, detail = initial_state(link.refused, reason)
            rows.append(
                NewUrlRow(*link.key, link.url, state, initial_reason, kind, level, at, depth, 0, via, at, detail)
            )
        return rows

    def _limit_sitemaps(self, sitemaps: Sequence[Link]) -> list[Link]:
        """Drop sitemaps of hosts that have `SITEMAPS_PER_HOST` already."""
        room: dict[int, int] = {}
        allowed: list[Link] = []
        for link in sitemaps:
            host = link.key.host
            if host not in room:
                count: int = self._connection.execute(_COUNT_SITEMAPS, (host,)).get
                room[host] = SITEMAPS_PER_HOST - count
            if room[host] >= len(sitemaps) or url_id(self._connection, link.key):
                allowed.append(link)
            elif room[host] > 0:
                room[host] -= 1
                allowed.append(link)
        return allowed

    def _add_vouchers(self, sitemaps: Iterable[Link], vouchers: Sequence[str]) -> None:
        """Record the hosts that name sitemaps on another site: these may list URLs of those hosts."""
        self._connection.executemany(
            """INSERT OR IGNORE INTO vouchers SELECT ?1, ?2, ?3
               WHERE (SELECT count(*) FROM vouchers WHERE host = ?1 AND rest = ?2) < ?4""",
            [
                (*link.key, voucher, VOUCHERS_PER_SITEMAP)
                for link in sitemaps
                for voucher in vouchers[: VOUCHERS_PER_SITEMAP + 1]
                if not _is_same_site(voucher, host_of(link.url))
            ],
        )

    def _new_entries(self, feed: int, listed: Sequence[ListedUrl]) -> list[ListedUrl]:
        """Return the entries of a feed that are new or have a later date, and store them with title and summary."""
        stored: Any = self._connection.executemany(
            "SELECT guid, dated FROM announcements WHERE feed = ? AND guid = ?",
            [(feed, entry.guid) for entry in listed],
        )
        dates: Mapping[int, float | None] = dict(stored)
        new = [
            entry
            for entry in listed
            if entry.guid not in dates or (entry.modified is not None and entry.modified > (dates[entry.guid] or 0.0))
        ]
        self._connection.executemany(
            "INSERT OR REPLACE INTO announcements VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [(feed, entry.guid, *entry.key, entry.title, entry.summary, entry.modified, self._now) for entry in new],
        )
        if new:
            self._connection.execute(
                """DELETE FROM announcements WHERE feed = ?1 AND found < (
                       SELECT found FROM announcements WHERE feed = ?1 ORDER BY found DESC LIMIT 1 OFFSET ?2)""",
                (feed, ENTRIES_PER_FEED - 1),
            )
        return new

    def _trusts_dates(self, host: int, kind: Kind) -> bool:
        trusted = self._trust.get(host)
        if trusted is None:
            trust = trust_of(self._connection, host)
            lastmod, feed = (trust.get(source, UNKNOWN) for source in (Source.LASTMOD, Source.FEED))
            trusted = self._trust[host] = lastmod.believes_change, feed.believes_change
        return trusted[kind is Kind.FEED]

    def write(self) -> set[int]:
        """Write what lists state about URLs, once these are inserted; return the hosts that have URLs due at once."""
        hosts: set[int] = set()
        self._write_all(_WRITE_FACTS, self._facts)
        for host, level in self._write_all(_MAKE_DUE, self._stated_changes):
            self._ledger.add_waiting(host, self._now, level)
            hosts.add(host)
        for host, due, level in self._write_all(_MAKE_LIST, self._lists):
            self._ledger.add_waiting(host, due, level)
            hosts.add(host)
        return hosts

    def _write_all(self, statement: str, values: Sequence[tuple[object, ...]]) -> list[Any]:
        return self._connection.executemany(statement, values).fetchall() if values else []


def _is_own_list(link: Link, named_by: str) -> bool:
    """Whether a list may be visited and lies on the site of the page that names it."""
    if link.refused is not None:
        return False
    return _is_same_site(host_of(named_by), host_of(link.url))


def _is_same_site(one: str, other: str) -> bool:
    domain = registered_domain(one)
    return one == other or (domain is not None and domain == registered_domain(other))


def vouchers_of(connection: apsw.Connection, key: Key) -> list[str]:
    """Return the hosts that name a sitemap on another site."""
    return [row[0] for row in connection.execute("SELECT voucher FROM vouchers WHERE host = ? AND rest = ?", key)]
