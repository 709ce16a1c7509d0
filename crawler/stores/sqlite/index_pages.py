"""A directory and its index page are twins: when one was fetched, the other is parked.

It waits again when the one that was fetched is gone.
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
    """Return the twin of a URL whose last visit fetched it, if there is one."""
    for twin in index_twins(url):
        found = connection.execute(
            """SELECT 1 FROM urls
               WHERE host = ? AND rest = ? AND url = ? AND kind = ? AND last_reason IN (?, ?, ?) AND state <> ?""",
            (*key_of(twin), twin, Kind.PAGE, Reason.OK, Reason.NOT_MODIFIED, Reason.SAME_HEAD, State.PARKED),
        ).get
        if found is not None:
            return twin
    return None


def park_twins(connection: apsw.Connection, pairs: Iterable[tuple[Key, str]]) -> None:
    """Park URLs, each with its twin that was fetched, if they were found as links and never visited."""
    connection.executemany(
        """UPDATE urls SET state = ?, reason = ?, detail = ?
           WHERE host = ? AND rest = ? AND state = ? AND visits = 0 AND reason IN (?, ?)""",
        [
            (State.PARKED, Reason.SAME_PAGE, twin, *key, State.WAITING, Reason.LINK, Reason.REDIRECT_TARGET)
            for key, twin in pairs
        ],
    )


def update_twins(connection: apsw.Connection, batch: Sequence[VisitResult], now: float) -> list[tuple[int, int]]:
    """Park the twins of fetched pages and reopen those of gone pages; return (host, level) of each that is reopened."""
    reopened: list[tuple[int, int]] = []
    for result in batch:
        visited = result.visited
        url = visited.visit.url
        if visited.visit.kind is not Kind.PAGE or not (twins := index_twins(url)):
            continue
        keys = [key_of(twin) for twin in twins]
        if visited.outcome is Outcome.FETCHED and visited.reason is Reason.OK:
            park_twins(connection, [(key, url) for key in keys])
        elif result.next_state.state is State.PARKED or result.next_state.missing:
            reopened += _reopen_twins(connection, keys, url, now)
    return reopened


def _reopen_twins(connection: apsw.Connection, keys: Iterable[Key], url: str, now: float) -> list[tuple[int, int]]:
    reopened: list[Any] = connection.executemany(
        """UPDATE urls SET state = ?, reason = ?, detail = '', due = ?
           WHERE host = ? AND rest = ? AND state = ? AND reason = ? AND detail = ? RETURNING host, level""",
        [(State.WAITING, Reason.LINK, now, *key, State.PARKED, Reason.SAME_PAGE, url) for key in keys],
    ).fetchall()
    return reopened
