"""New URLs are inserted, from links, seeds or lists: each once, and within the budgets of its host and site."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import count
from typing import Any, NamedTuple, Protocol

import apsw

from crawler.frontier.priority import PriorityInputs, level_of
from crawler.items import Key, Kind, Link, Reason, Refusal, State
from crawler.stores.contract.partitions import PARTITIONS
from crawler.stores.contract.urls import NewUrl
from crawler.stores.sqlite.index_pages import fetched_twin, park_twins
from crawler.stores.sqlite.ledger import HostLedger
from crawler.urls.hosts import host_of, partition_of, registered_domain, reversed_name
from crawler.urls.keys import host_key
from crawler.urls.scope import SCOPE_REASONS

logger = logging.getLogger(__name__)


class NewUrlRow(NamedTuple):
    """A row to insert into `urls` if it is new; the fields are its columns."""

    host: int
    rest: int
    url: str
    state: int
    reason: int
    kind: int
    level: int
    due: float
    depth: int
    hops: int
    via: int | None
    found: float
    detail: str = ""
    inlinks: int = 0
    hint: float | None = None
    step: int = 0

    @property
    def key(self) -> tuple[int, int]:
        return self[:2]


_INSERT_URL = f"""
INSERT INTO urls ({", ".join(NewUrlRow._fields)}) VALUES ({", ".join("?" * len(NewUrlRow._fields))})
ON CONFLICT (host, rest) DO NOTHING
"""

# A URL that was parked for its depth may be reached again by a shorter path.
_REOPEN_TOO_FAR = f"""
UPDATE urls SET state = {State.WAITING:d}, reason = ?, level = ?, due = ?, depth = ?, hops = ?, via = ?, detail = ''
WHERE host = ? AND rest = ? AND url = ? AND state = {State.PARKED:d} AND reason = {Reason.TOO_FAR:d}
RETURNING host, due, level
"""

# Reasons of URLs that were discovered by the crawl; budgets do not limit those that a user requested.
DISCOVERED = frozenset(
    {
        *(Reason.LINK, Reason.REDIRECT_TARGET, Reason.IN_SITEMAP, Reason.IN_FEED),
        *(Reason.SITEMAP_FILE, Reason.FEED_FILE),
    }
)
SCOPE_CODES = ",".join(str(int(reason)) for reason in sorted(SCOPE_REASONS))
LONGEST_DETAIL = 500
FIFO_STEP = 1e-6  # seconds between the due times of URLs that were found together, so that they keep their order

# A URL that waits for a first visit becomes a seed, and so does one that was parked by the scope, a budget or a twin.
_MAKE_SEED = f"""
UPDATE urls SET reason = ?1, due = CASE state WHEN {State.PARKED:d} THEN ?2 ELSE due END, state = {State.WAITING:d},
    depth = 0, level = 0, detail = ''
WHERE host = ?3 AND rest = ?4 AND url = ?5 AND kind <> {Kind.ROBOTS:d}
  AND (state = {State.PARKED:d} AND reason IN ({SCOPE_CODES}, ?6, ?7) OR state = {State.WAITING:d} AND visits = 0)
