"""What was archived becomes a document: of whom it is a copy, whose body it shares, and what indexers hear of it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import apsw

from crawler.frontier.next_state import GONE_AFTER_MISSING, is_moved
from crawler.items import ChangeEvent, Key, Kind, Outcome, Page, Reason, Tier, Visited
from crawler.stores.contract.commits import VisitResult
from crawler.stores.sqlite.document_rows import NewDocument, insert_document, may_be_copied
from crawler.stores.sqlite.originals import IS_COMPLETE, IS_SHOWN, OriginalPage, Originals
from crawler.stores.sqlite.schema import COMPLETE_PAGE
from crawler.stores.sqlite.similarity_index import SimilarityIndex, SketchRow

_DELETED_BY = frozenset({Reason.GONE, Reason.ROBOTS_DENIED, Reason.NOINDEX, Reason.UNWANTED_TYPE})  # at once

_BODY_HOLDER = f"""
SELECT id FROM documents
WHERE body_digest = ? AND payload_digest = ? AND body_of IS NULL AND {COMPLETE_PAGE} AND body_bytes > 0
ORDER BY id LIMIT 1
"""
_IS_ELSEWHERE = f"""
SELECT EXISTS (SELECT 1 FROM documents WHERE body_digest = ?1 AND {COMPLETE_PAGE} AND body_bytes > 0
                 AND NOT (host = ?3 AND rest = ?4))
    OR EXISTS (SELECT 1 FROM documents WHERE text_digest = ?2 AND {COMPLETE_PAGE} AND text_digest <> x''
                 AND NOT (host = ?3 AND rest = ?4))
"""
_LAST_DIGESTS = f"""
SELECT body_digest, text_digest FROM documents WHERE host = ? AND rest = ? AND {COMPLETE_PAGE}
ORDER BY fetched DESC, id DESC LIMIT 1
"""


def known_bodies(connection: apsw.Connection, digests: Collection[bytes]) -> set[bytes]:
    return _known_digests(connection, "body_digest", "body_bytes > 0", digests)


def _known_digests(connection: apsw.Connection, column: str, condition: str, digests: Collection[bytes]) -> set[bytes]:
    """One question for a whole batch: most pages are copies of nothing."""
    if not digests:
        return set()
    marks = ",".join("?" * len(digests))
    rows = connection.execute(
        f"SELECT {column} FROM documents WHERE {column} IN ({marks}) AND {COMPLETE_PAGE} AND {condition}",
        tuple(digests),
    )
    return {row[0] for row in rows}


def body_holder(connection: apsw.Connection, payload_digest: bytes, body_digest: bytes) -> int | None:
    """The document whose record has a body."""
    document: int | None = connection.execute(_BODY_HOLDER, (body_digest, payload_digest)).get
    return document


def is_elsewhere(connection: apsw.Connection, page: Page, key: Key) -> bool:
    """Whether another URL has a page with the same bytes or the same words."""
    return bool(connection.execute(_IS_ELSEWHERE, (page.body_digest, page.text_digest, *key)).get)


class DigestLookup:
    """Which digests of a batch are worth a question: those that a document has, or an earlier visit of the batch."""

    def __init__(self, connection: apsw.Connection, batch: Sequence[VisitResult]) -> None:
        pages = [settled.visited.page for settled in batch if settled.visited.page is not None]
        self.bodies = known_bodies(connection, {page.body_digest for page in pages})
        words = {page.text_digest for page in pages if page.text_digest}
        self.texts = _known_digests(connection, "text_digest", "text_digest <> x''", words)

    def note(self, page: Page) -> None:
        self.bodies.add(page.body_digest)
        self.texts.add(page.text_digest)


class NotedDocument(NamedTuple):
    """What became of one visit's document."""

    document: int | None
    original: OriginalPage | None  # the page of which it is a copy
    is_preferred: bool  # it has taken the place of that page, because its URL is the better one
    change: ChangeEvent | None  # what the change feed says of it


