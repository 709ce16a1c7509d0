"""URLs become known: found on pages, given as seeds, or in lists; each once, and within the budget of its host and site."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import apsw

from crawler.frontier.priority import PriorityInputs, level_of
from crawler.items import Key, Kind, Link, Reason, Refusal, State
from crawler.stores.contract.urls import NewUrl
from crawler.stores.sqlite.index_pages import fetched_twin, park
from crawler.stores.sqlite.ledger import HostLedger
from crawler.stores.sqlite.schema import PARTITIONS
from crawler.urls.hosts import host_of, partition_of, registered_domain, reversed_name
from crawler.urls.keys import host_key
from crawler.urls.scope import SCOPE_REASONS

logger = logging.getLogger(__name__)


class NewUrlRow(NamedTuple):
    """One URL that may be new, with its columns in the order in which they are inserted."""

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

# What was too far is near on another way.
_NEARER = f"""
UPDATE urls SET state = {State.WAITING:d}, reason = ?, level = ?, due = ?, depth = ?, hops = ?, via = ?, detail = ''
WHERE host = ? AND rest = ? AND url = ? AND state = {State.PARKED:d} AND reason = {Reason.TOO_FAR:d}
RETURNING host, due, level
"""

# Not asked for by anybody.
FOUND = frozenset(
    {
        *(Reason.LINK, Reason.REDIRECT_TARGET, Reason.IN_SITEMAP, Reason.IN_FEED),
        *(Reason.SITEMAP_FILE, Reason.FEED_FILE),
    }
)
VERDICT_CODES = ",".join(str(int(reason)) for reason in sorted(SCOPE_REASONS))
LONGEST_DETAIL = 500

# What a scope, a budget or a twin had parked is visited once somebody asks for it, and what waits for a first visit
# is a seed.
_MAKE_SEED = f"""
UPDATE urls SET reason = ?1, due = CASE state WHEN {State.PARKED:d} THEN ?2 ELSE due END, state = {State.WAITING:d},
    depth = 0, level = 0, detail = ''
WHERE host = ?3 AND rest = ?4 AND url = ?5 AND kind <> {Kind.ROBOTS:d}
  AND (state = {State.PARKED:d} AND reason IN ({VERDICT_CODES}, ?6, ?7) OR state = {State.WAITING:d} AND visits = 0)
RETURNING due
"""
_PUT_IN_FRONT = f"""
UPDATE urls SET due = 0, level = 0, depth = 0, reason = ?
WHERE host = ? AND rest = ? AND url = ? AND state = {State.WAITING:d} AND kind <> {Kind.ROBOTS:d} RETURNING host
"""


class SeenCache:
    """What certainly has a row, so that a page's links need not be tried one by one: most are known already."""

    def __init__(
        self,
        group_of: Callable[[str], str] | None = None,
        hosts: int = 100_000,
        urls: int = 200_000,
        anchors: int = 200_000,
    ) -> None:
        self.group_of = group_of or (lambda name: "")  # under which name a host counts with others as one
        self.urls: dict[tuple[int, int], int] = {}  # with a hash of the text: another URL may have the same key
        self.links: dict[int, int] = {}  # links that hosts have made: by mark and host, the latter half of the key
        self.anchor_counts: dict[Key, int] = {}  # of targets; not less than there are
        self.endorsements: set[int] = (
            set()
        )  # hashes: of (URL, site that links to it) and of (site, site that links to it)
        self.feeds: dict[Key, int] = {}  # that are known to be feeds, with a hash of the link to them
        self._sites: dict[int, int] = {}  # host → site
        self._most = (hosts, urls, anchors, urls, anchors, hosts)
        self._far = False

    def make_hosts_known(self, connection: apsw.Connection, urls: Iterable[tuple[int, str]]) -> None:
        """Give each host of (fingerprint, any URL of it) a row."""
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
        """The site of a host that has a row."""
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
            or (link[3] is not None and link[3].reason is Reason.TOO_FAR)  # not on every way
        ]

    def has_far(self, connection: apsw.Connection, rows: Iterable[NewUrlRow]) -> bool:
        """Whether any URL was ever too far from the seeds: most crawls have no limit, and need not look for shorter ways."""
        if not self._far:  # another worker may have found one
            self._far = connection.execute("SELECT 1 FROM crawl WHERE name = 'too_far'").get is not None
        if not self._far and any(row.reason == Reason.TOO_FAR for row in rows):
            connection.execute("INSERT INTO crawl VALUES ('too_far', 1)")
            self._far = True
        return self._far

    def trim(self) -> None:
        """Start anew with what has grown too large; it is only a shortcut."""
        shortcuts: list[set[Any] | dict[Any, int]] = [
            *(self._sites, self.urls, self.links, self.anchor_counts, self.endorsements, self.feeds)
        ]
        for shortcut, most in zip(shortcuts, self._most, strict=True):
            if len(shortcut) > most:
                shortcut.clear()

    def forget(self) -> None:
        """A transaction was undone, and perhaps rows with it."""
        self._sites.clear()
        self.urls.clear()
        self.links.clear()
        self.endorsements.clear()
        self.anchor_counts.clear()
        self.feeds.clear()
        self._far = False


