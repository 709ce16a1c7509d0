"""Visits before their time: URLs are due now because a user wants so. The delays of hosts are kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import apsw

from crawler.frontier.budgets import next_day
from crawler.frontier.politeness import UNREACHABLE
from crawler.items import Kind, Reason, State
from crawler.stores.contract.urls import VisitChoice, WithoutHold
from crawler.stores.sqlite.ledger import HostLedger
from crawler.stores.sqlite.rows import CLOCK_COLUMNS, clock_of

SLICE = 5_000  # rows a transaction: other writers wait a moment
_VISITED_ALONE = (Kind.ROBOTS, Kind.PROBE)  # visited when their host needs it, never by wish
_FAILED = {
    *UNREACHABLE,
    *(Reason.ADDRESS_DENIED, Reason.DISCONNECTED, Reason.BAD_HTTP, Reason.HEADERS_TOO_BIG, Reason.FETCH_ERROR),
    *(Reason.SERVER_ERROR, Reason.BUSY, Reason.INTERNAL_ERROR, Reason.CONTENT_DIED, Reason.CONTENT_HUNG),
}


def _codes(reasons: set[Reason] | Sequence[int]) -> str:
    return ",".join(str(int(reason)) for reason in sorted(reasons))


_LATER = f"state = {State.WAITING:d} AND due > ?1 AND kind NOT IN ({_codes(_VISITED_ALONE)})"
_CHOSEN = {
    VisitChoice.ALL: f"?2 IS NULL AND {_LATER}",
    VisitChoice.HOST: f"host = ?2 AND {_LATER}",
    VisitChoice.FAILED: f"""?2 IS NULL AND kind NOT IN ({_codes(_VISITED_ALONE)}) AND (
        state = {State.WAITING:d} AND due > ?1
        AND (last_reason IN ({_codes(_FAILED)}) OR reason = {Reason.ROBOTS_UNAVAILABLE:d})
        OR state = {State.PARKED:d} AND reason IN ({Reason.QUARANTINED:d}, {Reason.CRASHED:d}))""",
}
_MAKE_DUE = f"""
UPDATE urls SET due = ?1, state = {State.WAITING:d}, tries = 0, crashes = 0,
    reason = iif(state = {State.PARKED:d}, coalesce(last_reason, {Reason.RETURNED:d}), reason)
WHERE id = ?2
"""


def count_chosen(connection: apsw.Connection, choice: VisitChoice, host: int | None, now: float) -> int:
    count: int = connection.execute(f"SELECT count(*) FROM urls WHERE {_CHOSEN[choice]}", (now, host)).get
    return count


def make_due(
    connection: apsw.Connection, ledger: HostLedger, choice: VisitChoice, host: int | None, now: float, after: int
) -> tuple[int | None, int]:
    """Make a slice of URLs due; return where the next begins, or None at the end, and how many there were."""
    rows: list[Any] = connection.execute(
        f"SELECT id, host, level FROM urls WHERE id > ?3 AND ({_CHOSEN[choice]}) ORDER BY id LIMIT {SLICE}",
        (now, host, after),
    ).fetchall()
    connection.executemany(_MAKE_DUE, [(now, number) for number, _, _ in rows])
    for _, owner, level in rows:
        ledger.add_waiting(owner, now, level)
    return (rows[-1][0] if len(rows) == SLICE else None), len(rows)


def end_holds(
    connection: apsw.Connection, host: int | None, now: float, without_hold: WithoutHold, start: int
) -> int | None:
    """End the long rests of a slice of hosts that gave no answer; return where the next starts, or None at the end.

    A host that has asked for a rest (Retry-After, 429, 503), or has used its budget of the day, keeps it.
    """
    held: list[Any] = connection.execute(
        f"""SELECT host, name, {CLOCK_COLUMNS} FROM hosts h
            WHERE held_until > ?1 AND held_until <> ?3 AND (?2 IS NULL OR host = ?2)
              AND host >= ?4
              AND NOT EXISTS (SELECT 1 FROM urls u WHERE u.host = h.host AND u.last_reason = {Reason.BUSY:d})
            ORDER BY host LIMIT {SLICE}""",
        (now, host, next_day(now), start),
    ).fetchall()
    clocks = [(without_hold(name, clock_of(columns)), number) for number, name, *columns in held]
    connection.executemany(
        "UPDATE hosts SET held_until = ?, next_visit = ? WHERE host = ?",
        [(clock.held_until, clock.next_visit, number) for clock, number in clocks],
    )
    return held[-1][0] + 1 if len(held) == SLICE else None


def expire_robots(connection: apsw.Connection, host: int | None, now: float, after: str) -> str | None:
    """Have a slice of the robots.txt that could not be had fetched anew; return after which the next begins, or None."""
    origins: list[Any] = connection.execute(
        f"""SELECT origin FROM origins
            WHERE origin > ?3 AND held_until > ?1 AND (status = 0 OR status >= 500 AND status <> 503)
              AND (?2 IS NULL OR host = ?2)
            ORDER BY origin LIMIT {SLICE}""",
        (now, host, after),
    ).fetchall()
    connection.executemany(
        "UPDATE origins SET expires = ?, held_until = 0 WHERE origin = ?", [(now, *row) for row in origins]
    )
    return origins[-1][0] if len(origins) == SLICE else None
