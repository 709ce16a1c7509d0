"""The columns of documents, declared once: how each is written for a new document, and read back."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import apsw

from crawler.items import Fetched, Key, Kind, Outcome, Page, Reason, Tier, Visited
from crawler.stores.contract.archive import ArchivePosition
from crawler.stores.contract.documents import DocumentRow


class NewDocument(NamedTuple):
    """An archived response that becomes a document."""

    visited: Visited
    fetched: Fetched
    page: Page
    body_of: int | None  # the document whose record holds its body, if its own does not
    duplicate_of: int | None
    similarity: float | None
    tier: Tier | None


class DocumentColumn(NamedTuple):
    """A column of `documents`: how its value is made for a new document, and how `DocumentRow` reads it, if it does."""

    name: str
    of: Callable[[NewDocument], object]
    read: Callable[[Any], Any] | None = lambda value: value


def kind_of(visited: Visited) -> Kind:
    """Return the kind of a URL after a visit: a page may turn out to be a feed."""
    page, kind = visited.page, visited.visit.kind
    may_change = kind is Kind.PAGE or visited.reason is Reason.NOT_A_LIST
    return page.kind if may_change and page is not None else kind


def has_body(visited: Visited) -> bool:
    """Whether the archive gets the body of an answer, or knows it already."""
    return visited.reason is not Reason.OFF_TOPIC or any(record.type != "metadata" for record in visited.records)


def _metadata_text(metadata: object) -> str:
    return json.dumps(metadata, ensure_ascii=False) if metadata else "{}"


COLUMNS: Sequence[DocumentColumn] = (
    DocumentColumn("fetched", lambda new: new.fetched.ended),
    DocumentColumn("kind", lambda new: kind_of(new.visited), None),
    DocumentColumn("status", lambda new: new.fetched.status),
    DocumentColumn("reason", lambda new: new.visited.reason, Reason),
    DocumentColumn("content_type", lambda new: new.page.content_type),
    DocumentColumn("encoding", lambda new: new.page.encoding),
    DocumentColumn("title", lambda new: new.page.title),
    DocumentColumn("language", lambda new: new.page.language),
    DocumentColumn("payload_digest", lambda new: new.page.payload_digest, None),
    DocumentColumn("body_digest", lambda new: new.page.body_digest),
    DocumentColumn("text_digest", lambda new: new.page.text_digest),
    DocumentColumn("links_digest", lambda new: new.page.links_digest, None),
    DocumentColumn("body_bytes", lambda new: len(new.fetched.body)),
    DocumentColumn("started", lambda new: new.fetched.started, None),
    DocumentColumn("body_of", lambda new: new.body_of),
    DocumentColumn("duplicate_of", lambda new: new.duplicate_of),
    DocumentColumn("format", lambda new: new.page.format),
    DocumentColumn("encoding_source", lambda new: new.page.encoding_source),
    DocumentColumn("problem", lambda new: new.page.problem),
    DocumentColumn("published", lambda new: new.page.published),
    DocumentColumn("metadata", lambda new: _metadata_text(new.page.metadata), json.loads),
    DocumentColumn("similarity", lambda new: new.similarity),
    DocumentColumn("tier", lambda new: new.tier, lambda tier: Tier(tier) if tier is not None else None),
    DocumentColumn("weights", lambda new: new.page.weights),
    DocumentColumn("extractor", lambda new: new.page.extractor),
    DocumentColumn("relevance", lambda new: new.page.relevance),
    DocumentColumn("has_body", lambda new: has_body(new.visited), bool),
)
_POSITION = ("host", "rest", "segment", "offset", "length")  # the URL of the document, and its position in the archive
_READERS = [(column.name, column.read) for column in COLUMNS if column.read is not None]

# The columns that `document_of` reads, of documents d and their segments s.
DOCUMENT = ", ".join(["d.id", "s.name", "d.offset", "d.length", *(f"d.{name}" for name, _ in _READERS)])
_INSERT = f"""
INSERT INTO documents ({", ".join([*_POSITION, *(column.name for column in COLUMNS)])})
VALUES (?, ?, (SELECT id FROM segments WHERE name = ?), ?, ?, {", ".join("?" * len(COLUMNS))}) RETURNING id
"""


def insert_document(connection: apsw.Connection, new: NewDocument, position: ArchivePosition) -> int:
    """Insert a document, and return its number."""
    values = (*new.visited.visit.key, position.segment, position.offset, position.length)
    number: int = connection.execute(_INSERT, (*values, *(column.of(new) for column in COLUMNS))).get
    return number


def document_of(key: Key, url: str, row: Sequence[Any]) -> DocumentRow:
    """Return the document of a URL from the columns that `DOCUMENT` names."""
    number, segment, offset, length, *values = row
    return DocumentRow(
        id=number,
        key=key,
        url=url,
        position=ArchivePosition(segment=segment, offset=offset, length=length),
        **{name: read(value) for (name, read), value in zip(_READERS, values, strict=True)},
    )


def find_document(connection: apsw.Connection, document: int) -> DocumentRow | None:
    """Return the document with this number."""
    row: Any = connection.execute(
        f"""SELECT d.host, d.rest, u.url, {DOCUMENT}
            FROM documents d JOIN segments s ON s.id = d.segment JOIN urls u ON u.host = d.host AND u.rest = d.rest
            WHERE d.id = ?""",
        (document,),
    ).get
    return document_of(Key(*row[:2]), row[2], row[3:]) if row is not None else None


def sketch_of(visited: Visited) -> bytes:
    """Return the sketch of a complete page that is to be compared with others; empty if it is not."""
    if visited.page is None or not visited.is_compared:
        return b""
    return visited.page.sketch if is_complete_page(visited) else b""


def is_complete_page(visited: Visited) -> bool:
    """Whether a visit fetched a complete page: only those can be copies, or have copies."""
    is_page = visited.outcome is Outcome.FETCHED and visited.visit.kind is Kind.PAGE and visited.reason is Reason.OK
    return is_page and visited.page is not None and visited.page.kind is Kind.PAGE
