"""The role `documents` on SQLite: versions of URLs, their duplicates and anchors."""

from __future__ import annotations

from crawler.items import Key, Kind
from crawler.stores.contract.documents import DocumentRow
from crawler.stores.sqlite.database import Database
from crawler.stores.sqlite.document_rows import DOCUMENT, document_of, find_document
from crawler.stores.sqlite.originals import duplicates, pages_with_digests


class SqliteDocuments:
    """Implements `crawler.stores.contract.documents.DocumentStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def versions(self, key: Key) -> list[DocumentRow]:
        with self._database.errors():
            rows = self._database.connection.execute(
                f"""SELECT u.url, {DOCUMENT}
                    FROM documents d JOIN segments s ON s.id = d.segment
                    JOIN urls u ON u.host = d.host AND u.rest = d.rest
                    WHERE d.host = ? AND d.rest = ? ORDER BY d.fetched DESC, d.id DESC""",
                key,
            )
            return [document_of(key, url, row) for url, *row in rows]

    def find(self, document: int) -> DocumentRow | None:
        with self._database.errors():
            return find_document(self._database.connection, document)

    def of_pages(self, after: int, most: int) -> list[DocumentRow]:
        with self._database.errors():
            rows = self._database.connection.execute(
                f"""SELECT d.host, d.rest, u.url, {DOCUMENT}
                    FROM documents d JOIN segments s ON s.id = d.segment
                    JOIN urls u ON u.host = d.host AND u.rest = d.rest
                    WHERE d.id > ? AND d.kind = {Kind.PAGE:d} ORDER BY d.id LIMIT ?""",
                (after, most),
            )
            return [document_of(Key(host, rest), url, row) for host, rest, url, *row in rows]

    def anchors(self, key: Key) -> list[tuple[str, str]]:
        with self._database.errors():
            return list(
                self._database.connection.execute(
                    """SELECT h.name, a.text FROM anchors a JOIN hosts h ON h.host = a.source
                       WHERE a.host = ? AND a.rest = ? AND a.text <> '' ORDER BY h.name, a.text""",
                    key,
                )
            )

    def duplicates(self, key: Key) -> list[str]:
        with self._database.errors():
            return duplicates(self._database.connection, key)

    def with_digests(self, body_digest: bytes, text_digest: bytes, most: int) -> list[DocumentRow]:
        with self._database.snapshot() as connection:
            return pages_with_digests(connection, body_digest, text_digest, most)
