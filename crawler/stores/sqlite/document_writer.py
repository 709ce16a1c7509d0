"""Archived responses become documents: their originals are found, and the change feed is written."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import apsw

from crawler.frontier.next_state import GONE_AFTER_MISSING, is_moved
from crawler.items import ChangeEvent, Key, Kind, Outcome, Page, Reason, Tier, Visited
from crawler.stores.contract.commits import VisitResult
from crawler.stores.sqlite.document_rows import NewDocument, insert_document, is_complete_page, sketch_of
from crawler.stores.sqlite.originals import IS_COMPLETE, IS_SHOWN, OriginalPage, Originals
from crawler.stores.sqlite.schema import COMPLETE_PAGE
from crawler.stores.sqlite.similarity_index import SimilarityIndex, SketchRow

NOT_PUBLISHED = frozenset({Reason.NOINDEX, Reason.OFF_TOPIC})  # reasons of documents that no index may have
# Reasons for which a page is deleted from the feed at the first visit.
DELETED_BY = frozenset({Reason.GONE, Reason.ROBOTS_DENIED, *NOT_PUBLISHED, Reason.UNWANTED_TYPE})

_BODY_HOLDER = f"""
SELECT id FROM documents
WHERE body_digest = ? AND payload_digest = ? AND body_of IS NULL AND {COMPLETE_PAGE} AND body_bytes > 0
ORDER BY id LIMIT 1
"""
_HAS_EXACT_COPY = f"""
SELECT EXISTS (SELECT 1 FROM documents WHERE body_digest = ?1 AND {COMPLETE_PAGE} AND body_bytes > 0
                 AND NOT (host = ?3 AND rest = ?4))
    OR EXISTS (SELECT 1 FROM documents WHERE text_digest = ?2 AND {COMPLETE_PAGE} AND text_digest <> x''
                 AND NOT (host = ?3 AND rest = ?4))
