"""What was archived becomes a document: of whom it is a copy, whose body it shares, and what indexers hear of it."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import NamedTuple

import apsw

from crawler.frontier.aftermath import CONFIRMED, is_moved
from crawler.items import Key, Kind, Outcome, Page, Reason, Visited
from crawler.stores.contract import Original, Settled

_DELETED_BY = frozenset({Reason.GONE, Reason.ROBOTS_DENIED, Reason.NOINDEX, Reason.UNWANTED_TYPE})  # at once


def kind_of(visited: Visited) -> Kind:
    """What the URL is, as far as is known now: a page may turn out to be a feed."""
    page, kind = visited.page, visited.visit.kind
    is_open = kind is Kind.PAGE or visited.reason is Reason.NOT_A_LIST
    return page.kind if is_open and page is not None else kind


def known_bodies(connection: apsw.Connection, digests: Collection[bytes]) -> set[bytes]:
    return _known_digests(connection, "body_digest", "body_bytes > 0", digests)


def _known_digests(connection: apsw.Connection, column: str, condition: str, digests: Collection[bytes]) -> set[bytes]:
    """One question for a whole batch: most pages are copies of nothing."""
    if not digests:
        return set()
    marks = ",".join("?" * len(digests))
    rows = connection.execute(
        f"SELECT {column} FROM documents WHERE {column} IN ({marks}) AND kind = 0 AND reason = 20 AND {condition}",
        tuple(digests),
    )
    return {row[0] for row in rows}


def archived_body(connection: apsw.Connection, payload_digest: bytes, body_digest: bytes) -> Original | None:
    document = _body_holder(connection, payload_digest, body_digest)
    if document is None:
        return None
    url, started = connection.execute(
        """SELECT u.url, d.started FROM documents d JOIN urls u ON u.host = d.host AND u.rest = d.rest
           WHERE d.id = ?""",
        (document,),
    ).get
    return Original(url=url, started=started)


def held_body(connection: apsw.Connection, key: Key) -> Original | None:
    row = connection.execute(
        """SELECT u.url, b.started, b.payload_digest FROM documents d
           JOIN documents b ON b.id = coalesce(d.body_of, d.id) JOIN urls u ON u.host = b.host AND u.rest = b.rest
           WHERE d.host = ? AND d.rest = ? AND d.reason IN (20, 24) AND d.status BETWEEN 200 AND 299
           ORDER BY d.fetched DESC, d.id DESC LIMIT 1""",
        key,
    ).get
    return Original(url=row[0], started=row[1], payload_digest=row[2]) if row is not None else None


def _body_holder(connection: apsw.Connection, payload_digest: bytes, body_digest: bytes) -> int | None:
    """The document whose record has a body."""
    document: int | None = connection.execute(
        """SELECT id FROM documents
           WHERE body_digest = ? AND payload_digest = ? AND body_of IS NULL
             AND kind = 0 AND reason = 20 AND body_bytes > 0
           ORDER BY id LIMIT 1""",
        (body_digest, payload_digest),
    ).get
    return document


class Content:
    """Which digests of a batch are worth a question: those that a document has, or an earlier visit of the batch."""

    def __init__(self, connection: apsw.Connection, batch: Sequence[Settled]) -> None:
        pages = [settled.visited.page for settled in batch if settled.visited.page is not None]
        self.bodies = known_bodies(connection, {page.body_digest for page in pages})
        words = {page.text_digest for page in pages if page.text_digest}
        self.texts = _known_digests(connection, "text_digest", "text_digest <> x''", words)

    def note(self, page: Page) -> None:
        self.bodies.add(page.body_digest)
        self.texts.add(page.text_digest)


def note_document(connection: apsw.Connection, content: Content, settled: Settled, now: float) -> Copied | None:
    """Index an archived answer; the page of which it is a copy, if it is one."""
    visited, place = settled.visited, settled.place
    fetched, page, key = visited.fetched, visited.page, visited.visit.key
    document, original = None, None
    if place is not None and fetched is not None and page is not None and visited.outcome is not Outcome.UNCHANGED:
        original = _original(connection, content, visited, page)
        content.note(page)
        body_of = _body_holder(connection, page.payload_digest, page.body_digest) if settled.is_revisit else None
        document = connection.execute(
            """INSERT INTO documents (host, rest, fetched, segment, offset, length, kind, status, reason, content_type,
                                      encoding, title, language, payload_digest, body_digest, text_digest,
                                      links_digest, body_bytes, started, body_of, duplicate_of, format, encoding_source,
                                      problem, published, metadata)
               VALUES (?, ?, ?, (SELECT id FROM segments WHERE name = ?), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
                       ?, ?, ?, ?, ?)
               RETURNING id""",
            (
                *key,
                fetched.ended,
                place.segment,
                place.offset,
                place.length,
                kind_of(visited),
                fetched.status,
                visited.reason,
                page.content_type,
                page.encoding,
                page.title,
                page.language,
                page.payload_digest,
                page.body_digest,
                page.text_digest,
                page.links_digest,
                len(fetched.body),
                fetched.started,
                body_of,
                original.document if original is not None else None,
                page.format,
                page.encoding_source,
                page.problem,
                page.published,
                json.dumps(page.metadata, ensure_ascii=False) if page.metadata else "{}",
            ),
        ).get
    _publish(connection, settled, document, now)
    return original


class Copied(NamedTuple):
    """The page that had a content first."""

    document: int
    links_digest: int


def _original(connection: apsw.Connection, content: Content, visited: Visited, page: Page) -> Copied | None:
    """Another URL's page with the same bytes or the same words, as it is now."""
    if visited.outcome is not Outcome.FETCHED or visited.visit.kind is not Kind.PAGE or visited.reason is not Reason.OK:
        return None
    if page.body_digest and page.body_digest in content.bodies:
        first = _first_with(connection, "body_digest = ?1 AND body_bytes > 0", page.body_digest, visited.visit.key)
        if first is not None:
            return first
    if page.text_digest and page.text_digest in content.texts:
        return _first_with(connection, "text_digest = ?1 AND text_digest <> x''", page.text_digest, visited.visit.key)
    return None