class DocumentWriter:
    """The documents of a batch, as they are noted one by one."""

    def __init__(
        self, connection: apsw.Connection, index: SimilarityIndex, batch: Sequence[VisitResult], now: float
    ) -> None:
        self._connection = connection
        self._content = DigestLookup(connection, batch)
        self._index = index
        self._copies = Originals(connection, index, now)
        self._now = now
        index.look_up({settled.visited.page.sketch for settled in batch if settled.visited.page is not None} - {b""})

    def note(self, number: int, settled: VisitResult) -> NotedDocument:
        """Index an archived answer of the URL with this number, and publish it."""
        visited = settled.visited
        key, page = visited.visit.key, visited.page
        document, original = None, None
        before = _present(self._connection, key) if visited.visit.visited is not None else None
        if settled.position is not None and page is not None and visited.outcome is not Outcome.UNCHANGED:
            original = self._original(number, settled, page)
            self._content.note(page)
            document = self._insert(settled, page, original)
            self._enter(number, visited, page, document, original)
        change = _publish(self._connection, settled, document, self._now)
        is_deleted = change is ChangeEvent.DELETE
        if is_deleted:
            self._index.leave(number)
        is_preferred = False
        if original is not None and document is not None:
            is_preferred = self._copies.prefer(document, original.document)
        is_other = original is not None or (before is not None and _has_changed(before, visited))
        if is_deleted or (before is not None and document is not None and is_other):
            self._copies.settle(key)
        return NotedDocument(document, original, is_preferred, change)

    def _enter(self, number: int, visited: Visited, page: Page, document: int, original: OriginalPage | None) -> None:
        """Have the page found by others that are almost the same, if it can be compared at all."""
        if page.sketch and may_be_copied(visited):
            entry = SketchRow(document, visited.visit.key.host, page.template, original is None, page.sketch)
            self._index.enter(number, entry, is_first=visited.visit.visited is None)
        elif may_be_copied(visited) and visited.visit.visited is not None:
            self._index.leave(number)

    def _original(self, number: int, settled: VisitResult, page: Page) -> OriginalPage | None:
        """Another URL's page with the same bytes, the same words, or almost the same words, as it is now."""
        visited, content = settled.visited, self._content
        if not may_be_copied(visited):
            return None
        key = visited.visit.key
        found = None
        if page.body_digest and page.body_digest in content.bodies:
            found = self._first_with("d.body_digest = ?1 AND d.body_bytes > 0", page.body_digest, key, Tier.BODY)
        if found is None and page.text_digest and page.text_digest in content.texts:
            found = self._first_with("d.text_digest = ?1 AND d.text_digest <> x''", page.text_digest, key, Tier.TEXT)
        if found is None and page.sketch:
            found = self._nearest(number, settled, page)
        return found

    def _nearest(self, number: int, settled: VisitResult, page: Page) -> OriginalPage | None:
        like = self._index.judge(number, page.sketch, settled.compared)
        if like.of is None or like.tier is None:
            return None
        links = self._connection.execute("SELECT links_digest FROM documents WHERE id = ?", (like.of.document,)).get
        return OriginalPage(like.of.document, links, like.similarity, like.tier)

    def _first_with(self, condition: str, digest: bytes, key: Key, tier: Tier) -> OriginalPage | None:
        """The original among the other URLs that have a content now; the first of them that is found knows it."""
        row = self._connection.execute(
            f"""SELECT d.id, d.links_digest, d.duplicate_of, d.similarity, d.tier FROM documents d
                LEFT JOIN documents o ON o.id = d.duplicate_of
                WHERE {condition} AND {IS_COMPLETE} AND NOT (d.host = ?2 AND d.rest = ?3)
                  AND NOT (o.id IS NOT NULL AND o.host = ?2 AND o.rest = ?3) AND {IS_SHOWN}
                ORDER BY d.id LIMIT 1""",
            (digest, *key),
        ).get
        if row is None:
            return None
        document, links_digest, original, share, copied = row
        if original is None:
            return OriginalPage(document, links_digest, 1.0, tier)
        shown = self._copies.shown(original)
        return OriginalPage(shown.document, links_digest, share, Tier(copied)) if shown is not None else None

    def _insert(self, result: VisitResult, page: Page, original: OriginalPage | None) -> int:
        fetched, position = result.visited.fetched, result.position
        assert fetched is not None, "an answer was archived"
        assert position is not None, "at a position"
        body_of = None
        if result.is_revisit:
            body_of = body_holder(self._connection, page.payload_digest, page.body_digest)
        copied = (original.document, original.similarity, original.tier) if original else (None, None, None)
        return insert_document(self._connection, NewDocument(result.visited, fetched, page, body_of, *copied), position)


