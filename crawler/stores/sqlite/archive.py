"""The role `archive` on SQLite: archive files with their committed lengths, and the bodies in them."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from crawler.items import Key, Reason
from crawler.stores.contract.archive import ArchivedBody, SegmentState
from crawler.stores.sqlite.database import Database
from crawler.stores.sqlite.document_writer import body_holder, known_bodies

_LAST_BODY = f"""
SELECT u.url, b.started, b.payload_digest FROM documents d
JOIN documents b ON b.id = coalesce(d.body_of, d.id)
JOIN urls u ON u.host = b.host AND u.rest = b.rest
WHERE d.host = ? AND d.rest = ? AND d.reason IN ({Reason.OK:d}, {Reason.NOINDEX:d}, {Reason.OFF_TOPIC:d}) AND d.has_body
  AND d.status BETWEEN 200 AND 299
ORDER BY d.fetched DESC, d.id DESC LIMIT 1
"""

_DIRECTORY = "archive_of_place_"  # facts: where a crawl directory keeps its archive files


class SqliteArchive:
    """Implements `crawler.stores.contract.archive.ArchiveStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def segments(self, slot: int | None = None) -> list[SegmentState]:
        with self._database.errors():
            rows = self._database.connection.execute(
                "SELECT name, slot, length, records, closed FROM segments WHERE ?1 IS NULL OR slot = ?1 ORDER BY id",
                (slot,),
            )
            return [
                SegmentState(name=name, slot=number, length=length, records=records, closed=bool(closed))
                for name, number, length, records, closed in rows
            ]

    def add_directory(self, place: str, directory: str) -> None:
        with self._database.transaction() as connection:
            connection.execute("INSERT OR REPLACE INTO crawl VALUES (?, ?)", (f"{_DIRECTORY}{place}", directory))

    def directories(self) -> Mapping[str, str]:
        with self._database.errors():
            rows = self._database.connection.execute(
                f"SELECT substr(name, {len(_DIRECTORY) + 1}), value FROM crawl WHERE name GLOB '{_DIRECTORY}*'"
            )
            return dict(rows)

    def close_segment(self, name: str) -> None:
        with self._database.transaction() as connection:
            connection.execute("UPDATE segments SET closed = 1 WHERE name = ?", (name,))

    def known_bodies(self, digests: Collection[bytes]) -> set[bytes]:
        with self._database.errors():
            return known_bodies(self._database.connection, digests)

    def find_body(self, payload_digest: bytes, body_digest: bytes) -> ArchivedBody | None:
        with self._database.errors():
            document = body_holder(self._database.connection, payload_digest, body_digest)
            if document is None:
                return None
            url, started = self._database.connection.execute(
                """SELECT u.url, d.started FROM documents d JOIN urls u ON u.host = d.host AND u.rest = d.rest
                   WHERE d.id = ?""",
                (document,),
            ).get
        return ArchivedBody(url=url, started=started)

    def last_body(self, key: Key) -> ArchivedBody | None:
        with self._database.errors():
            row = self._database.connection.execute(_LAST_BODY, key).get
        if row is None:
            return None
        url, started, payload_digest = row
        return ArchivedBody(url=url, started=started, payload_digest=payload_digest)
