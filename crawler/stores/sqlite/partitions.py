"""The role `partitions` on SQLite: which worker may visit which hosts, and recovery from workers that died.

Every clock has one owner: a host's clock belongs to its partition. Hosts of a politeness group are in one partition
from the beginning. Hosts on one IP address are moved to one partition when a worker first visits them: the address
belongs to the partition of its first host.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import count
from typing import Any

import apsw

from crawler.frontier.frontier import SOLO_AFTER_CRASHES
from crawler.items import Key, Kind, Reason, State, Visit
from crawler.stores.contract.partitions import PARTITIONS, Assignment, FullRest, Recovery, WorkerStatus
from crawler.stores.sqlite.database import Database
from crawler.stores.sqlite.ledger import HostLedger
from crawler.stores.sqlite.rows import CLOCK_COLUMNS, clock_of
from crawler.urls.hosts import origin_of, partition_of
from crawler.urls.keys import key_of

_WORKER_COLUMNS = "slot, owner, pid, since, lease_end, visits, pages, new_urls, late, rate, store_share, limited_by"
_SLOT = "place_of_slot_"  # facts: which crawl directory has a worker number
_REST_AFTER_CRASHES = 3_600.0  # of an origin whose robots.txt was being visited when several processes died

# A leased URL belongs to the partition of the host that is visited.
_LEASED_IN = f"""
SELECT u.host, u.rest, u.kind, u.crashes, coalesce(u.leased_host, u.host), u.url
FROM urls u INDEXED BY urls_leased JOIN hosts h ON h.host = coalesce(u.leased_host, u.host)
JOIN partitions p ON p.id = h.partition
WHERE u.state = {State.LEASED:d}
"""
_LEASED_PARTITIONS = f"""
SELECT h.partition AS p FROM urls u INDEXED BY urls_leased JOIN hosts h ON h.host = coalesce(u.leased_host, u.host)
WHERE u.state = {State.LEASED:d}
"""
_RETURN_ROBOTS = f"""
UPDATE urls SET state = {State.PARKED:d}, reason = ?, crashes = CASE WHEN ? THEN 0 ELSE crashes + 1 END,
    epoch = NULL, leased_host = NULL
