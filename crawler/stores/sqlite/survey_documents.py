"""Archived responses counted for reports: by reason, trait, size, file and cluster."""

from __future__ import annotations

from typing import Any

import apsw

from crawler.items import Kind, Reason, Tier
from crawler.stores.contract.survey import CopyCluster, CopyCounts, DocumentShare, DocumentTrait, SegmentFill
from crawler.stores.sqlite.originals import IS_SHOWN
from crawler.stores.sqlite.schema import COMPLETE_PAGE

# Pages as `CrawlAccount` counts them.
IS_PAGE = f"kind = {Kind.PAGE:d} AND status BETWEEN 200 AND 299 AND reason IN ({Reason.OK:d}, {Reason.CUT_LENGTH:d})"
_LONGEST_NAME = 100  # characters of a trait's value

_NAMES = {
    DocumentTrait.STATUS: "status",
    DocumentTrait.FORMAT: "format",
    DocumentTrait.CONTENT_TYPE: "lower(trim(substr(content_type, 1, instr(content_type || ';', ';') - 1)))",
    DocumentTrait.LANGUAGE: "language",
    DocumentTrait.PROBLEM: "problem",
}


def reason_counts(connection: apsw.Connection, condition: str, host: int | None) -> dict[int, int]:
    rows: Any = connection.execute(f"SELECT reason, count(*) FROM documents WHERE {condition} GROUP BY reason", (host,))
    return dict(rows)


def document_shares(
    connection: apsw.Connection, trait: DocumentTrait, most: int, condition: str, host: int | None
) -> list[DocumentShare]:
    page_condition = "TRUE" if trait is DocumentTrait.STATUS else IS_PAGE
    rows: Any = connection.execute(
        f"""SELECT substr({_NAMES[trait]}, 1, {_LONGEST_NAME}), count(*), sum(body_bytes) FROM documents
            WHERE {condition} AND {page_condition} GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ?2""",
        (host, most),
    )
    return [DocumentShare(*row) for row in rows]


def page_sizes(connection: apsw.Connection) -> list[tuple[int, int]]:
    steps = " ".join(f"WHEN body_bytes < {1 << power} THEN {power}" for power in range(40))
    rows: Any = connection.execute(
        f"SELECT CASE {steps} ELSE 40 END, count(*) FROM documents WHERE {IS_PAGE} GROUP BY 1 ORDER BY 1"
    )
    return list(rows)


def segment_fills(connection: apsw.Connection) -> list[SegmentFill]:
    rows: Any = connection.execute(
        """SELECT s.name, d.answers, d.body_bytes, d.record_bytes, d.reused
           FROM (SELECT segment, count(*) AS answers, sum(body_bytes) AS body_bytes, sum(length) AS record_bytes,
                        count(body_of) AS reused FROM documents GROUP BY segment) d
           JOIN segments s ON s.id = d.segment ORDER BY s.id"""
    )
    return [SegmentFill(*row) for row in rows]


def copy_counts(connection: apsw.Connection, most: int, examples: int) -> CopyCounts:
    tiers: Any = connection.execute(
        f"""SELECT tier, count(*) FROM documents d WHERE d.duplicate_of IS NOT NULL AND {IS_SHOWN}
            GROUP BY tier ORDER BY tier"""
    )
    groups = f"""
        SELECT o.host AS host, o.rest AS rest, count(*) AS copies, max(o.id) AS original, min(d.id) AS first
        FROM documents d JOIN documents o ON o.id = d.duplicate_of
        WHERE d.duplicate_of IS NOT NULL AND {IS_SHOWN} GROUP BY 1, 2"""
    largest: Any = connection.execute(
        f"""SELECT u.url, o.title, g.copies, g.host, g.rest
            FROM ({groups} ORDER BY copies DESC, first LIMIT ?) g
            JOIN urls u ON u.host = g.host AND u.rest = g.rest JOIN documents o ON o.id = g.original
            ORDER BY g.copies DESC, g.first""",
        (most,),
    ).fetchall()
    return CopyCounts(
        pages=connection.execute(
            f"SELECT count(*) FROM (SELECT DISTINCT host, rest FROM documents WHERE {COMPLETE_PAGE})"
        ).get,
        tiers=[(Tier(tier), count) for tier, count in tiers],
        clusters=connection.execute(f"SELECT count(*) FROM ({groups})").get,
        largest=[
            CopyCluster(url, title, copies, _copies(connection, host, rest, examples))
            for url, title, copies, host, rest in largest
        ],
    )


def _copies(connection: apsw.Connection, host: int, rest: int, most: int) -> list[str]:
    rows: Any = connection.execute(
        f"""SELECT u.url FROM documents o JOIN documents d ON d.duplicate_of = o.id
            JOIN urls u ON u.host = d.host AND u.rest = d.rest
            WHERE o.host = ? AND o.rest = ? AND {IS_SHOWN} ORDER BY d.id LIMIT ?""",
        (host, rest, most),
    )
    return [url for (url,) in rows]