"""
_LAST_VERSION = f"""
SELECT id, body_digest, text_digest, duplicate_of, similarity, tier FROM documents
WHERE host = ? AND rest = ? AND {COMPLETE_PAGE} ORDER BY fetched DESC, id DESC LIMIT 1
"""


def known_bodies(connection: apsw.Connection, digests: Collection[bytes]) -> set[bytes]:
    """Return those of the body digests that an archived page has."""
    return _known_digests(connection, "body_digest", "body_bytes > 0", digests)


def _known_digests(connection: apsw.Connection, column: str, condition: str, digests: Collection[bytes]) -> set[bytes]:
    """Return those of the digests that a document has: one query for a batch, because most pages have no copy."""
    if not digests:
        return set()
    placeholders = ",".join("?" * len(digests))
    rows = connection.execute(
        f"SELECT {column} FROM documents WHERE {column} IN ({placeholders}) AND {COMPLETE_PAGE} AND {condition}",
        tuple(digests),
    )
    return {row[0] for row in rows}


def body_holder(connection: apsw.Connection, payload_digest: bytes, body_digest: bytes) -> int | None:
    """Return the document whose record holds a body."""
    document: int | None = connection.execute(_BODY_HOLDER, (body_digest, payload_digest)).get
    return document


def has_exact_copy(connection: apsw.Connection, page: Page, key: Key) -> bool:
    """Whether another URL has a page with the same body or the same text."""
    return bool(connection.execute(_HAS_EXACT_COPY, (page.body_digest, page.text_digest, *key)).get)


class DigestLookup:
    """The digests of a batch that a document has, or an earlier visit of the batch: only these are looked up."""

    def __init__(self, connection: apsw.Connection, batch: Sequence[VisitResult]) -> None:
        pages = [result.visited.page for result in batch if result.visited.page is not None]
        self.bodies = known_bodies(connection, {page.body_digest for page in pages})
        texts = {page.text_digest for page in pages if page.text_digest}
        self.texts = _known_digests(connection, "text_digest", "text_digest <> x''", texts)

    def add(self, page: Page) -> None:
        self.bodies.add(page.body_digest)
        self.texts.add(page.text_digest)


class LastVersion(NamedTuple):
    """The last complete page of a URL."""

    document: int
    body_digest: bytes
    text_digest: bytes
    duplicate_of: int | None
    similarity: float | None
    tier: int | None


class AddedDocument(NamedTuple):
    """The document of one visit, its original, and its entry in the change feed."""

    document: int | None
    original: OriginalPage | None  # the page of which it is a copy
    is_preferred: bool  # it has become the original in place of that page, because its URL is better
    change: ChangeEvent | None


class DocumentWriter:
    """Writes the documents of a batch one by one. It belongs to one transaction."""

    def __init__(
        self, connection: apsw.Connection, index: SimilarityIndex, batch: Sequence[VisitResult], now: float
    ) -> None:
        self._connection = connection
        self._digests = DigestLookup(connection, batch)
        self._index = index
        self._originals = Originals(connection, index, now)
        self._now = now
        index.look_up({sketch_of(result.visited) for result in batch} - {b""})

    def add(self, number: int, result: VisitResult) -> AddedDocument:
        """Write the document of a visit to the URL with this number, and publish it in the change feed."""
        visited = result.visited
        key, page = visited.visit.key, visited.page
        document, original = None, None
        before = _last_version(self._connection, key) if visited.visit.visited is not None else None
        if result.position is not None and page is not None and visited.outcome is not Outcome.UNCHANGED:
            original = self._original(number, result, page, before)
            self._digests.add(page)
            document = self._insert(result, page, original)
            self._index_sketch(number, visited, page, document, original)
        change = _publish(self._connection, result, document, self._now)
        is_deleted = change is ChangeEvent.DELETE
        if is_deleted:
            self._index.remove(number)
        is_preferred = False
        if original is not None and document is not None:
            is_preferred = self._originals.replace_if_better(document, original.document)
        is_changed = original is not None or (before is not None and _has_changed(before, visited))
        if is_deleted or (before is not None and document is not None and is_changed):
            self._originals.reassign_copies(key)
        return AddedDocument(document, original, is_preferred, change)

    def _index_sketch(
        self, number: int, visited: Visited, page: Page, document: int, original: OriginalPage | None
    ) -> None:
        """Add the sketch of a page to the similarity index, or remove the one of its last version."""
        if sketch := sketch_of(visited):
            entry = SketchRow(document, visited.visit.key.host, page.template, original is None, sketch)
            self._index.enter(number, entry, is_first=visited.visit.visited is None)
        elif is_complete_page(visited) and visited.visit.visited is not None:
            self._index.remove(number)

    def _original(
        self, number: int, result: VisitResult, page: Page, before: LastVersion | None
    ) -> OriginalPage | None:
        """Return the original of a page: the current page of another URL with the same body or a similar text.

        A page that has not changed keeps what it has, whatever its main text is by a method of now.
        """
        visited, digests = result.visited, self._digests
        if not is_complete_page(visited):
            return None
        key = visited.visit.key
        found = None
        if (
            before is not None
            and before.body_digest == page.body_digest
            and before.document == _published(self._connection, key)
        ):
            found = self._original_of_last_version(before)
            if found is not None or before.duplicate_of is None:
                return found
        if page.body_digest and page.body_digest in digests.bodies:
            found = self._exact_original("d.body_digest = ?1 AND d.body_bytes > 0", page.body_digest, key, Tier.BODY)
        if found is None and page.text_digest and page.text_digest in digests.texts:
            found = self._exact_original(
                "d.text_digest = ?1 AND d.text_digest <> x''", page.text_digest, key, Tier.TEXT
            )
        if found is None and (sketch := sketch_of(visited)):
            found = self._similar_original(number, sketch, result.compared)
        return found

    def _original_of_last_version(self, before: LastVersion) -> OriginalPage | None:
        original = self._originals.shown(before.duplicate_of) if before.duplicate_of is not None else None
        if original is None or before.similarity is None or before.tier is None:
            return None
        return OriginalPage(
            original.document, self._links_digest(original.document), before.similarity, Tier(before.tier)
        )

    def _links_digest(self, document: int) -> int:
        digest: int = self._connection.execute("SELECT links_digest FROM documents WHERE id = ?", (document,)).get
        return digest

    def _similar_original(self, number: int, sketch: bytes, compared: Mapping[int, float]) -> OriginalPage | None:
        verdict = self._index.judge(number, sketch, compared)
        if verdict.original is None or verdict.tier is None:
            return None
        document = verdict.original.document
        return OriginalPage(document, self._links_digest(document), verdict.similarity, verdict.tier)

    def _exact_original(self, condition: str, digest: bytes, key: Key, tier: Tier) -> OriginalPage | None:
        """Return the original of other URLs' current pages with a digest; the first of these pages points to it."""
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
        document, links_digest, original, share, copied_tier = row
        if original is None:
            return OriginalPage(document, links_digest, 1.0, tier)
        shown = self._originals.shown(original)
        return OriginalPage(shown.document, links_digest, share, Tier(copied_tier)) if shown is not None else None

    def _insert(self, result: VisitResult, page: Page, original: OriginalPage | None) -> int:
        fetched, position = result.visited.fetched, result.position
        assert fetched is not None, "a response was archived"
        assert position is not None, "at a position"
        body_of = None
        if result.is_revisit:
            body_of = body_holder(self._connection, page.payload_digest, page.body_digest)
        duplicate = (original.document, original.similarity, original.tier) if original else (None, None, None)
        return insert_document(
            self._connection, NewDocument(result.visited, fetched, page, body_of, *duplicate), position
        )


