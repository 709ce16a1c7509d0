"""A site with several hosts may prefer one: what is found on another is asked for there.

The URL is parked, and the same target of the preferred host waits instead. If that one fails, or its host is dead, or prefers
another in turn, the URL is visited where it was found.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import apsw

from crawler.frontier.politeness import SNOOZE_AFTER
from crawler.items import Key, Kind, Outcome, Reason, State
from crawler.stores.contract.commits import VisitResult
from crawler.stores.sqlite.ledger import HostLedger
from crawler.stores.sqlite.new_urls import LONGEST_DETAIL
from crawler.urls.hosts import origin_of
from crawler.urls.keys import key_of

_FAILED = frozenset({Outcome.REFUSED, Outcome.FAILED, Outcome.DENIED, Outcome.BROKEN})

# A URL that was reached by a hop is not sent elsewhere; -1 says the same of one that was not.
_OPEN = f"""
UPDATE urls SET state = {State.WAITING:d}, reason = {Reason.LINK:d}, detail = '', due = ?,
    hops = iif(hops > 0, hops, -1)
WHERE host = ? AND rest = ? AND state = {State.PARKED:d} AND reason = {Reason.PREFERRED_HOST:d} AND detail = ?
RETURNING host, level
"""
_FAILED_VISITS = f"""
SELECT visits FROM urls u LEFT JOIN url_facts t ON t.id = u.id
WHERE host = ? AND rest = ? AND (state = {State.PARKED:d} AND reason NOT IN (?, ?) OR t.missing > 0)
"""


def reopen(connection: apsw.Connection, ledger: HostLedger, batch: Sequence[VisitResult], now: float) -> set[int]:
    """Open what a preferred host does not have; the hosts that have new URLs to visit."""
    opened: list[tuple[float, int, int, str]] = []
    for settled in batch:
        visited = settled.visited
        visit, target = visited.visit, visited.location
        if visit.kind is not Kind.PAGE:
            continue
        if visited.reason is Reason.PREFERRED_HOST:
            if target is not None and _is_in_vain(connection, target.key):
                opened.append(_parked_for(visit.key, target.url, now))
        elif visited.outcome is Outcome.REDIRECTED and target is not None:
            opened.append(_parked_for(target.key, visit.url, now))  # it sends us back
        if visited.outcome in _FAILED:
            origin = origin_of(visit.url)
            others = [key_of(other + visit.url[len(origin) :]) for other in _preferring(connection, origin)]
            opened += [_parked_for(other, visit.url, now) for other in others]
    rows: list[Any] = connection.executemany(_OPEN, opened).fetchall() if opened else []
    for host, level in rows:
        ledger.waits(host, now, level)
    return {host for host, _ in rows}


def _parked_for(key: Key, preferred: str, now: float) -> tuple[float, int, int, str]:
    """What opens a URL that is parked in favour of another."""
    return now, *key, preferred[:LONGEST_DETAIL]


def _preferring(connection: apsw.Connection, origin: str) -> list[str]:
    rows: list[Any] = connection.execute("SELECT origin FROM origins WHERE preferred = ?", (origin,)).fetchall()
    return [other for (other,) in rows]


def _is_in_vain(connection: apsw.Connection, target: Key) -> bool:
    """Whether the preferred host is dead, or was asked for this before and did not have it."""
    backoff = connection.execute("SELECT backoff FROM hosts WHERE host = ?", (target.host,)).get
    if backoff is not None and backoff >= SNOOZE_AFTER:
        return True
    visits = connection.execute(_FAILED_VISITS, (*target, Reason.OVER_BUDGET, Reason.SAME_PAGE)).get
    return bool(visits)
