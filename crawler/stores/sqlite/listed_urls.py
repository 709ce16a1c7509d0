"""What sitemaps and feeds list becomes known, and what they say of it is kept beside it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import apsw

from crawler.frontier.priority import PriorityInputs, level_of
from crawler.frontier.trust import UNKNOWN, Source
from crawler.items import Key, Kind, Link, ListedUrl, Reason, State, Visit, Visited
from crawler.stores.sqlite.host_trust import trust_of
from crawler.stores.sqlite.ledger import HostLedger
from crawler.stores.sqlite.new_urls import VERDICT_CODES, NewUrlRow, SeenCache, id_of, verdict, whole
from crawler.urls.hosts import host_of, registered_domain

SITEMAPS_OF_A_HOST = 5_000
MOST_VOUCHERS = 20  # of a sitemap
ENTRIES_OF_A_FEED = 2_000  # that are remembered, the newest: more than any feed may have

_TELL = f"""
INSERT INTO url_facts (id, lister, lastmod, interval)
SELECT id, ?1, ?2, ?3 FROM urls WHERE host = ?4 AND rest = ?5 AND url = ?6 AND kind = {Kind.PAGE:d}
ON CONFLICT (id) DO UPDATE SET lister = excluded.lister, lastmod = excluded.lastmod,
    interval = coalesce(excluded.interval, interval)
WHERE lister IS NOT excluded.lister OR lastmod IS NOT excluded.lastmod OR interval IS NOT excluded.interval
"""

# A page that has changed since it was visited, says somebody who can be believed, is due at once.
_HURRY = f"""
UPDATE urls SET due = ?1
WHERE host = ?2 AND rest = ?3 AND url = ?4 AND kind = {Kind.PAGE:d} AND state = {State.WAITING:d} AND due > ?1 AND ?5 > visited
RETURNING host, level
"""

# What was known as a page, or was none of ours, turns out to be a list. But anybody may say so of any URL: what was visited
# as a page, or is asked for, stays what it is, and is known as a list by what is in it.
_IS_LIST = f"""
UPDATE urls SET kind = ?1, reason = iif(state = {State.PARKED:d}, ?2, reason), due = iif(state = {State.PARKED:d}, ?3, due),
                state = iif(state = {State.PARKED:d}, {State.WAITING:d}, state), detail = '', depth = min(depth, ?7)
WHERE host = ?4 AND rest = ?5 AND url = ?6
  AND (state = {State.WAITING:d} AND kind = {Kind.PAGE:d} AND visits = 0
       AND NOT EXISTS (SELECT 1 FROM seeds s WHERE s.url = ?6)
       OR state = {State.PARKED:d} AND kind IN ({Kind.PAGE:d}, ?1) AND reason IN ({VERDICT_CODES}))
