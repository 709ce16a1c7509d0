"""New anchor text of a page is published in the change feed: once for all links since the last time."""

from __future__ import annotations

import array
from typing import Any

import apsw

from crawler.items import ChangeEvent

_BATCHES = 64  # batches of visits whose anchors are published in one transaction

_PUBLISH = f"""
INSERT INTO changes (host, rest, change, document, at)
    SELECT ?1, ?2, '{ChangeEvent.META}', c.document, c.at FROM changes c
    WHERE c.version = (SELECT max(version) FROM changes WHERE host = ?1 AND rest = ?2)
      AND c.version <= ?3 AND c.change <> '{ChangeEvent.DELETE}'
"""


def has_pending(connection: apsw.Connection) -> bool:
    """Whether there is anchor text to publish."""
    return connection.execute("SELECT 1 FROM pending_anchors LIMIT 1").get is not None


def publish(connection: apsw.Connection) -> int:
    """Publish the oldest batches, and return the number of feed entries."""
    rows: list[Any] = connection.execute(
        "SELECT serial, version, targets FROM pending_anchors ORDER BY serial LIMIT ?", (_BATCHES,)
    ).fetchall()
    latest: dict[tuple[int, int], int] = {}  # page → feed version when its anchors were found
    for _, version, targets in rows:
        numbers = array.array("q", targets)
        latest.update(dict.fromkeys(zip(numbers[::2], numbers[1::2], strict=True), version))
    before = connection.total_changes()
    connection.executemany(_PUBLISH, [(*key, version) for key, version in latest.items()])
    published = connection.total_changes() - before
    connection.execute("DELETE FROM pending_anchors WHERE serial <= ?", (rows[-1][0] if rows else 0,))
    return published
