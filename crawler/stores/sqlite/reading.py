"""What a crawl knows, for people and other programs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import apsw

from crawler.frontier.budgets import day_of
from crawler.items import NO_VALIDATORS, Key, Kind, Reason, RobotsFile, State, Tier, Validators
from crawler.stores.contract import (
    ArchivePosition,
    CrawlAccount,
    DocumentRow,
    FeedAnnouncement,
    HostRow,
    PublishedChange,
    SegmentState,
    SiteRow,
    UrlRow,
)
from crawler.stores.sqlite.frontier import first_due
from crawler.stores.sqlite.rows import CLOCK_COLUMNS, RULES_COLUMNS, clock_of, rules_of


def find_url(connection: apsw.Connection, key: Key) -> UrlRow | None:
    row = connection.execute(
        """SELECT u.url, u.state, u.reason, u.kind, u.level, u.due, u.depth, u.hops, u.tries, u.crashes, v.url,
                  u.found, u.visited, u.last_reason, u.status, u.detail, u.visits, u.changes, u.hint,
                  max(u.inlinks, (SELECT count(DISTINCT a.site) FROM anchors a JOIN hosts h ON h.host = a.host
                                  WHERE a.host = u.host AND a.rest = u.rest AND a.site <> h.site)),
                  coalesce(t.missing, 0), l.url, t.lastmod, t.interval, t.etag, t.last_modified, t.length, t.reused
           FROM urls u LEFT JOIN urls v ON v.id = u.via LEFT JOIN url_facts t ON t.id = u.id LEFT JOIN urls l ON l.id = t.lister
           WHERE u.host = ? AND u.rest = ?""",
        key,
    ).get
    if row is None:
        return None
    return UrlRow(
        key=key,
        url=row[0],
        state=State(row[1]),
        reason=Reason(row[2]),
        kind=Kind(row[3]),
        level=row[4],
        due=row[5],
        depth=row[6],
        hops=row[7],
        tries=row[8],
        crashes=row[9],
        via=row[10],
        found=row[11],
        visited=row[12],
        last_reason=Reason(row[13]) if row[13] is not None else None,
        status=row[14],
        detail=row[15],
        visits=row[16],
        changes=row[17],
        hint=row[18],
        inlinks=row[19],
        missing=row[20],
        lister=row[21],
        lastmod=row[22],
        interval=row[23],
        validators=Validators(*row[24:28]) if row[26] is not None else NO_VALIDATORS,
    )


def collision(connection: apsw.Connection, key: Key) -> list[str]:
    return [row[0] for row in connection.execute("SELECT url FROM collisions WHERE host = ? AND rest = ?", key)]


def find_host(connection: apsw.Connection, host: int, now: float) -> HostRow | None:
    row = connection.execute(
        f"""SELECT name, partition, address, known, visits, pages, failures, bytes, admitted, excess,
                   iif(day = ?1, admitted_today, 0), iif(day = ?1, visits_today, 0), soft404, {CLOCK_COLUMNS}
            FROM hosts WHERE host = ?2""",
        (day_of(now), host),
    ).get
    if row is None:
        return None
    return HostRow(
        host=host,
        name=row[0],
        partition=row[1],
        address=row[2],
        known=row[3],
        visits=row[4],
        pages=row[5],
        failures=row[6],
        bytes=row[7],
        admitted=row[8],
        excess=row[9],
        admitted_today=row[10],
        visits_today=row[11],
        soft404=None if row[12] is None else bool(row[12]),
        clock=clock_of(row[13:]),
    )


def announcements(connection: apsw.Connection, key: Key) -> list[FeedAnnouncement]:
    rows = connection.execute(
        """SELECT f.url, a.title, a.summary, a.dated FROM announcements a JOIN urls f ON f.id = a.feed
           WHERE a.host = ? AND a.rest = ? ORDER BY a.found DESC""",
        key,
    )
    return [FeedAnnouncement(feed=row[0], title=row[1], summary=row[2], dated=row[3]) for row in rows]


def find_site(connection: apsw.Connection, host: int, now: float) -> SiteRow | None:
    row = connection.execute(
        """SELECT s.name, s.seeded, s.endorsers, s.admitted, s.excess,
                  iif(s.day = ?1, s.admitted_today, 0), iif(s.day = ?1, s.visits_today, 0)
           FROM sites s JOIN hosts h ON h.site = s.site WHERE h.host = ?2""",
        (day_of(now), host),
    ).get
    if row is None:
        return None
    return SiteRow(
        name=row[0],
        seeded=bool(row[1]),
        endorsers=row[2],
        admitted=row[3],
        excess=row[4],
        admitted_today=row[5],
        visits_today=row[6],
    )


def find_rules(connection: apsw.Connection, origin: str) -> RobotsFile | None:
    row = connection.execute(f"SELECT {RULES_COLUMNS} FROM origins WHERE origin = ?", (origin,)).get
    return rules_of(row) if row is not None else None


_NEWEST = (1 << 63) - 1

_DOCUMENT = """d.id, d.fetched, s.name, d.offset, d.length, d.status, d.reason, d.content_type, d.encoding,
       d.title, d.language, d.body_digest, d.text_digest, d.body_bytes, d.body_of, d.duplicate_of,
       d.format, d.encoding_source, d.problem, d.published, d.metadata, d.similarity, d.tier, d.weights"""


def _document_of(key: Key, url: str, row: Sequence[Any]) -> DocumentRow:
    """From the columns above."""
    return DocumentRow(
        id=row[0],
        key=key,
        url=url,
        fetched=row[1],
        position=ArchivePosition(segment=row[2], offset=row[3], length=row[4]),
        status=row[5],
        reason=Reason(row[6]),
        content_type=row[7],
        encoding=row[8],
        title=row[9],
        language=row[10],
        body_digest=row[11],
        text_digest=row[12],
        body_bytes=row[13],
        body_of=row[14],
        duplicate_of=row[15],
        format=row[16],
        encoding_source=row[17],
        problem=row[18],
        published=row[19],
        metadata=json.loads(row[20]),
        similarity=row[21],
        tier=Tier(row[22]) if row[22] is not None else None,
        weights=row[23],
    )


def documents(connection: apsw.Connection, key: Key) -> list[DocumentRow]:
    rows = connection.execute(
        f"""SELECT u.url, {_DOCUMENT}
            FROM documents d JOIN segments s ON s.id = d.segment JOIN urls u ON u.host = d.host AND u.rest = d.rest
            WHERE d.host = ? AND d.rest = ? ORDER BY d.fetched DESC, d.id DESC""",
        key,
    )
    return [_document_of(key, url, row) for url, *row in rows]


def find_document(connection: apsw.Connection, document: int) -> DocumentRow | None:
    row: Any = connection.execute(
        f"""SELECT d.host, d.rest, u.url, {_DOCUMENT}
            FROM documents d JOIN segments s ON s.id = d.segment JOIN urls u ON u.host = d.host AND u.rest = d.rest
            WHERE d.id = ?""",
        (document,),
    ).get
    return _document_of(Key(*row[:2]), row[2], row[3:]) if row is not None else None


def anchors(connection: apsw.Connection, key: Key) -> list[tuple[str, str]]:
    return list(
        connection.execute(
            """SELECT h.name, a.text FROM anchors a JOIN hosts h ON h.host = a.source
               WHERE a.host = ? AND a.rest = ? AND a.text <> '' ORDER BY h.name, a.text""",
            key,
        )
    )


def changes(connection: apsw.Connection, after: int) -> Iterator[tuple[str, str]]:
    yield from connection.execute(
        """SELECT c.change, u.url FROM changes c JOIN urls u ON u.host = c.host AND u.rest = c.rest
           WHERE c.version > ? ORDER BY c.version""",
        (after,),
    )


def version(connection: apsw.Connection) -> int:
    newest: int = connection.execute("SELECT coalesce(max(version), 0) FROM changes").get
    return newest


def published(
    connection: apsw.Connection, after: int, until: int | None = None, most: int | None = None, told: int | None = None
) -> Iterator[PublishedChange]:
    # Changes are walked in their order and the rest is looked up: nothing is sorted, so nothing is held in memory. While
    # the walk goes on, all reading by this connection is of the state that it began with.
    rows: Iterable[Any] = connection.execute(
        f"""SELECT c.version, c.host, c.rest, u.url, c.change <> 'delete', ou.url,
                   c.change = 'upsert' OR EXISTS (
                       SELECT 1 FROM changes n
                       WHERE n.host = c.host AND n.rest = c.rest AND n.version > ?4 AND n.version < c.version
                         AND n.change = 'upsert'),
                   c.reason, c.detail, c.at, {_DOCUMENT}
            FROM changes c CROSS JOIN urls u ON u.host = c.host AND u.rest = c.rest
            LEFT JOIN documents d ON d.id = c.document
            LEFT JOIN segments s ON s.id = d.segment
            LEFT JOIN documents o ON o.id = d.duplicate_of
            LEFT JOIN urls ou ON ou.host = o.host AND ou.rest = o.rest
            WHERE c.version > ?1 AND c.version <= ?2
              AND NOT EXISTS (
                  SELECT 1 FROM changes n
                  WHERE n.host = c.host AND n.rest = c.rest AND n.version > c.version AND n.version <= ?2)
            ORDER BY c.version LIMIT ?3""",
        (
            after,
            until if until is not None else _NEWEST,
            most if most is not None else -1,
            told if told is not None else after,
        ),
    )
    for version, host, rest, url, is_there, original, is_new, reason, detail, seen, *document in rows:
        key = Key(host, rest)
        yield PublishedChange(
            version=version,
            key=key,
            url=url,
            document=_document_of(key, url, document) if is_there else None,
            duplicate_of=original if is_there else None,
            seen=seen,
            is_new=bool(is_new),
            reason=Reason(reason) if reason is not None else None,
            detail=detail,
        )


def account(connection: apsw.Connection) -> CrawlAccount:
    known, waiting, leased, parked = connection.execute("SELECT * FROM accounting").get
    by_reason = connection.execute("SELECT state, reason, count(*) FROM urls GROUP BY 1, 2 ORDER BY 1, 3 DESC")
    pages = connection.execute(
        "SELECT count(*) FROM documents WHERE kind = ? AND status BETWEEN 200 AND 299 AND reason IN (?, ?)",
        (Kind.PAGE, Reason.OK, Reason.CUT_LENGTH),
    ).get
    return CrawlAccount(
        known=known,
        waiting=waiting,
        leased=leased,
        parked=parked,
        hosts=connection.execute("SELECT count(*) FROM hosts").get,
        documents=connection.execute("SELECT count(*) FROM documents").get,
        pages=pages,
        collisions=connection.execute("SELECT count(*) FROM collisions").get,
        by_reason=[(State(state), Reason(reason), count) for state, reason, count in by_reason],
        next_due=first_due(connection),
    )


def segments(connection: apsw.Connection, slot: int | None) -> list[SegmentState]:
    rows = connection.execute(
        "SELECT name, slot, length, records, closed FROM segments WHERE ?1 IS NULL OR slot = ?1 ORDER BY id", (slot,)
    )
    return [
        SegmentState(name=name, slot=number, length=length, records=records, closed=bool(closed))
        for name, number, length, records, closed in rows
    ]
