"""The role `documents`: archived versions of URLs, their duplicates, and the anchor text of links to them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from msgspec import Struct

from crawler.items import Key, Reason, Tier
from crawler.stores.contract.archive import ArchivePosition


class DocumentRow(Struct, frozen=True, kw_only=True):
    """One archived response."""

    id: int
    key: Key
    url: str
    fetched: float
    position: ArchivePosition
    status: int
    reason: Reason
    content_type: str
    encoding: str
    title: str
    language: str
    body_digest: bytes
    text_digest: bytes
    body_bytes: int
    body_of: int | None  # the document whose record holds the body, if its own does not
    duplicate_of: int | None  # its original
    format: str
    encoding_source: str
    problem: str
    published: float | None
    metadata: Mapping[str, str]
    similarity: float | None  # to its original
    tier: Tier | None  # how the duplicate was found
    weights: bytes  # of the blocks of its text, as in `Page`
    extractor: str  # as in `Page`; empty also for pages that were archived before it was recorded
    relevance: float | None  # to the topic of the crawl when it was fetched
    has_body: bool  # false = off topic, and the archive has only facts and links (FOCUS_ARCHIVE=kept)


class DocumentStore(Protocol):
    """Finds documents by URL, number and digest."""

    def versions(self, key: Key) -> list[DocumentRow]:
        """Return the documents of a URL, newest first."""

    def find(self, document: int) -> DocumentRow | None:
        """Return the document with this number."""

    def of_pages(self, after: int, most: int) -> list[DocumentRow]:
        """Return up to `most` documents of pages, redirects included, with higher numbers than `after`.

        They are in the order of fetching, and all versions are among them.
        """

    def anchors(self, key: Key) -> list[tuple[str, str]]:
        """Return (name of the linking host, anchor text) of the links to a URL from other hosts."""

    def duplicates(self, key: Key) -> list[str]:
        """Return the URLs whose pages are duplicates of the page of a URL, in alphabetical order."""

    def with_digests(self, body_digest: bytes, text_digest: bytes, most: int) -> list[DocumentRow]:
        """Return up to `most` current pages with this body or this text; an empty digest matches nothing."""