RETURNING host, due, level
"""

_COUNT_SITEMAPS = f"SELECT count(*) FROM urls INDEXED BY urls_sitemaps WHERE host = ? AND kind = {Kind.SITEMAP:d}"


class ListedUrlWriter:
    """The lists of a batch. Belongs to one transaction."""

    def __init__(self, connection: apsw.Connection, known: SeenCache, ledger: HostLedger, now: float) -> None:
        self._connection = connection
        self._known = known
        self._ledger = ledger
        self._now = now
        self._told: list[tuple[object, ...]] = []
        self._changed: list[tuple[object, ...]] = []
        self._lists: list[tuple[object, ...]] = []
        # Host → whether the dates of its sitemaps, and of its feeds, are believed.
        self._trust: dict[int, tuple[bool, bool]] = {}

    def rows(self, lister: int, visited: Visited) -> list[NewUrlRow]:
        """The URLs that a visit's lists make known."""
        visit, page = visited.visit, visited.page
        rows: list[NewUrlRow] = []
        if visited.sitemaps:
            rows += self._list_rows(lister, visit.origin or visit.url, visited.sitemaps, Kind.SITEMAP, 0)
            self._vouch(visited.sitemaps, [host_of(visit.origin or visit.url)])
        if visit.kind is Kind.SITEMAP and visited.location is not None:
            self._vouch([visited.location], [host_of(visit.url), *visit.vouchers])
        if page is None:
            return rows
        if page.sitemaps:
            rows += self._list_rows(lister, visit.url, page.sitemaps, Kind.SITEMAP, visit.depth + 1)
            self._vouch(page.sitemaps, [host_of(visit.url), *visit.vouchers])
        if page.feeds:  # most pages of a site name the same ones
            feeds = [feed for feed in page.feeds if self._known.feeds.get(feed.key) != hash(feed)]
            self._known.feeds.update((feed.key, hash(feed)) for feed in feeds)
            rows += self._list_rows(lister, visit.url, feeds, Kind.FEED, visit.depth)
        if page.listed:
            rows += self.listed_rows(lister, visit, page.kind, page.listed)
        return rows

    def listed_rows(self, lister: int, visit: Visit, kind: Kind, listed: Sequence[ListedUrl]) -> list[NewUrlRow]:
        if kind is Kind.FEED:
            listed = self._announced(lister, listed)
        reason = Reason.IN_FEED if kind is Kind.FEED else Reason.IN_SITEMAP
        at, depth = whole(self._now), visit.depth + 1
        rows: list[NewUrlRow] = []
        for entry in listed:
            state, why, detail = verdict(entry.refused, reason)
            level = level_of(PriorityInputs(depth, hint=entry.hint))
            rows.append(
                NewUrlRow(
                    *(*entry.key, entry.url, state, why, Kind.PAGE, level, at, depth, 0, lister, at),
                    detail=detail,
                    hint=entry.hint,
                )
            )
        self._known.make_hosts_known(self._connection, [(entry.key.host, entry.url) for entry in listed])
        self._told += [(lister, entry.modified, entry.interval, *entry.key, entry.url) for entry in listed]
        self._changed += [
            (self._now, *entry.key, entry.url, entry.modified)
            for entry in listed
            if entry.modified is not None and self._believes(entry.key.host, kind)
        ]
        return rows

    def _list_rows(self, via: int, home: str, links: Sequence[Link], kind: Kind, depth: int) -> list[NewUrlRow]:
        reason = Reason.FEED_FILE if kind is Kind.FEED else Reason.SITEMAP_FILE
        at, level = whole(self._now), level_of(PriorityInputs(depth))
        links = self._within_reason(links) if kind is Kind.SITEMAP else links
        # What lies on another site is known as a list by what is in it, not by what somebody says of it.
        self._lists += [(kind, reason, at, *link.key, link.url, depth) for link in links if _is_near(link, home)]
        rows: list[NewUrlRow] = []
        for link in links:
            state, why, detail = verdict(link.refused, reason)
            rows.append(NewUrlRow(*link.key, link.url, state, why, kind, level, at, depth, 0, via, at, detail))
        return rows

    def _within_reason(self, sitemaps: Sequence[Link]) -> list[Link]:
        """No host has more of them than an index may name."""
        room: dict[int, int] = {}
        kept: list[Link] = []
        for link in sitemaps:
            host = link.key.host
            if host not in room:
                there: int = self._connection.execute(_COUNT_SITEMAPS, (host,)).get
                room[host] = SITEMAPS_OF_A_HOST - there
            if room[host] >= len(sitemaps) or id_of(self._connection, link.key):
                kept.append(link)
            elif room[host] > 0:
                room[host] -= 1
                kept.append(link)
        return kept

    def _vouch(self, sitemaps: Iterable[Link], vouchers: Sequence[str]) -> None:
        """Who names a sitemap on another host lets it speak for him."""
        self._connection.executemany(
            """INSERT OR IGNORE INTO vouchers SELECT ?1, ?2, ?3
               WHERE (SELECT count(*) FROM vouchers WHERE host = ?1 AND rest = ?2) < ?4""",
            [
                (*link.key, voucher, MOST_VOUCHERS)
                for link in sitemaps
                for voucher in vouchers[: MOST_VOUCHERS + 1]
                if not _is_one_site(voucher, host_of(link.url))
            ],
        )

    def _announced(self, feed: int, listed: Sequence[ListedUrl]) -> list[ListedUrl]:
        """The entries that are new or have a new date; they are kept with their words."""
        known: Any = self._connection.executemany(
            "SELECT guid, dated FROM announcements WHERE feed = ? AND guid = ?",
            [(feed, entry.guid) for entry in listed],
        )
        dates: Mapping[int, float | None] = dict(known)
        news = [
            entry
            for entry in listed
            if entry.guid not in dates or (entry.modified is not None and entry.modified > (dates[entry.guid] or 0.0))
        ]
        self._connection.executemany(
            "INSERT OR REPLACE INTO announcements VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [(feed, entry.guid, *entry.key, entry.title, entry.summary, entry.modified, self._now) for entry in news],
        )
        if news:
            self._connection.execute(
                """DELETE FROM announcements WHERE feed = ?1 AND found < (
                       SELECT found FROM announcements WHERE feed = ?1 ORDER BY found DESC LIMIT 1 OFFSET ?2)""",
                (feed, ENTRIES_OF_A_FEED - 1),
            )
        return news

    def _believes(self, host: int, kind: Kind) -> bool:
        believed = self._trust.get(host)
        if believed is None:
            trust = trust_of(self._connection, host)
            lastmod, feed = (trust.get(source, UNKNOWN) for source in (Source.LASTMOD, Source.FEED))
            believed = self._trust[host] = lastmod.believes_change, feed.believes_change
        return believed[kind is Kind.FEED]

    def write(self) -> set[int]:
        """What is said of URLs, once they all have rows; the hosts that have something to visit at once."""
        hosts: set[int] = set()
        self._all(_TELL, self._told)
        for host, level in self._all(_HURRY, self._changed):
            self._ledger.waits(host, self._now, level)
            hosts.add(host)
        for host, due, level in self._all(_IS_LIST, self._lists):
            self._ledger.waits(host, due, level)
            hosts.add(host)
        return hosts

    def _all(self, statement: str, values: Sequence[tuple[object, ...]]) -> list[Any]:
        return self._connection.executemany(statement, values).fetchall() if values else []


def _is_near(link: Link, home: str) -> bool:
    """Whether a list that may be read lies on the site of who names it."""
    if link.refused is not None:
        return False
    return _is_one_site(host_of(home), host_of(link.url))


def _is_one_site(one: str, other: str) -> bool:
    domain = registered_domain(one)
    return one == other or (domain is not None and domain == registered_domain(other))


def vouchers_of(connection: apsw.Connection, key: Key) -> list[str]:
    return [row[0] for row in connection.execute("SELECT voucher FROM vouchers WHERE host = ? AND rest = ?", key)]