def whole(now: float) -> float:
    """When something was found, to the second: half as long on the disk."""
    return float(int(now))


def id_of(connection: apsw.Connection, key: Key) -> int:
    """The number of a URL; 0 if it is not known."""
    found: int | None = connection.execute("SELECT id FROM urls WHERE host = ? AND rest = ?", key).get
    return found or 0


def row_of(connection: apsw.Connection, url: NewUrl, now: float) -> NewUrlRow:
    is_parked = url.refused is not None or url.kind is Kind.ROBOTS
    found = whole(now)
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
        via=id_of(connection, url.via) if url.via is not None else None,
        found=found,
        detail=url.refused.detail[:LONGEST_DETAIL] if url.refused is not None else "",
        hint=url.hint,
    )


def verdict(refused: Refusal | None, reason: Reason) -> tuple[State, Reason, str]:
    """What becomes of a URL that was found."""
    if refused is None:
        return State.WAITING, reason, ""
    return State.PARKED, refused.reason, refused.detail[:LONGEST_DETAIL]


class InsertedUrls(NamedTuple):
    """What became of URLs that might be new."""

    new: Mapping[tuple[int, int], NewUrlRow]  # by key
    hosts: set[int]  # that have new ones to visit


def insert(
    connection: apsw.Connection, known: SeenCache, ledger: HostLedger, rows: Sequence[NewUrlRow]
) -> InsertedUrls:
    """Make URLs known."""
    if not rows:
        return InsertedUrls({}, set())
    known.make_hosts_known(connection, [(row.host, row.url) for row in rows])
    first: dict[tuple[int, int], NewUrlRow] = {}
    colliding = [row for row in rows if first.setdefault(row.key, row).url != row.url]
    has_room = all(ledger.has_room(host, len(first)) for host in {row.host for row in rows})
    new = _add(connection, first if has_room else {key: _within_budget(row, ledger) for key, row in first.items()})
    if len(new) < len(first):
        colliding += _with_the_key_of_others(connection, [row for key, row in first.items() if key not in new])
    hosts = _let_in(connection, ledger, new.values(), has_room=has_room)
    if known.has_far(connection, first.values()):
        for host, due, level in connection.executemany(
            _NEARER, [_nearer_values(row) for row in first.values() if not row.state and ledger.has_room(row.host)]
        ):
            ledger.admit(host, asked=True)
            ledger.waits(host, due, level)
            hosts.add(host)
    strangers = _note_collisions(connection, colliding)
    known.urls.update(
        [
            (key, hash(row.url))
            for key, row in first.items()
            if row.reason != Reason.TOO_FAR
            and (not strangers or row[:3] not in strangers)  # a shorter way may lead to it
        ]
    )
    known.trim()
    return InsertedUrls(new, hosts)


def _add(connection: apsw.Connection, rows: dict[tuple[int, int], NewUrlRow]) -> dict[tuple[int, int], NewUrlRow]:
    """Those that were new, by key: they have got the highest numbers."""
    last: int = connection.execute("SELECT coalesce(max(id), 0) FROM urls").get
    before = connection.total_changes()
    connection.executemany(_INSERT_URL, rows.values())
    if connection.total_changes() - before == len(rows):
        return rows
    keys = set(connection.execute("SELECT host, rest FROM urls WHERE id > ?", (last,)))
    return {key: row for key, row in rows.items() if key in keys}


def _with_the_key_of_others(connection: apsw.Connection, rows: Sequence[NewUrlRow]) -> list[NewUrlRow]:
    """Those whose key another URL has."""
    others: Any = connection.executemany(
        "SELECT host, rest FROM urls WHERE host = ? AND rest = ? AND url <> ?", [row[:3] for row in rows]
    )
    keys = set(others)
    return [row for row in rows if row.key in keys]


