"""A directory and its index page: when one of them has been fetched, the other is not asked for.

It is parked, and waits again when the one that was fetched is no longer there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import apsw

from crawler.items import Key, Kind, Outcome, Reason, State
from crawler.stores.contract.commits import VisitResult
from crawler.urls.keys import key_of
from crawler.urls.twins import index_twins


def fetched_twin(connection: apsw.Connection, url: str) -> str | None:
    """The page that shows what this URL would show, fetched when it was last visited."""
    for twin in index_twins(url):
        found = connection.execute(
            "SELECT 1 FROM urls WHERE host = ? AND rest = ? AND url = ? AND kind = ? AND last_reason IN (?, ?, ?) AND state <> ?",
            (*key_of(twin), twin, Kind.PAGE, Reason.OK, Reason.NOT_MODIFIED, Reason.SAME_HEAD, State.PARKED),
        ).get
        if found is not None:
            return twin
    return None


def park(connection: apsw.Connection, pairs: Iterable[tuple[Key, str]]) -> None:
    """These URLs, each with its twin, if they wait for a first visit that a link has asked for."""
    connection.executemany(
        """UPDATE urls SET state = ?, reason = ?, detail = ?
           WHERE host = ? AND rest = ? AND state = ? AND visits = 0 AND reason IN (?, ?)""",
        [
            (State.PARKED, Reason.SAME_PAGE, twin, *key, State.WAITING, Reason.LINK, Reason.REDIRECT_TARGET)
            for key, twin in pairs
        ],
    )


def update_twins(connection: apsw.Connection, batch: Sequence[VisitResult], now: float) -> list[tuple[int, int]]:
    """Park the twins of what was fetched, open those of what is there no more; (host, level) of each that now waits."""
    opened: list[tuple[int, int]] = []
    for settled in batch:
        visited = settled.visited
        url = visited.visit.url
        if visited.visit.kind is not Kind.PAGE or not (twins := index_twins(url)):
            continue
        keys = [key_of(twin) for twin in twins]
        if visited.outcome is Outcome.FETCHED and visited.reason is Reason.OK:
            park(connection, [(key, url) for key in keys])
        elif settled.next_state.state is State.PARKED or settled.next_state.missing:
            opened += _open(connection, keys, url, now)
    return opened


def _open(connection: apsw.Connection, keys: Iterable[Key], url: str, now: float) -> list[tuple[int, int]]:
    opened: list[Any] = connection.executemany(
        """UPDATE urls SET state = ?, reason = ?, detail = '', due = ?
           WHERE host = ? AND rest = ? AND state = ? AND reason = ? AND detail = ? RETURNING host, level""",
        [(State.WAITING, Reason.LINK, now, *key, State.PARKED, Reason.SAME_PAGE, url) for key in keys],
    ).fetchall()
    return opened
