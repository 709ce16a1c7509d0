"""All pages that can be compared, for whoever goes through the whole collection; a crawl may go on meanwhile."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import apsw

from crawler.stores.contract import DocumentRow, Doubt
from crawler.stores.sqlite.copies import IS_SHOWN
from crawler.stores.sqlite.reading import find_document

_BLOCK = 8_192  # pages that are read at a time: no reading is so long that the log could not be put into the file

_COPIES = f"""
SELECT id FROM (
    SELECT d.id, d.host, d.rest, d.kind, d.reason FROM documents d
    WHERE d.body_digest = ?1 AND d.kind = 0 AND d.reason = 20 AND d.body_bytes > 0
    UNION
    SELECT d.id, d.host, d.rest, d.kind, d.reason FROM documents d
    WHERE d.text_digest = ?2 AND d.kind = 0 AND d.reason = 20 AND d.text_digest <> x''
) d WHERE {IS_SHOWN} ORDER BY id LIMIT ?3
"""


def sketches(connection: apsw.Connection) -> Iterator[Sequence[tuple[int, int, bytes]]]:
    rows = _block(connection, -1)
    while rows:
        yield rows
        rows = _block(connection, rows[-1][0])


def count_sketches(connection: apsw.Connection) -> int:
    count: int = connection.execute("SELECT count(*) FROM sketches").get
    return count


def sketched(connection: apsw.Connection, number: int) -> Doubt | None:
    document = connection.execute("SELECT document FROM sketches WHERE id = ?", (number,)).get
    found = find_document(connection, document) if document is not None else None
    return Doubt(id=number, document=found, template=template(connection, found.key.host)) if found else None


def template(connection: apsw.Connection, host: int) -> bytes:
    found: bytes | None = connection.execute("SELECT template FROM hosts WHERE host = ?", (host,)).get
    return found or b""


def copies(connection: apsw.Connection, body_digest: bytes, text_digest: bytes, most: int) -> list[DocumentRow]:
    rows: list[Any] = connection.execute(_COPIES, (body_digest, text_digest, most)).fetchall()
    return [found for (number,) in rows if (found := find_document(connection, number)) is not None]


def _block(connection: apsw.Connection, after: int) -> list[Any]:
    return connection.execute(
        "SELECT id, document, sketch FROM sketches WHERE id > ? ORDER BY id LIMIT ?", (after, _BLOCK)
    ).fetchall()
