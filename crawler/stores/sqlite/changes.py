"""The role `changes` on SQLite: the change feed, read in the order of its versions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from crawler.items import ChangeEvent, Key, Reason
from crawler.stores.contract.changes import PublishedChange
from crawler.stores.sqlite import pending_anchors
from crawler.stores.sqlite.database import Database
from crawler.stores.sqlite.document_rows import DOCUMENT, document_of

_NEWEST = (1 << 63) - 1

# Changes are read in their order and joined row by row: nothing is sorted, so nothing is held in memory. Until the
# statement ends, all reads of this connection see the state in which it began.
_PUBLISHED = f"""
SELECT c.version, c.host, c.rest, u.url, c.change <> '{ChangeEvent.DELETE}', ou.url,
       c.change = '{ChangeEvent.UPSERT}' OR EXISTS (
           SELECT 1 FROM changes n
           WHERE n.host = c.host AND n.rest = c.rest AND n.version > ?4 AND n.version < c.version
             AND n.change = '{ChangeEvent.UPSERT}'),
       c.reason, c.detail, c.at, {DOCUMENT}
FROM changes c CROSS JOIN urls u ON u.host = c.host AND u.rest = c.rest
LEFT JOIN documents d ON d.id = c.document
LEFT JOIN segments s ON s.id = d.segment
LEFT JOIN documents o ON o.id = d.duplicate_of
LEFT JOIN urls ou ON ou.host = o.host AND ou.rest = o.rest
WHERE c.version > ?1 AND c.version <= ?2
  AND NOT EXISTS (
      SELECT 1 FROM changes n
      WHERE n.host = c.host AND n.rest = c.rest AND n.version > c.version AND n.version <= ?2)
ORDER BY c.version LIMIT ?3
"""


class SqliteChanges:
    """Implements `crawler.stores.contract.changes.ChangeStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def entries(self, after: int = 0) -> Iterator[tuple[str, str]]:
        with self._database.errors():
            yield from self._database.connection.execute(
                """SELECT c.change, u.url FROM changes c JOIN urls u ON u.host = c.host AND u.rest = c.rest
                   WHERE c.version > ? ORDER BY c.version""",
                (after,),
            )

    def version(self) -> int:
        with self._database.errors():
            newest: int = self._database.connection.execute("SELECT coalesce(max(version), 0) FROM changes").get
            return newest

    def published(
        self, after: int = 0, until: int | None = None, most: int | None = None, seen: int | None = None
    ) -> Iterator[PublishedChange]:
        with self._database.errors():
            rows: Iterable[Any] = self._database.connection.execute(
                _PUBLISHED,
                (
                    after,
                    until if until is not None else _NEWEST,
                    most if most is not None else -1,
                    seen if seen is not None else after,
                ),
            )
            for version, host, rest, url, is_there, original, is_new, reason, detail, at, *document in rows:
                key = Key(host, rest)
                yield PublishedChange(
                    version=version,
                    key=key,
                    url=url,
                    document=document_of(key, url, document) if is_there else None,
                    duplicate_of=original if is_there else None,
                    seen=at,
                    is_new=bool(is_new),
                    reason=Reason(reason) if reason is not None else None,
                    detail=detail,
                )

    def publish_anchors(self) -> int:
        published = 0
        while pending_anchors.has_pending(self._database.connection):
            with self._database.transaction() as connection:
                published += pending_anchors.publish(connection)
        return published

    def has_pending_anchors(self) -> bool:
        with self._database.errors():
            return pending_anchors.has_pending(self._database.connection)

    def version_mark(self, version: int) -> str:
        with self._database.errors():
            row = self._database.connection.execute(
                "SELECT host, rest, at FROM changes WHERE version = ?", (version,)
            ).get
        return ":".join(map(str, row)) if row is not None else ""