WHERE host = ? AND rest = ?
"""


class SqlitePartitions:
    """Implements `crawler.stores.contract.partitions.PartitionStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def new_slot(self, place: str) -> int:
        with self._database.transaction() as connection:
            rows: Any = connection.execute(
                f"""SELECT slot FROM segments UNION SELECT slot FROM workers UNION
                    SELECT slot FROM partitions WHERE slot IS NOT NULL UNION
                    SELECT CAST(substr(name, {len(_SLOT) + 1}) AS INTEGER) FROM crawl WHERE name GLOB '{_SLOT}*'"""
            )
            taken = {slot for (slot,) in rows}
            slot = next(number for number in count() if number not in taken)
            connection.execute("INSERT INTO crawl VALUES (?, ?)", (f"{_SLOT}{slot}", place))
            return slot

    def claim_slot(self, place: str, slot: int) -> bool:
        with self._database.transaction() as connection:
            connection.execute("INSERT OR IGNORE INTO crawl VALUES (?, ?)", (f"{_SLOT}{slot}", place))
            owner: str = connection.execute("SELECT value FROM crawl WHERE name = ?", (f"{_SLOT}{slot}",)).get
            return owner == place

    def recover(self, slots: Collection[int], now: float, full_rest: FullRest) -> Recovery:
        placeholders = ",".join("?" * len(slots))
        with self._database.changing(now) as (connection, ledger):
            rows: list[Any] = connection.execute(
                f"{_LEASED_IN} AND (p.slot IN ({placeholders}) OR p.slot IS NULL)", tuple(slots)
            ).fetchall()
            recovered = _return_leases(connection, ledger, rows, now, full_rest)
            connection.execute(
                f"UPDATE partitions SET owner = NULL, slot = NULL, lease_end = 0 WHERE slot IN ({placeholders})",
                tuple(slots),
            )
            connection.execute(f"DELETE FROM workers WHERE slot IN ({placeholders})", tuple(slots))
            return recovered

    def renew_lease(
        self, worker: WorkerStatus, now: float, lease: float, longest_request: float, full_rest: FullRest
    ) -> Assignment:
        with self._database.changing(now) as (connection, ledger):
            places = ", ".join("?" * len(_WORKER_COLUMNS.split(", ")))
            connection.execute(
                f"INSERT OR REPLACE INTO workers ({_WORKER_COLUMNS}) VALUES ({places})",
                (
                    *(worker.slot, worker.owner, worker.pid, worker.since, now + lease),
                    *(worker.visits, worker.pages, worker.new_urls, worker.late, worker.rate, worker.store_share),
                    worker.limited_by,
                ),
            )
            connection.execute("UPDATE partitions SET lease_end = ? WHERE owner = ?", (now + lease, worker.owner))
            living, pages = connection.execute(
                "SELECT count(*), sum(pages) FROM workers WHERE lease_end > ?", (now,)
            ).get
            share = -(-PARTITIONS // max(living, worker.expected))
            owned = _partitions_of(connection, worker.owner)
            recovered = _acquire(connection, ledger, worker, now, lease, longest_request, share - len(owned), full_rest)
            wanted = connection.execute(
                """SELECT a.address FROM addresses a JOIN partitions p ON p.id = a.partition
                   WHERE wanted IS NOT NULL AND p.owner = ?""",
                (worker.owner,),
            )
            return Assignment(
                partitions=_partitions_of(connection, worker.owner),
                workers=living,
                share=share,
                pages_of_others=pages - worker.pages,
                returned=recovered.returned,
                quarantined=recovered.quarantined,
                wanted=[address for (address,) in wanted],
                gates=dict(connection.execute("SELECT name, next_visit FROM gates")),
            )

    def release(self, owner: str, partitions: Collection[int]) -> None:
        numbers = ",".join(map(str, partitions))
        with self._database.transaction() as connection:
            leased = connection.execute(f"SELECT p FROM ({_LEASED_PARTITIONS}) WHERE p IN ({numbers})")
            busy = ",".join(str(partition) for (partition,) in leased)
            connection.execute(
                f"""UPDATE partitions SET owner = NULL, slot = NULL, lease_end = 0
                    WHERE owner = ? AND id IN ({numbers}) AND id NOT IN ({busy})""",
                (owner,),
            )

    def leave(self, owner: str) -> None:
        with self._database.transaction() as connection:
            connection.execute(
                "UPDATE partitions SET owner = NULL, slot = NULL, lease_end = 0 WHERE owner = ?", (owner,)
            )
            connection.execute("DELETE FROM workers WHERE owner = ?", (owner,))

    def workers(self) -> list[WorkerStatus]:
        with self._database.errors():
            rows: Any = self._database.connection.execute(
                f"""SELECT {_WORKER_COLUMNS}, (SELECT count(*) FROM partitions p WHERE p.owner = workers.owner)
                    FROM workers ORDER BY slot"""
            )
            names = [*_WORKER_COLUMNS.split(", "), "partitions"]
            return [WorkerStatus(**dict(zip(names, row, strict=True))) for row in rows]

    def regroup(self) -> None:
        group_of = self._database.seen_cache.group_of
        with self._database.transaction() as connection:
            rows: list[Any] = connection.execute("SELECT host, name, politeness_key FROM hosts").fetchall()
            keys = ((host, group_of(name) or name, before) for host, name, before in rows)
            connection.executemany(
                "UPDATE hosts SET politeness_key = ?, partition = ? WHERE host = ?",
                [(key, partition_of(key, PARTITIONS), host) for host, key, before in keys if key != before],
            )

    def claim_hosts(self, owner: str, hosts: Sequence[tuple[int, str]]) -> set[int]:
        with self._database.transaction() as connection:
            owned = _partitions_of(connection, owner)
            return {host for host, address in hosts if _is_claimed(connection, owned, host, address)}

    def hand_over_addresses(self, owner: str, addresses: Sequence[str]) -> None:
        with self._database.transaction() as connection:
            connection.executemany(
                """UPDATE addresses SET partition = wanted, wanted = NULL
                   WHERE address = ? AND wanted IS NOT NULL
                     AND partition IN (SELECT id FROM partitions WHERE owner = ?)""",
                [(address, owner) for address in addresses],
            )

    def add_remote_robots(self, visits: Sequence[Visit]) -> None:
        with self._database.transaction() as connection:
            self._database.seen_cache.add_hosts(connection, [(visit.host_key, visit.url) for visit in visits])
            connection.executemany(
                "INSERT OR REPLACE INTO remote_robots VALUES (?, ?, ?, ?)",
                [(visit.origin, visit.host_key, visit.url, visit.hops) for visit in visits],
            )

    def remote_robots(self, owner: str, now: float) -> list[Visit]:
        with self._database.errors():  # usually there are none
            if self._database.connection.execute("SELECT 1 FROM remote_robots LIMIT 1").get is None:
                return []
        with self._database.transaction() as connection:
            rows: list[Any] = connection.execute(
                """SELECT r.origin, r.host, r.url, r.hops, p.epoch, h.held_until
                   FROM remote_robots r JOIN hosts h ON h.host = r.host JOIN partitions p ON p.id = h.partition
                   WHERE p.owner = ?""",
                (owner,),
            ).fetchall()
            for origin, *_, held_until in rows:
                if held_until > now:
                    _hold_origin(connection, origin, now, held_until)
        return [
            Visit(
                key=_robots_key(origin),
                url=url,
                kind=Kind.ROBOTS,
                epoch=epoch,
                hops=hops,
                origin=origin,
                host_key=host,
            )
            for origin, host, url, hops, epoch, held_until in rows
            if held_until <= now
        ]


def _return_leases(
    connection: apsw.Connection, ledger: HostLedger, rows: Sequence[Any], now: float, full_rest: FullRest
) -> Recovery:
    """Return leased URLs to the frontier; one that was visited alone when a process died is quarantined."""
    quarantined = 0
    for host, rest, kind, crashes, _, url in rows:
        alone = crashes >= SOLO_AFTER_CRASHES
        if kind == Kind.ROBOTS:
            _return_robots(connection, host, rest, origin_of(url), now, hold=alone)
        else:
            quarantined += alone
            state, reason = (State.PARKED, Reason.CRASHED) if alone else (State.WAITING, Reason.RETURNED)
            level = connection.execute(
                """UPDATE urls SET state = ?, reason = ?, due = ?, crashes = crashes + 1, epoch = NULL,
                          leased_host = NULL
                   WHERE host = ? AND rest = ? RETURNING level""",
                (state, reason, now, host, rest),
            ).get
            ledger.add_waiting(host, now, level)
    for leased_host in {row[4] for row in rows}:
        _rest_in_full(connection, leased_host, full_rest)
    return Recovery(returned=len(rows) - quarantined, quarantined=quarantined)


def _return_robots(connection: apsw.Connection, host: int, rest: int, origin: str, now: float, *, hold: bool) -> None:
    """Return the lease of a robots.txt: it is fetched again when a page needs it; with `hold`, an hour later."""
    connection.execute(_RETURN_ROBOTS, (Reason.ROBOTS_FILE, hold, host, rest))
    if hold:
        until = now + _REST_AFTER_CRASHES
        connection.execute(
            """INSERT INTO origins (origin, host, status, fetched, expires, held_until, failures)
               VALUES (?1, ?2, 0, ?3, ?4, ?4, 1)
               ON CONFLICT (origin) DO UPDATE SET expires = ?4, held_until = ?4, failures = failures + 1""",
            (origin, host, now, until),
        )


def _rest_in_full(connection: apsw.Connection, host: int, full_rest: FullRest) -> None:
    """Make a host that was being visited, and its politeness group, rest for a full delay."""
    row = connection.execute(f"SELECT name, politeness_key, {CLOCK_COLUMNS} FROM hosts WHERE host = ?", (host,)).get
    if row is None:
        return
    name, key, *clock_columns = row
    until = full_rest(name, clock_of(clock_columns)).next_visit
    connection.execute("UPDATE hosts SET next_visit = ? WHERE host = ?", (until, host))
    if key != name:
        connection.execute(
            "INSERT INTO gates VALUES (?1, ?2, 0) ON CONFLICT (name) DO UPDATE SET next_visit = max(next_visit, ?2)",
            (key, until),
        )


def _acquire(
    connection: apsw.Connection,
    ledger: HostLedger,
    worker: WorkerStatus,
    now: float,
    lease: float,
    longest_request: float,
    most: int,
    full_rest: FullRest,
) -> Recovery:
    """Acquire partitions that are free or whose lease has run out, and return the URLs that their owners had leased."""
    free: list[Any] = connection.execute(
        "SELECT id FROM partitions WHERE owner IS NULL OR lease_end + ? <= ? ORDER BY owner IS NOT NULL, id LIMIT ?",
        (longest_request, now, max(most, 0)),
    ).fetchall()
    if not free:
        return Recovery(returned=0, quarantined=0)
    numbers = ",".join(str(partition) for (partition,) in free)
    leased: list[Any] = connection.execute(f"{_LEASED_IN} AND p.id IN ({numbers})").fetchall()
    connection.execute(
        f"UPDATE partitions SET owner = ?, slot = ?, epoch = epoch + 1, lease_end = ? WHERE id IN ({numbers})",
        (worker.owner, worker.slot, now + lease),
    )
    return _return_leases(connection, ledger, leased, now, full_rest)


def _partitions_of(connection: apsw.Connection, owner: str) -> dict[int, int]:
    return dict(connection.execute("SELECT id, epoch FROM partitions WHERE owner = ?", (owner,)))


def _is_claimed(connection: apsw.Connection, owned: Collection[int], host: int, address: str) -> bool:
    """Whether the owner of these partitions may visit a host on this address."""
    partition, is_grouped = connection.execute(
        "SELECT partition, politeness_key <> name FROM hosts WHERE host = ?", (host,)
    ).get
    connection.execute(
        "INSERT INTO addresses (address, partition) VALUES (?, ?) ON CONFLICT (address) DO NOTHING",
        (address, partition),
    )
    address_partition = connection.execute("SELECT partition FROM addresses WHERE address = ?", (address,)).get
    if address_partition == partition or (is_grouped and address_partition in owned):
        return partition in owned
    if is_grouped:  # it stays with its group, so the address must move
        connection.execute("UPDATE addresses SET wanted = coalesce(wanted, ?) WHERE address = ?", (partition, address))
    else:
        connection.execute("UPDATE hosts SET partition = ? WHERE host = ?", (address_partition, host))
    return False


def _hold_origin(connection: apsw.Connection, origin: str, now: float, until: float) -> None:
    """Hold an origin as long as the host on which its robots.txt lies."""
    connection.execute(
        """INSERT INTO origins (origin, host, status, fetched, expires, held_until) VALUES (?1, ?2, 0, ?3, ?4, ?4)
           ON CONFLICT (origin) DO UPDATE SET fetched = ?3, expires = ?4, held_until = ?4""",
        (origin, _robots_key(origin).host, now, until),
    )
    connection.execute("DELETE FROM remote_robots WHERE origin = ?", (origin,))


def _robots_key(origin: str) -> Key:
    return key_of(f"{origin}/robots.txt")
