"""Stores as older versions of Orbweaver left them."""

from __future__ import annotations

from pathlib import Path

import apsw

_FIRST_REASONS = (*range(1, 77), *range(80, 85))  # codes of the first version


def as_version_1(path: Path) -> None:
    """Turn the file of a current store into one that the first version could have written."""
    connection = apsw.Connection(str(path))
    connection.execute("DROP TABLE collisions")
    connection.execute("DROP TABLE gates")
    _undo_12(connection)
    _undo_11(connection)
    _undo_10(connection)
    _undo_9(connection)
    _undo_8(connection)
    _undo_7(connection)
    _undo_6(connection)
    _undo_5(connection)
    _undo_4(connection)
    for table in ("hosts", "origins"):
        connection.execute(f"ALTER TABLE {table} DROP COLUMN request_rate")
        connection.execute(f"ALTER TABLE {table} DROP COLUMN visit_time")
    connection.execute("DELETE FROM crawl WHERE name <> 'last_commit'")
    connection.execute(f"DELETE FROM reasons WHERE code NOT IN ({','.join(map(str, _FIRST_REASONS))})")
    connection.execute("UPDATE urls SET detail = '' WHERE visited IS NULL")
    connection.pragma("user_version", 1)
    connection.close()


_URLS_4 = """
CREATE TABLE urls_4 (
    host INTEGER NOT NULL,
    rest INTEGER NOT NULL,
    url TEXT NOT NULL,
    state INTEGER NOT NULL,
    reason INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    level INTEGER NOT NULL,
    due REAL NOT NULL,
    depth INTEGER NOT NULL,
    hops INTEGER NOT NULL DEFAULT 0,
    tries INTEGER NOT NULL DEFAULT 0,
    crashes INTEGER NOT NULL DEFAULT 0,
    epoch INTEGER,
    asked INTEGER,
    via_host INTEGER,
    via_rest INTEGER,
    found REAL NOT NULL,
    visited REAL,
    last_reason INTEGER,
    status INTEGER,
    detail TEXT NOT NULL DEFAULT '',
    etag TEXT,
    last_modified TEXT,
    visits INTEGER NOT NULL DEFAULT 0,
    changes INTEGER NOT NULL DEFAULT 0,
    inlinks INTEGER NOT NULL DEFAULT 0,
    hint REAL,
    PRIMARY KEY (host, rest)
) WITHOUT ROWID;
"""


def _undo_12(connection: apsw.Connection) -> None:
    connection.execute("DROP INDEX documents_relevance; DROP TABLE link_evidence; DROP TABLE focus; DROP TABLE rewards")
    for column in ("relevance", "has_body"):
        connection.execute(f"ALTER TABLE documents DROP COLUMN {column}")


def _undo_11(connection: apsw.Connection) -> None:
    connection.execute("ALTER TABLE documents DROP COLUMN extractor")


def _undo_10(connection: apsw.Connection) -> None:
    connection.execute(
        """ALTER TABLE url_facts RENAME TO told;
           ALTER TABLE remote_robots RENAME TO errands;
           ALTER TABLE template_jobs RENAME TO lessons;
           ALTER TABLE pending_anchors RENAME TO anchored;
           ALTER TABLE trust RENAME COLUMN source TO witness;
           ALTER TABLE urls RENAME COLUMN leased_host TO asked;
           DROP INDEX urls_waiting;
           ALTER TABLE urls DROP COLUMN step;
           CREATE INDEX urls_waiting ON urls (host, level, due) WHERE state = 0"""
    )


def _undo_9(connection: apsw.Connection) -> None:
    connection.execute("DROP TABLE anchored; DROP TABLE runs")
    for table, column in (("changes", "reason"), ("changes", "detail"), ("documents", "weights")):
        connection.execute(f"ALTER TABLE {table} DROP COLUMN {column}")


def _undo_8(connection: apsw.Connection) -> None:
    for table in ("sketches", "bands", "lessons"):
        connection.execute(f"DROP TABLE {table}")
    connection.execute(
        "CREATE TABLE sketches (band INTEGER NOT NULL, document INTEGER NOT NULL, PRIMARY KEY (band, document))"
    )
    connection.execute("DROP INDEX documents_copies")
    for column in ("similarity", "tier"):
        connection.execute(f"ALTER TABLE documents DROP COLUMN {column}")
    connection.execute("ALTER TABLE hosts DROP COLUMN template")


def _undo_7(connection: apsw.Connection) -> None:
    for column in ("format", "encoding_source", "problem", "published", "metadata"):
        connection.execute(f"ALTER TABLE documents DROP COLUMN {column}")


def _undo_6(connection: apsw.Connection) -> None:
    for column in ("etag", "last_modified"):
        connection.execute(f"ALTER TABLE urls ADD COLUMN {column} TEXT")
    connection.execute("DROP TABLE told")
    connection.execute("ALTER TABLE hosts DROP COLUMN soft404; DROP INDEX urls_sitemaps")
    connection.execute("DROP TABLE trust; DROP TABLE announcements; DROP TABLE vouchers")
    connection.execute(
        """ALTER TABLE changes RENAME TO changes_6;
           CREATE TABLE changes (
               version INTEGER PRIMARY KEY AUTOINCREMENT, host INTEGER NOT NULL, rest INTEGER NOT NULL,
               change TEXT NOT NULL CHECK (change IN ('upsert', 'delete')), document INTEGER, at REAL NOT NULL);
           INSERT INTO changes SELECT * FROM changes_6;
           DROP TABLE changes_6;
           CREATE INDEX changes_of_url ON changes (host, rest, version)"""
    )


def _undo_5(connection: apsw.Connection) -> None:
    view = connection.execute("SELECT sql FROM sqlite_schema WHERE name = 'accounting'").get
    connection.execute("DROP VIEW accounting")
    connection.execute(_URLS_4)
    columns = (
        "host, rest, url, state, reason, kind, level, due, depth, hops, tries, crashes, epoch, asked, found, visited, "
        "last_reason, status, detail, etag, last_modified, visits, changes, inlinks, hint"
    )
    connection.execute(f"INSERT INTO urls_4 ({columns}) SELECT {columns} FROM urls")
    connection.execute(
        """UPDATE urls_4 SET (via_host, via_rest) = (
               SELECT v.host, v.rest FROM urls u JOIN urls v ON v.id = u.via
               WHERE u.host = urls_4.host AND u.rest = urls_4.rest)"""
    )
    connection.execute("DROP TABLE urls")
    connection.execute("ALTER TABLE urls_4 RENAME TO urls")
    connection.execute("CREATE INDEX urls_waiting ON urls (host, level, due) WHERE state = 0")
    connection.execute("CREATE INDEX urls_leased ON urls (host) WHERE state = 1")
    connection.execute("CREATE INDEX urls_over_budget ON urls (host, level, due) WHERE state = 2")
    connection.execute(view)
    connection.execute("DROP TABLE workers; DROP TABLE addresses; DROP TABLE errands; DROP INDEX hosts_front")
    connection.execute("CREATE INDEX hosts_front ON hosts (level, due) WHERE due IS NOT NULL")


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
