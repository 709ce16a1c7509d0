"""Who may visit which hosts: leases, epochs, and what the dead leave behind.

Every clock has one owner. A host's is that of its partition; hosts of a group are in one partition from the beginning; and the
hosts of one server come together when they are first visited by one of several workers: the server belongs to the partition
of its first host, and the others move there.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

import apsw

from crawler.frontier.frontier import CRASHES
from crawler.frontier.politeness import HostClock
from crawler.items import Key, Kind, Reason, State, Visit
from crawler.stores.contract import Assignment, Recovery, WorkerStatus
from crawler.stores.sqlite.ledger import HostLedger
from crawler.stores.sqlite.rows import CLOCK_COLUMNS, clock_of
from crawler.stores.sqlite.schema import PARTITIONS
from crawler.urls.hosts import origin_of, partition_of
from crawler.urls.keys import key_of

Rest = Callable[[str, HostClock], HostClock]  # the clock of a host that was being asked when its worker died

_WORKER = "slot, owner, pid, since, lease_end, visits, pages, new_urls, late, rate, store_share, limited_by"
_REST_AFTER_CRASHES = 3_600.0  # of an origin over whose robots.txt several processes died

# What is leased belongs to the partition of the host that is asked.
_LEASED_IN = """
SELECT u.host, u.rest, u.kind, u.crashes, coalesce(u.leased_host, u.host), u.url
FROM urls u INDEXED BY urls_leased JOIN hosts h ON h.host = coalesce(u.leased_host, u.host) JOIN partitions p ON p.id = h.partition
WHERE u.state = 1
"""


def recover(
    connection: apsw.Connection, ledger: HostLedger, slots: Collection[int], now: float, full_rest: Rest
) -> Recovery:
    marks = ",".join("?" * len(slots))
    rows: list[Any] = connection.execute(
        f"{_LEASED_IN} AND (p.slot IN ({marks}) OR p.slot IS NULL)", tuple(slots)
    ).fetchall()
    recovered = _return(connection, ledger, rows, now, full_rest)
    connection.execute(
        f"UPDATE partitions SET owner = NULL, slot = NULL, lease_end = 0 WHERE slot IN ({marks})", tuple(slots)
    )
    connection.execute(f"DELETE FROM workers WHERE slot IN ({marks})", tuple(slots))
    return recovered


def _return(
    connection: apsw.Connection, ledger: HostLedger, rows: Sequence[Any], now: float, full_rest: Rest
) -> Recovery:
    """What was leased waits again."""
    quarantined = 0
    for host, rest, kind, crashes, _, url in rows:
        alone = crashes >= CRASHES
        if kind == Kind.ROBOTS:
            _return_robots(connection, host, rest, origin_of(url), now, hold=alone)
        else:
            quarantined += alone
            state, reason = (State.PARKED, Reason.CRASHED) if alone else (State.WAITING, Reason.RETURNED)
            level = connection.execute(
                """UPDATE urls SET state = ?, reason = ?, due = ?, crashes = crashes + 1, epoch = NULL, leased_host = NULL
                   WHERE host = ? AND rest = ? RETURNING level""",
                (state, reason, now, host, rest),
            ).get
            ledger.waits(host, now, level)
    for asked in {row[4] for row in rows}:
        _rest_in_full(connection, asked, full_rest)
    return Recovery(returned=len(rows) - quarantined, quarantined=quarantined)


def _return_robots(connection: apsw.Connection, host: int, rest: int, origin: str, now: float, *, hold: bool) -> None:
    """A robots.txt is asked for again when a page needs it; one that seems to kill us, an hour later."""
    connection.execute(
        """UPDATE urls SET state = 2, reason = ?, crashes = CASE WHEN ? THEN 0 ELSE crashes + 1 END,
                  epoch = NULL, leased_host = NULL
           WHERE host = ? AND rest = ?""",
        (Reason.ROBOTS_FILE, hold, host, rest),
    )
    if hold:
        until = now + _REST_AFTER_CRASHES
        connection.execute(
            """INSERT INTO origins (origin, host, status, fetched, expires, held_until, failures)
               VALUES (?1, ?2, 0, ?3, ?4, ?4, 1)
               ON CONFLICT (origin) DO UPDATE SET expires = ?4, held_until = ?4, failures = failures + 1""",
            (origin, host, now, until),
        )


def _rest_in_full(connection: apsw.Connection, host: int, full_rest: Rest) -> None:
    """A host that was being asked, and its group."""
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


# ── partitions ──


def keep(
    connection: apsw.Connection,
    ledger: HostLedger,
    worker: WorkerStatus,
    now: float,
    lease: float,
    longest_request: float,
    full_rest: Rest,
) -> Assignment:
    """Say that this worker lives, and see to it that it has its share."""
    connection.execute(
        f"INSERT OR REPLACE INTO workers ({_WORKER}) VALUES ({', '.join('?' * len(_WORKER.split(', ')))})",
        (
            *(worker.slot, worker.owner, worker.pid, worker.since, now + lease),
            *(worker.visits, worker.pages, worker.new_urls, worker.late, worker.rate, worker.store_share),
            worker.limited_by,
        ),
    )
    connection.execute("UPDATE partitions SET lease_end = ? WHERE owner = ?", (now + lease, worker.owner))
    living, pages = connection.execute("SELECT count(*), sum(pages) FROM workers WHERE lease_end > ?", (now,)).get
    share = -(-PARTITIONS // max(living, worker.expected))
    mine = _of(connection, worker.owner)
    recovered = _acquire(connection, ledger, worker, now, lease, longest_request, share - len(mine), full_rest)
    wanted = connection.execute(
        "SELECT a.address FROM addresses a JOIN partitions p ON p.id = a.partition WHERE wanted IS NOT NULL AND p.owner = ?",
        (worker.owner,),
    )
    return Assignment(
        partitions=_of(connection, worker.owner),
        workers=living,
        share=share,
        pages_of_others=pages - worker.pages,
        returned=recovered.returned,
        quarantined=recovered.quarantined,
        wanted=[address for (address,) in wanted],
        gates=dict(connection.execute("SELECT name, next_visit FROM gates")),
    )


def _acquire(
    connection: apsw.Connection,
    ledger: HostLedger,
    worker: WorkerStatus,
    now: float,
    lease: float,
    longest_request: float,
    most: int,
    full_rest: Rest,
) -> Recovery:
    """Take partitions that nobody has, or whose owner has not been heard of; what that one had leased waits again."""
    free: list[Any] = connection.execute(
        "SELECT id FROM partitions WHERE owner IS NULL OR lease_end + ? <= ? ORDER BY owner IS NOT NULL, id LIMIT ?",
        (longest_request, now, max(most, 0)),
    ).fetchall()
    if not free:
        return Recovery(returned=0, quarantined=0)
    marks = ",".join(str(partition) for (partition,) in free)
    left: list[Any] = connection.execute(f"{_LEASED_IN} AND p.id IN ({marks})").fetchall()
    connection.execute(
        f"UPDATE partitions SET owner = ?, slot = ?, epoch = epoch + 1, lease_end = ? WHERE id IN ({marks})",
        (worker.owner, worker.slot, now + lease),
    )
    return _return(connection, ledger, left, now, full_rest)


def release(connection: apsw.Connection, owner: str, partitions: Collection[int]) -> None:
    """Those of which nothing is leased."""
    marks = ",".join(map(str, partitions))
    busy = ",".join(
        str(row[0]) for row in connection.execute(f"SELECT p FROM ({_LEASED_PARTITIONS}) WHERE p IN ({marks})")
    )
    connection.execute(
        f"""UPDATE partitions SET owner = NULL, slot = NULL, lease_end = 0
            WHERE owner = ? AND id IN ({marks}) AND id NOT IN ({busy})""",
        (owner,),
    )


_LEASED_PARTITIONS = """
SELECT h.partition AS p FROM urls u INDEXED BY urls_leased JOIN hosts h ON h.host = coalesce(u.leased_host, u.host) WHERE u.state = 1
"""


def leave(connection: apsw.Connection, owner: str) -> None:
    """A worker ends."""
    connection.execute("UPDATE partitions SET owner = NULL, slot = NULL, lease_end = 0 WHERE owner = ?", (owner,))
    connection.execute("DELETE FROM workers WHERE owner = ?", (owner,))


def _of(connection: apsw.Connection, owner: str) -> dict[int, int]:
    return dict(connection.execute("SELECT id, epoch FROM partitions WHERE owner = ?", (owner,)))


def workers(connection: apsw.Connection) -> list[WorkerStatus]:
    rows: Any = connection.execute(
        f"SELECT {_WORKER}, (SELECT count(*) FROM partitions p WHERE p.owner = workers.owner) FROM workers ORDER BY slot"
    )
    names = [*_WORKER.split(", "), "partitions"]
    return [WorkerStatus(**dict(zip(names, row, strict=True))) for row in rows]


# ── groups and servers ──


def regroup(connection: apsw.Connection, group_of: Callable[[str], str]) -> None:
    """Other hosts count as one than before."""
    rows: list[Any] = connection.execute("SELECT host, name, politeness_key FROM hosts").fetchall()
    keys = ((host, group_of(name) or name, before) for host, name, before in rows)
    connection.executemany(
        "UPDATE hosts SET politeness_key = ?, partition = ? WHERE host = ?",
        [(key, partition_of(key, PARTITIONS), host) for host, key, before in keys if key != before],
    )


def claim(connection: apsw.Connection, owner: str, hosts: Iterable[tuple[int, str]]) -> set[int]:
    """Those of the hosts, each with the address of its server, that this owner may visit."""
    mine = _of(connection, owner)
    allowed: set[int] = set()
    for host, address in hosts:
        partition, is_grouped = connection.execute(
            "SELECT partition, politeness_key <> name FROM hosts WHERE host = ?", (host,)
        ).get
        connection.execute(
            "INSERT INTO addresses (address, partition) VALUES (?, ?) ON CONFLICT (address) DO NOTHING",
            (address, partition),
        )
        home = connection.execute("SELECT partition FROM addresses WHERE address = ?", (address,)).get
        if home == partition or (is_grouped and home in mine):
            if partition in mine:
                allowed.add(host)
        elif is_grouped:  # it stays with its group, so the server must come
            connection.execute(
                "UPDATE addresses SET wanted = coalesce(wanted, ?) WHERE address = ?", (partition, address)
            )
        else:
            connection.execute("UPDATE hosts SET partition = ? WHERE host = ?", (home, host))
    return allowed


def hand_over(connection: apsw.Connection, owner: str, addresses: Iterable[str]) -> None:
    """Give servers that this owner does not visit to those who need them."""
    connection.executemany(
        """UPDATE addresses SET partition = wanted, wanted = NULL
           WHERE address = ? AND wanted IS NOT NULL AND partition IN (SELECT id FROM partitions WHERE owner = ?)""",
        [(address, owner) for address in addresses],
    )


# ── errands ──


def note_errands(connection: apsw.Connection, errands: Iterable[Visit]) -> None:
    connection.executemany(
        "INSERT OR REPLACE INTO remote_robots VALUES (?, ?, ?, ?)",
        [(visit.origin, visit.host_key, visit.url, visit.hops) for visit in errands],
    )


def errands(connection: apsw.Connection, owner: str, now: float) -> list[Visit]:
    rows: list[Any] = connection.execute(
        """SELECT e.origin, e.host, e.url, e.hops, p.epoch, h.held_until
           FROM remote_robots e JOIN hosts h ON h.host = e.host JOIN partitions p ON p.id = h.partition WHERE p.owner = ?""",
        (owner,),
    ).fetchall()
    for origin, *_, held_until in rows:
        if held_until > now:
            _hold_origin(connection, origin, now, held_until)
    return [
        Visit(key=_robots_key(origin), url=url, kind=Kind.ROBOTS, epoch=epoch, hops=hops, origin=origin, host_key=host)
        for origin, host, url, hops, epoch, held_until in rows
        if held_until <= now
    ]


def _hold_origin(connection: apsw.Connection, origin: str, now: float, until: float) -> None:
    """Nobody can be asked for that robots.txt before, so its origin waits as long."""
    connection.execute(
        """INSERT INTO origins (origin, host, status, fetched, expires, held_until) VALUES (?1, ?2, 0, ?3, ?4, ?4)
           ON CONFLICT (origin) DO UPDATE SET fetched = ?3, expires = ?4, held_until = ?4""",
        (origin, _robots_key(origin).host, now, until),
    )
    connection.execute("DELETE FROM remote_robots WHERE origin = ?", (origin,))


def _robots_key(origin: str) -> Key:
    return key_of(f"{origin}/robots.txt")
