"""Soft 404: each host is probed once with a made-up URL, and the sketch of its answer is stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import apsw
from xxhash import xxh3_64_hexdigest

from crawler.items import Kind, Outcome, Reason, State
from crawler.stores.contract.commits import VisitResult
from crawler.stores.sqlite.new_urls import NewUrlRow, whole_second
from crawler.urls.hosts import origin_of
from crawler.urls.keys import key_of


def new_probes(connection: apsw.Connection, batch: Sequence[VisitResult], after: int, now: float) -> list[NewUrlRow]:
    """Return rows for probes of the hosts that have given `after` pages with this batch."""
    fetched = {
        result.visited.visit.key.host: result.visited.visit.url
        for result in batch
        if result.visited.outcome is Outcome.FETCHED and result.visited.visit.kind is Kind.PAGE
    }
    if not after or not fetched:
        return []
    hosts: list[Any] = connection.executemany(
        "UPDATE hosts SET soft404 = x'' WHERE host = ? AND soft404 IS NULL AND pages >= ? RETURNING host",
        [(host, after) for host in fetched],
    ).fetchall()
    return [_row(fetched[host], now) for (host,) in hosts]


def _row(url: str, now: float) -> NewUrlRow:
    origin, at = origin_of(url), whole_second(now)
    made_up = f"{origin}/{xxh3_64_hexdigest(origin.encode())}"
    return NewUrlRow(
        *key_of(made_up),
        url=made_up,
        state=State.WAITING,
        reason=Reason.PROBE_FILE,
        kind=Kind.PROBE,
        level=0,
        due=at,
        depth=0,
        hops=0,
        via=None,
        found=at,
    )


def store_sketches(connection: apsw.Connection, batch: Sequence[VisitResult]) -> None:
    """Store the sketches of answers to probes."""
    connection.executemany(
        "UPDATE hosts SET soft404 = ? WHERE host = ?",
        [
            (visited.page.soft404, visited.visit.key.host)
            for visited in (result.visited for result in batch)
            if visited.visit.kind is Kind.PROBE and visited.outcome is Outcome.FETCHED and visited.page is not None
        ],
    )
