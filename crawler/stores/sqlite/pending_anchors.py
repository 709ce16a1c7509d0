"""The change feed tells of pages that others call something new: some time after they do, and once."""

from __future__ import annotations

import array
from typing import Any

import apsw

from crawler.items import ChangeEvent

_MOST = 64  # batches of visits whose anchors are told of in one transaction

_TELL = f"""
INSERT INTO changes (host, rest, change, document, at)
    SELECT ?1, ?2, '{ChangeEvent.META}', c.document, c.at FROM changes c
    WHERE c.version = (SELECT max(version) FROM changes WHERE host = ?1 AND rest = ?2)
      AND c.version <= ?3 AND c.change <> '{ChangeEvent.DELETE}'
"""


def has_some(connection: apsw.Connection) -> bool:
    return connection.execute("SELECT 1 FROM pending_anchors LIMIT 1").get is not None


def publish(connection: apsw.Connection) -> int:
    """Tell of some; of how many."""
    rows: list[Any] = connection.execute(
        "SELECT serial, version, targets FROM pending_anchors ORDER BY serial LIMIT ?", (_MOST,)
    ).fetchall()
    latest: dict[tuple[int, int], int] = {}  # by page, the version up to which nothing tells of all its anchors
    for _, version, targets in rows:
        numbers = array.array("q", targets)
        latest.update(dict.fromkeys(zip(numbers[::2], numbers[1::2], strict=True), version))
    before = connection.total_changes()
    connection.executemany(_TELL, [(*key, version) for key, version in latest.items()])
    told = connection.total_changes() - before
    connection.execute("DELETE FROM pending_anchors WHERE serial <= ?", (rows[-1][0] if rows else 0,))
    return told