RETURNING due
"""
_MAKE_URGENT = f"""
UPDATE urls SET due = 0, level = 0, depth = 0, reason = ?
WHERE host = ? AND rest = ? AND url = ? AND state = {State.WAITING:d} AND kind <> {Kind.ROBOTS:d} RETURNING host
"""


class SeenCache:
    """A cache of rows that certainly exist, so that links need not be looked up one by one: most are known already."""

    def __init__(
        self,
        group_of: Callable[[str], str] | None = None,
        hosts: int = 100_000,
        urls: int = 200_000,
        anchors: int = 200_000,
    ) -> None:
        self.group_of = group_of or (lambda name: "")  # host name → its politeness group, or nothing
        self.is_fifo = False  # the URLs of this crawl have one level, and are visited in the order found
        self.urls: dict[tuple[int, int], int] = {}  # key → hash of the URL: another URL may have the same key
        self.links: dict[int, int] = {}  # links of hosts: mark combined with the host → second half of the target's key
        self.anchor_counts: dict[Key, int] = {}  # by target; never too low
        self.endorsements: set[int] = set()  # hashes of (site, linking site)
        self.feeds: dict[Key, int] = {}  # feeds that have a row → hash of the link
        self.places: dict[tuple[int, int], int] = {}  # of a focused crawl: the best place that a link has given a URL
        self.is_focused = False  # the worth of links decides the levels of URLs
        self._sites: dict[int, int] = {}  # host → site
        self._most = (hosts, urls, anchors, urls, anchors, hosts, urls)
        self._has_too_far = False

    @property
    def has_fixed_levels(self) -> bool:
        """Whether in-links and changes do not decide the levels of URLs."""
        return self.is_fifo or self.is_focused

    def add_hosts(self, connection: apsw.Connection, urls: Iterable[tuple[int, str]]) -> None:
        """Insert the hosts, each given as (fingerprint, any URL of it), and their sites."""
        new = {host: url for host, url in urls if host not in self._sites}
        if not new:
            return
        names = {host: host_of(url) for host, url in new.items()}
        sites = {host: registered_domain(name) or name for host, name in names.items()}
        keys = {host: self.group_of(name) or name for host, name in names.items()}
        connection.executemany(
            """INSERT INTO hosts (host, name, reversed, politeness_key, partition, site) VALUES (?, ?, ?, ?, ?, ?)
               ON CONFLICT (host) DO NOTHING""",
            [
                (
                    host,
                    name,
                    reversed_name(name),
                    keys[host],
                    partition_of(keys[host], PARTITIONS),
                    host_key(sites[host]),
                )
                for host, name in names.items()
            ],
        )
        connection.executemany(
            "INSERT INTO sites (site, name) VALUES (?, ?) ON CONFLICT (site) DO NOTHING",
            [(host_key(name), name) for name in set(sites.values())],
        )
        self._sites.update((host, host_key(name)) for host, name in sites.items())

    def site_of(self, connection: apsw.Connection, host: int) -> int:
        """Return the site of a host that has a row."""
        site = self._sites.get(host)
        if site is None:
            site = connection.execute("SELECT site FROM hosts WHERE host = ?", (host,)).get
            self._sites[host] = site
        return site

    def drop_seen_links(self, source: int, links: Sequence[Link]) -> list[Link]:
        """Skip links that are recorded for this host already: usually most of them."""
        links_of_hosts = self.links
        return [
            link
            for link in links
            if links_of_hosts.get(link[4] ^ source) != link[0][1]
            or (link[3] is not None and link[3].reason is Reason.TOO_FAR)  # it may be reached by a shorter path
        ]

    def has_too_far(self, connection: apsw.Connection, rows: Iterable[NewUrlRow]) -> bool:
        """Whether any URL was ever too far from the seeds; most crawls have no limit of depth."""
        if not self._has_too_far:  # another worker may have found one
            self._has_too_far = connection.execute("SELECT 1 FROM crawl WHERE name = 'too_far'").get is not None
        if not self._has_too_far and any(row.reason == Reason.TOO_FAR for row in rows):
            connection.execute("INSERT INTO crawl VALUES ('too_far', 1)")
            self._has_too_far = True
        return self._has_too_far

    def trim(self) -> None:
        """Clear parts that have grown too large."""
        parts: list[set[Any] | dict[Any, int]] = [
            *(self._sites, self.urls, self.links, self.anchor_counts, self.endorsements, self.feeds, self.places)
        ]
        for part, most in zip(parts, self._most, strict=True):
            if len(part) > most:
                part.clear()

    def clear(self) -> None:
        """Clear the cache after a rollback, which may have removed rows."""
        self._sites.clear()
        self.urls.clear()
        self.links.clear()
        self.endorsements.clear()
        self.anchor_counts.clear()
        self.feeds.clear()
        self.places.clear()
        self._has_too_far = False


def whole_second(now: float) -> float:
    """Round a time down to the second: it takes half the bytes on the disk."""
    return float(int(now))


def url_id(connection: apsw.Connection, key: Key) -> int:
    """Return the number of a URL in `urls`; 0 if it is not known."""
    number: int | None = connection.execute("SELECT id FROM urls WHERE host = ? AND rest = ?", key).get
    return number or 0


def new_url_row(connection: apsw.Connection, url: NewUrl, now: float) -> NewUrlRow:
    """Return the row to insert for a URL."""
    is_parked = url.refused is not None or url.kind is Kind.ROBOTS
    found = whole_second(now)
    return NewUrlRow(
        *url.key,
        url=url.url,
        state=State.PARKED if is_parked else State.WAITING,
        reason=url.refused.reason if url.refused is not None else url.reason,
        kind=url.kind,
        level=level_of(PriorityInputs(url.depth, hint=url.hint)),
        due=found,
        depth=url.depth,
        hops=url.hops,
        via=url_id(connection, url.via) if url.via is not None else None,
        found=found,
        detail=url.refused.detail[:LONGEST_DETAIL] if url.refused is not None else "",
        hint=url.hint,
    )


def initial_state(refused: Refusal | None, reason: Reason) -> tuple[State, Reason, str]:
    """Return state, reason and detail of a new URL: parked if it is refused."""
    if refused is None:
        return State.WAITING, reason, ""
    return State.PARKED, refused.reason, refused.detail[:LONGEST_DETAIL]


class InsertedUrls(NamedTuple):
    """The result of an insertion."""

    new: Mapping[tuple[int, int], NewUrlRow]  # by key
    hosts: set[int]  # hosts with new URLs to visit
    last_before: int = 0  # the highest number of a URL before
    is_complete: bool = False  # all rows were new

    def numbers(self, connection: apsw.Connection) -> dict[tuple[int, int], int]:
        """Return the numbers of the new URLs."""
        if self.is_complete:
            return dict(zip(self.new, count(self.last_before + 1), strict=False))
        if not self.new:
            return {}
        rows: Any = connection.execute("SELECT host, rest, id FROM urls WHERE id > ?", (self.last_before,))
        return {(host, rest): number for host, rest, number in rows}


class Placing(Protocol):
    """Decides where new URLs of a focused crawl wait."""

    def placed(self, rows: Mapping[tuple[int, int], NewUrlRow]) -> dict[tuple[int, int], NewUrlRow]:
        """Return rows with their levels and steps."""


def insert_urls(
    connection: apsw.Connection,
    seen_cache: SeenCache,
    ledger: HostLedger,
    rows: Sequence[NewUrlRow],
    placing: Placing | None = None,
) -> InsertedUrls:
    """Insert the URLs that are new; those that exceed a budget, or whose twin was fetched, are parked."""
    if not rows:
        return InsertedUrls({}, set())
    if seen_cache.is_fifo:
        rows = [
            row._replace(level=0, due=ledger.now + number * FIFO_STEP if row.state == State.WAITING else row.due)
            for number, row in enumerate(rows)
        ]
    seen_cache.add_hosts(connection, [(row.host, row.url) for row in rows])
    if any(row.reason == Reason.TOO_FAR for row in rows):  # another path of the batch may be short enough
        rows = sorted(rows, key=lambda row: row.reason == Reason.TOO_FAR)
    first: dict[tuple[int, int], NewUrlRow] = {}
    colliding = [row for row in rows if first.setdefault(row.key, row).url != row.url]
    if placing is not None:
        first = placing.placed(first)
    has_room = all(ledger.has_room(host, len(first)) for host in {row.host for row in rows})
    last: int = connection.execute("SELECT coalesce(max(id), 0) FROM urls").get
    new = _insert_new(
        connection, last, first if has_room else {key: _within_budget(row, ledger) for key, row in first.items()}
    )
    if len(new) < len(first):
        colliding += _with_taken_keys(connection, [row for key, row in first.items() if key not in new])
    hosts = _admit(connection, ledger, new.values(), has_room=has_room)
    if seen_cache.has_too_far(connection, first.values()):
        for host, due, level in connection.executemany(
            _REOPEN_TOO_FAR,
            [_reopen_values(row) for row in first.values() if not row.state and ledger.has_room(row.host)],
        ):
            ledger.admit(host, force=True)
            ledger.add_waiting(host, due, level)
            hosts.add(host)
    collided = _record_collisions(connection, colliding)
    seen_cache.urls.update(
        [
            (key, hash(row.url))
            for key, row in first.items()
            if row.reason != Reason.TOO_FAR  # a shorter path may lead to it
            and (not collided or row[:3] not in collided)
        ]
    )
    seen_cache.trim()
    return InsertedUrls(new, hosts, last, len(new) == len(first))


def _insert_new(
    connection: apsw.Connection, last: int, rows: dict[tuple[int, int], NewUrlRow]
) -> dict[tuple[int, int], NewUrlRow]:
    """Insert rows, and return those that were new, by key: they have numbers above the `last` one."""
    before = connection.total_changes()
    connection.executemany(_INSERT_URL, rows.values())
    if connection.total_changes() - before == len(rows):
        return rows
    keys = set(connection.execute("SELECT host, rest FROM urls WHERE id > ?", (last,)))
    return {key: row for key, row in rows.items() if key in keys}


def _with_taken_keys(connection: apsw.Connection, rows: Sequence[NewUrlRow]) -> list[NewUrlRow]:
    """Return the rows whose key another URL has."""
    others: Any = connection.executemany(
        "SELECT host, rest FROM urls WHERE host = ? AND rest = ? AND url <> ?", [row[:3] for row in rows]
    )
    keys = set(others)
    return [row for row in rows if row.key in keys]


def _admit(connection: apsw.Connection, ledger: HostLedger, rows: Collection[NewUrlRow], *, has_room: bool) -> set[int]:
    """Charge new URLs to the budgets, park those that exceed them, and return the hosts of those that wait."""
    hosts: set[int] = set()
    twins: list[tuple[Key, str]] = []
    over_budget: list[NewUrlRow] = []
    for host, rows_of_host in _by_host(rows) if has_room else [(row.host, [row]) for row in rows]:
        ledger.add_known(host, len(rows_of_host))
        ledger.add_excess(host, sum(row.reason == Reason.OVER_BUDGET for row in rows_of_host))
        waiting = [row for row in rows_of_host if row.state != State.PARKED]
        discovered = [row for row in waiting if row.reason in DISCOVERED]
        requested = len(waiting) - len(discovered)
        with_twin = {row.rest: twin for row in discovered if (twin := fetched_twin(connection, row.url)) is not None}
        if with_twin:
            twins += [(Key(host, rest), twin) for rest, twin in with_twin.items()]
            waiting = [row for row in waiting if row.rest not in with_twin]
            discovered = [row for row in discovered if row.rest not in with_twin]
        if requested:
            ledger.admit(host, requested, force=True)
        admitted = ledger.admit(host, len(discovered))
        if admitted < len(discovered):
            rejected = {row.rest for row in discovered[admitted:]}
            over_budget += discovered[admitted:]
            waiting = [row for row in waiting if row.rest not in rejected]
        for due, level in {(row.due, row.level) for row in waiting}:
            ledger.add_waiting(host, due, level)
            hosts.add(host)
    park_twins(connection, twins)
    connection.executemany(
        "UPDATE urls SET state = ?, reason = ? WHERE host = ? AND rest = ?",
        [(State.PARKED, Reason.OVER_BUDGET, *row.key) for row in over_budget],
    )
    return hosts


def _by_host(rows: Collection[NewUrlRow]) -> Iterable[tuple[int, list[NewUrlRow]]]:
    """Group rows by host. Where budgets may be short, rows are admitted one by one instead, in their order."""
    by_host: dict[int, list[NewUrlRow]] = {}
    for row in rows:
        by_host.setdefault(row.host, []).append(row)
    return by_host.items()


def _within_budget(row: NewUrlRow, ledger: HostLedger) -> NewUrlRow:
    """Return the row, parked over budget if its host or site has no room, so that it is not updated later."""
    if row.state == State.PARKED or row.reason not in DISCOVERED or ledger.has_room(row.host):
        return row
    return row._replace(state=State.PARKED, reason=Reason.OVER_BUDGET)


def _reopen_values(row: NewUrlRow) -> tuple[object, ...]:
    return row.reason, row.level, row.due, row.depth, row.hops, row.via, row.host, row.rest, row.url


def _record_collisions(connection: apsw.Connection, rows: Iterable[NewUrlRow]) -> set[tuple[int, int, str]]:
    """Record URLs whose key another URL has, and return them; only the first URL of a key is stored in `urls`."""
    collided = set()
    for row in rows:
        host, rest, url = row[:3]
        stored = connection.execute("SELECT url FROM urls WHERE host = ? AND rest = ?", (host, rest)).get
        if url != stored:
            collided.add((host, rest, url))
            connection.execute("INSERT OR IGNORE INTO collisions VALUES (?, ?, ?, ?)", (host, rest, url, row.found))
            if connection.changes():
                logger.warning("%s cannot be kept: it has the same key as %s", url, stored)
    return collided


def add_seeds(
    connection: apsw.Connection, seen_cache: SeenCache, ledger: HostLedger, urls: Sequence[NewUrl], now: float
) -> int:
    """Insert seeds, or make seeds of known URLs, and return how many were new."""
    new = insert_urls(connection, seen_cache, ledger, [new_url_row(connection, url, now) for url in urls]).new
    connection.executemany(
        "INSERT INTO seeds (url, added) VALUES (?, ?) ON CONFLICT (url) DO NOTHING", [(url.url, now) for url in urls]
    )
    sites = {seen_cache.site_of(connection, url.key.host) for url in urls}
    connection.executemany("UPDATE sites SET seeded = 1 WHERE site = ?", [(site,) for site in sites])
    for url in urls:
        key = (*url.key, url.url)
        before = connection.execute("SELECT reason FROM urls WHERE host = ? AND rest = ? AND url = ?", key).get
        due = connection.execute(_MAKE_SEED, (Reason.SEED, now, *key, Reason.SAME_PAGE, Reason.OVER_BUDGET)).get
        if due is not None:
            ledger.add_waiting(url.key.host, due, 0)
            if before == Reason.OVER_BUDGET:
                ledger.remove_excess(url.key.host, 1)
    return len(new)


def make_urgent(connection: apsw.Connection, ledger: HostLedger, urls: Sequence[NewUrl]) -> None:
    """Make seeds due at time 0 in level 0, ahead of all other URLs; a host that is held stays held."""
    for url in urls:
        found = connection.execute(_MAKE_URGENT, (Reason.SEED, *url.key, url.url)).get
        if found is not None:
            ledger.add_waiting(found, 0.0, 0)