def _last_version(connection: apsw.Connection, key: Key) -> LastVersion | None:
    row = connection.execute(_LAST_VERSION, key).get
    return LastVersion(*row) if row is not None else None


def _has_changed(before: LastVersion, visited: Visited) -> bool:
    """Whether the content of a page differs from its last complete version, or is not complete."""
    page = visited.page
    if page is None or not is_complete_page(visited):
        return True
    if before.body_digest == page.body_digest:
        return False
    return not page.text_digest or before.text_digest != page.text_digest


def _publish(connection: apsw.Connection, result: VisitResult, document: int | None, now: float) -> ChangeEvent | None:
    """Write an entry of the change feed, if the visit changes what indexers must have."""
    visited = result.visited
    key = visited.visit.key
    if visited.visit.kind is not Kind.PAGE:
        return None
    is_page = visited.page is None or visited.page.kind is Kind.PAGE
    reason, detail = None, ""
    is_published = visited.outcome is Outcome.FETCHED and visited.reason not in NOT_PUBLISHED
    if document is not None and is_published and is_page:
        change = ChangeEvent.UPSERT
        if visited.visit.visited is not None and _is_published(connection, key, document):
            change = ChangeEvent.META
    elif visited.outcome is Outcome.UNCHANGED and (published := _published(connection, key)) is not None:
        change, document = ChangeEvent.META, published
    elif (not is_page or _is_gone(result)) and _published(connection, key) is not None:
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
    """Whether the feed has already published the content of a new version of a document."""
    before = _published(connection, key)
    if before is None:
        return False
    return _content(connection, before) == _content(connection, document)


def _content(connection: apsw.Connection, document: int) -> object:
    """Return the content of a document and its original, as far as they are published."""
    return connection.execute(
        """SELECT d.body_digest, d.content_type, d.encoding, d.status, d.reason, d.metadata, o.host, o.rest,
                  d.similarity, d.tier
           FROM documents d LEFT JOIN documents o ON o.id = d.duplicate_of WHERE d.id = ?""",
        (document,),
    ).get


def _is_gone(result: VisitResult) -> bool:
    """Whether a page is gone or forbidden for certain: one that is missing is visited again before it is deleted."""
    visited = result.visited
    if result.next_state.missing > visited.visit.missing:
        return result.next_state.missing >= GONE_AFTER_MISSING
    return visited.reason in DELETED_BY or (visited.outcome is Outcome.REDIRECTED and is_moved(visited))


def _published(connection: apsw.Connection, key: tuple[int, int]) -> int | None:
    """Return the document of a URL in the change feed; None if it has none, or was deleted."""
    last = connection.execute(
        """SELECT change, document FROM changes
           WHERE version = (SELECT max(version) FROM changes WHERE host = ? AND rest = ?)""",
        key,
    ).get
    return last[1] if last is not None and last[0] != ChangeEvent.DELETE else None
