"""Stores as older versions of Orbweaver left them."""

from __future__ import annotations

from pathlib import Path

import apsw

_FIRST_REASONS = (*range(1, 77), *range(80, 85))  # codes that the first version knew


def as_version_1(path: Path) -> None:
    """Make of a store's file, written now, one that the first version could have written."""
    connection = apsw.Connection(str(path))
    connection.execute("DROP TABLE collisions")
    connection.execute("DROP TABLE gates")
    _undo_4(connection)
    for table in ("hosts", "origins"):
        connection.execute(f"ALTER TABLE {table} DROP COLUMN request_rate")
        connection.execute(f"ALTER TABLE {table} DROP COLUMN visit_time")
    connection.execute("DELETE FROM crawl WHERE name <> 'last_commit'")
    connection.execute(f"DELETE FROM reasons WHERE code NOT IN ({','.join(map(str, _FIRST_REASONS))})")
    connection.execute("UPDATE urls SET detail = '' WHERE visited IS NULL")
    connection.pragma("user_version", 1)
    connection.close()


def _undo_4(connection: apsw.Connection) -> None:
    for index in ("hosts_in_excess", "origins_by_preferred", "urls_over_budget"):
        connection.execute(f"DROP INDEX {index}")
    for table, columns in {
        "hosts": "site admitted excess day admitted_today visits_today last_bytes levels",
        "origins": "preferred",
        "urls": "inlinks hint",
        "anchors": "site",
    }.items():
        for column in columns.split():
            connection.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
    connection.execute("DROP TABLE sites; DROP TABLE site_links; UPDATE urls SET level = min(depth, 4)")