def _first_with(connection: apsw.Connection, condition: str, digest: bytes, key: Key) -> Copied | None:
    """The first URL but this one whose present page has a content and is no copy itself."""
    row = connection.execute(
        f"""SELECT id, links_digest FROM documents d
            WHERE {condition} AND kind = 0 AND reason = 20 AND duplicate_of IS NULL AND NOT (host = ?2 AND rest = ?3)
              AND id = (SELECT id FROM documents n WHERE n.host = d.host AND n.rest = d.rest
                        ORDER BY fetched DESC, id DESC LIMIT 1)
            ORDER BY id LIMIT 1""",
        (digest, *key),
    ).get
    return Copied(*row) if row is not None else None


def _publish(connection: apsw.Connection, settled: Settled, document: int | None, now: float) -> None:
    """Tell the change feed."""
    visited = settled.visited
    key = visited.visit.key
    if visited.visit.kind is not Kind.PAGE:
        return
    is_page = visited.page is None or visited.page.kind is Kind.PAGE
    if document is not None and visited.outcome is Outcome.FETCHED and visited.reason is not Reason.NOINDEX and is_page:
        change = "upsert"
    elif visited.outcome is Outcome.UNCHANGED and (published := _published(connection, key)) is not None:
        change, document = "meta", published
    elif (not is_page or _is_gone(settled)) and _published(connection, key) is not None:
        change = "delete"
    else:
        return
    connection.execute(
        "INSERT INTO changes (host, rest, change, document, at) VALUES (?, ?, ?, ?, ?)",
        (*key, change, document, now),
    )


def _is_gone(settled: Settled) -> bool:
    """Whether a page is certainly there no more, or not for us: what may be back tomorrow is looked for again first."""
    visited = settled.visited
    if settled.aftermath.missing > visited.visit.missing:
        return settled.aftermath.missing >= CONFIRMED
    return visited.reason in _DELETED_BY or (visited.outcome is Outcome.REDIRECTED and is_moved(visited))


def _published(connection: apsw.Connection, key: tuple[int, int]) -> int | None:
    """The document that the feed says a URL has."""
    last = connection.execute(
        """SELECT change, document FROM changes
           WHERE version = (SELECT max(version) FROM changes WHERE host = ? AND rest = ?)""",
        key,
    ).get
    return last[1] if last is not None and last[0] != "delete" else None
