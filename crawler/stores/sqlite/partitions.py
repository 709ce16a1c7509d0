"""Who may visit which hosts: leases, epochs, and what the dead leave behind."""

from __future__ import annotations

from collections.abc import Callable, Collection

import apsw

from crawler.frontier.frontier import CRASHES
from crawler.frontier.politeness import HostClock
from crawler.items import Kind, Reason, State
from crawler.stores.contract import Recovered
from crawler.stores.sqlite.ledger import Ledger
from crawler.stores.sqlite.rows import CLOCK_COLUMNS, clock_of
from crawler.urls.hosts import origin_of

_REST_AFTER_CRASHES = 3_600.0  # of an origin over whose robots.txt several processes died


def recover(
    connection: apsw.Connection,
    ledger: Ledger,
    slots: Collection[int],
    now: float,
    full_rest: Callable[[str, HostClock], HostClock],
) -> Recovered:
    marks = ",".join("?" * len(slots))
    rows: list[tuple[int, int, int, int, int, str]] = connection.execute(
        f"""SELECT u.host, u.rest, u.kind, u.crashes, coalesce(u.asked, u.host), u.url
            FROM urls u JOIN hosts h ON h.host = u.host JOIN partitions p ON p.id = h.partition
            WHERE u.state = 1 AND (p.slot IN ({marks}) OR p.slot IS NULL)""",
        tuple(slots),
    ).fetchall()  # type: ignore[assignment]
    quarantined = 0
    for host, rest, kind, crashes, _, url in rows:
        alone = crashes >= CRASHES
        if kind == Kind.ROBOTS:
            _return_robots(connection, host, rest, origin_of(url), now, hold=alone)
        else:
            quarantined += alone
            state, reason = (State.PARKED, Reason.CRASHED) if alone else (State.WAITING, Reason.RETURNED)
            level = connection.execute(
                """UPDATE urls SET state = ?, reason = ?, due = ?, crashes = crashes + 1, epoch = NULL, asked = NULL
                   WHERE host = ? AND rest = ? RETURNING level""",
                (state, reason, now, host, rest),
            ).get
            ledger.waits(host, now, level)
    for asked in {row[4] for row in rows}:
        _rest_in_full(connection, asked, full_rest)
    connection.execute(
        f"UPDATE partitions SET owner = NULL, slot = NULL, lease_end = 0 WHERE slot IN ({marks})",
        tuple(slots),
    )
    return Recovered(returned=len(rows) - quarantined, quarantined=quarantined)


def _return_robots(connection: apsw.Connection, host: int, rest: int, origin: str, now: float, *, hold: bool) -> None:
    """A robots.txt is asked for again when a page needs it; one that seems to kill us, an hour later."""
    connection.execute(
        """UPDATE urls SET state = 2, reason = ?, crashes = CASE WHEN ? THEN 0 ELSE crashes + 1 END,
                  epoch = NULL, asked = NULL
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


def _rest_in_full(connection: apsw.Connection, host: int, full_rest: Callable[[str, HostClock], HostClock]) -> None:
    row = connection.execute(f"SELECT name, {CLOCK_COLUMNS} FROM hosts WHERE host = ?", (host,)).get
    if row is not None:
        clock = full_rest(row[0], clock_of(row[1:]))
        connection.execute("UPDATE hosts SET next_visit = ? WHERE host = ?", (clock.next_visit, host))


def acquire(
    connection: apsw.Connection, owner: str, slot: int, now: float, lease: float, longest_request: float
) -> int:
    connection.execute(
        """UPDATE partitions SET owner = ?, slot = ?, epoch = epoch + 1, lease_end = ?
           WHERE owner IS NULL OR lease_end + ? <= ?""",
        (owner, slot, now + lease, longest_request, now),
    )
    return connection.changes()


def renew(connection: apsw.Connection, owner: str, now: float, lease: float) -> int:
    connection.execute("UPDATE partitions SET lease_end = ? WHERE owner = ?", (now + lease, owner))
    return connection.changes()


def release(connection: apsw.Connection, owner: str) -> None:
    connection.execute(
        "UPDATE partitions SET owner = NULL, slot = NULL, lease_end = 0 WHERE owner = ?",
        (owner,),
    )
