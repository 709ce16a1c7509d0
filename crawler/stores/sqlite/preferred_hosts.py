"""The robots.txt of a mirror may name a preferred host: its URLs are visited there instead.

The URL is parked, and the URL with the same path on the preferred host waits. If that one fails, or its host is dead or
prefers another in turn, the URL is reopened and visited on the mirror.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import apsw

from crawler.frontier.politeness import HOLD_AFTER_FAILURES
from crawler.items import Key, Kind, Outcome, Reason, State
from crawler.stores.contract.commits import VisitResult
from crawler.stores.sqlite.ledger import HostLedger
from crawler.stores.sqlite.new_urls import LONGEST_DETAIL
from crawler.urls.hosts import origin_of
from crawler.urls.keys import key_of

_FAILED = frozenset({Outcome.REFUSED, Outcome.FAILED, Outcome.DENIED, Outcome.BROKEN})

# A URL that was reached by a hop is not moved to a preferred host; -1 has the same effect for one that was not.
_REOPEN = f"""
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
    """Reopen the URLs that the preferred host does not have, and return their hosts."""
    reopened: list[tuple[float, int, int, str]] = []
    for result in batch:
        visited = result.visited
        visit, target = visited.visit, visited.location
        if visit.kind is not Kind.PAGE:
            continue
        if visited.reason is Reason.PREFERRED_HOST:
            if target is not None and _has_failed(connection, target.key):
                reopened.append(_reopen_values(visit.key, target.url, now))
        elif visited.outcome is Outcome.REDIRECTED and target is not None:
            reopened.append(_reopen_values(target.key, visit.url, now))  # it redirects back
        if visited.outcome in _FAILED:
            origin = origin_of(visit.url)
            others = [key_of(other + visit.url[len(origin) :]) for other in _mirrors_of(connection, origin)]
            reopened += [_reopen_values(other, visit.url, now) for other in others]
    rows: list[Any] = connection.executemany(_REOPEN, reopened).fetchall() if reopened else []
    for host, level in rows:
        ledger.add_waiting(host, now, level)
    return {host for host, _ in rows}


def _reopen_values(key: Key, preferred: str, now: float) -> tuple[float, int, int, str]:
    """Return the values of `_REOPEN` for a URL that is parked in favour of another."""
    return now, *key, preferred[:LONGEST_DETAIL]


def _mirrors_of(connection: apsw.Connection, origin: str) -> list[str]:
    """Return the origins that name this one as preferred."""
    rows: list[Any] = connection.execute("SELECT origin FROM origins WHERE preferred = ?", (origin,)).fetchall()
    return [other for (other,) in rows]


def _has_failed(connection: apsw.Connection, target: Key) -> bool:
    """Whether the preferred host is dead, or a visit to the target has failed before."""
    backoff = connection.execute("SELECT backoff FROM hosts WHERE host = ?", (target.host,)).get
    if backoff is not None and backoff >= HOLD_AFTER_FAILURES:
        return True
    visits = connection.execute(_FAILED_VISITS, (*target, Reason.OVER_BUDGET, Reason.SAME_PAGE)).get
    return bool(visits)