def _present(connection: apsw.Connection, key: Key) -> tuple[bytes, bytes] | None:
    """Digests of the body and of the words of the last whole page of a URL."""
    row: tuple[bytes, bytes] | None = connection.execute(_LAST_DIGESTS, key).get
    return row


def _has_changed(before: tuple[bytes, bytes], visited: Visited) -> bool:
    """Whether a page says something else than the whole one before it, or is not whole."""
    page = visited.page
    if page is None or not may_be_copied(visited):
        return True
    return before[0] != page.body_digest and (not page.text_digest or before[1] != page.text_digest)


def _publish(connection: apsw.Connection, settled: VisitResult, document: int | None, now: float) -> ChangeEvent | None:
    """Write an entry of the change feed, if there is something to say."""
    visited = settled.visited
    key = visited.visit.key
    if visited.visit.kind is not Kind.PAGE:
        return None
    is_page = visited.page is None or visited.page.kind is Kind.PAGE
    reason, detail = None, ""
    if document is not None and visited.outcome is Outcome.FETCHED and visited.reason is not Reason.NOINDEX and is_page:
        change = ChangeEvent.UPSERT
        if visited.visit.visited is not None and _is_published(connection, key, document):
            change = ChangeEvent.META
    elif visited.outcome is Outcome.UNCHANGED and (published := _published(connection, key)) is not None:
        change, document = ChangeEvent.META, published
    elif (not is_page or _is_gone(settled)) and _published(connection, key) is not None:
        change = ChangeEvent.DELETE
        reason = visited.reason if is_page else Reason.NOT_A_PAGE
        detail = visited.location.url if visited.location is not None else ""
    else:
        return None
    connection.execute(
        "INSERT INTO changes (host, rest, change, document, at, reason, detail) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (*key, change, document, visited.fetched.ended if visited.fetched is not None else now, reason, detail),
    )
    return change


def _is_published(connection: apsw.Connection, key: Key, document: int) -> bool:
    """Whether the feed has published all that a new version of a document says."""
    before = _published(connection, key)
    if before is None:
        return False
    return _content(connection, before) == _content(connection, document)


def _content(connection: apsw.Connection, document: int) -> object:
    """What a document says, and what it is a copy of."""
    return connection.execute(
        """SELECT d.body_digest, d.content_type, d.encoding, d.status, d.reason, d.metadata, o.host, o.rest, d.similarity, d.tier
           FROM documents d LEFT JOIN documents o ON o.id = d.duplicate_of WHERE d.id = ?""",
        (document,),
    ).get


def _is_gone(settled: VisitResult) -> bool:
    """Whether a page is certainly there no more, or not for us: what may be back tomorrow is looked for again first."""
    visited = settled.visited
    if settled.next_state.missing > visited.visit.missing:
        return settled.next_state.missing >= GONE_AFTER_MISSING
    return visited.reason in _DELETED_BY or (visited.outcome is Outcome.REDIRECTED and is_moved(visited))


def _published(connection: apsw.Connection, key: tuple[int, int]) -> int | None:
    """The document that the feed says a URL has."""
    last = connection.execute(
        """SELECT change, document FROM changes
           WHERE version = (SELECT max(version) FROM changes WHERE host = ? AND rest = ?)""",
        key,
    ).get
    return last[1] if last is not None and last[0] != ChangeEvent.DELETE else None