def _let_in(
    connection: apsw.Connection, ledger: HostLedger, rows: Collection[NewUrlRow], *, has_room: bool
) -> set[int]:
    """Count new URLs in; the hosts of those that may be visited. Budgets may allow fewer than seemed when they were added."""
    hosts: set[int] = set()
    twins: list[tuple[Key, str]] = []
    over: list[NewUrlRow] = []
    for host, mine in _by_host(rows) if has_room else [(row.host, [row]) for row in rows]:
        ledger.found(host, len(mine))
        ledger.exceed(host, sum(row.reason == Reason.OVER_BUDGET for row in mine))
        waiting = [row for row in mine if row.state != State.PARKED]
        found = [row for row in waiting if row.reason in FOUND]
        asked = len(waiting) - len(found)
        shown = {row.rest: twin for row in found if (twin := fetched_twin(connection, row.url)) is not None}
        if shown:
            twins += [(Key(host, rest), twin) for rest, twin in shown.items()]
            waiting = [row for row in waiting if row.rest not in shown]
            found = [row for row in found if row.rest not in shown]
        if asked:
            ledger.admit(host, asked, asked=True)
        admitted = ledger.admit(host, len(found))
        if admitted < len(found):
            rejected = {row.rest for row in found[admitted:]}
            over += found[admitted:]
            waiting = [row for row in waiting if row.rest not in rejected]
        for due, level in {(row.due, row.level) for row in waiting}:
            ledger.waits(host, due, level)
            hosts.add(host)
    park(connection, twins)
    connection.executemany(
        "UPDATE urls SET state = ?, reason = ? WHERE host = ? AND rest = ?",
        [(State.PARKED, Reason.OVER_BUDGET, *row.key) for row in over],
    )
    return hosts


def _by_host(rows: Collection[NewUrlRow]) -> Iterable[tuple[int, list[NewUrlRow]]]:
    """All of a host at once; where room may be short it is one by one, for then who comes first has it."""
    of_hosts: dict[int, list[NewUrlRow]] = {}
    for row in rows:
        of_hosts.setdefault(row.host, []).append(row)
    return of_hosts.items()


def _within_budget(row: NewUrlRow, ledger: HostLedger) -> NewUrlRow:
    """The row, parked at once if its host or its site has no room: nothing need be undone then."""
    if row.state == State.PARKED or row.reason not in FOUND or ledger.has_room(row.host):
        return row
    return row._replace(state=State.PARKED, reason=Reason.OVER_BUDGET)


def _nearer_values(row: NewUrlRow) -> tuple[object, ...]:
    return row.reason, row.level, row.due, row.depth, row.hops, row.via, row.host, row.rest, row.url


def _note_collisions(connection: apsw.Connection, rows: Iterable[NewUrlRow]) -> set[tuple[int, int, str]]:
    """Of URLs with one key the first is kept; the others are written down, and returned."""
    strangers = set()
    for row in rows:
        host, rest, url = row[:3]
        kept = connection.execute("SELECT url FROM urls WHERE host = ? AND rest = ?", (host, rest)).get
        if url != kept:
            strangers.add((host, rest, url))
            connection.execute("INSERT OR IGNORE INTO collisions VALUES (?, ?, ?, ?)", (host, rest, url, row.found))
            if connection.changes():
                logger.warning("%s cannot be kept: it has the same key as %s", url, kept)
    return strangers


def add_seeds(
    connection: apsw.Connection, known: SeenCache, ledger: HostLedger, urls: Sequence[NewUrl], now: float
) -> int:
    new = insert(connection, known, ledger, [row_of(connection, url, now) for url in urls]).new
    connection.executemany(
        "INSERT INTO seeds (url, added) VALUES (?, ?) ON CONFLICT (url) DO NOTHING", [(url.url, now) for url in urls]
    )
    sites = {known.site_of(connection, url.key.host) for url in urls}
    connection.executemany("UPDATE sites SET seeded = 1 WHERE site = ?", [(site,) for site in sites])
    for url in urls:
        key = (*url.key, url.url)
        before = connection.execute("SELECT reason FROM urls WHERE host = ? AND rest = ? AND url = ?", key).get
        due = connection.execute(_MAKE_SEED, (Reason.SEED, now, *key, Reason.SAME_PAGE, Reason.OVER_BUDGET)).get
        if due is not None:
            ledger.waits(url.key.host, due, 0)
            if before == Reason.OVER_BUDGET:
                ledger.forget_excess(url.key.host, 1)
    return len(new)


def put_in_front(connection: apsw.Connection, ledger: HostLedger, urls: Sequence[NewUrl]) -> None:
    """Due since ever, so the first of the first level; a host's hold is not undercut."""
    for url in urls:
        found = connection.execute(_PUT_IN_FRONT, (Reason.SEED, *url.key, url.url)).get
        if found is not None:
            ledger.waits(found, 0.0, 0)
