"""Archived documents: versions of a URL's content, their duplicates, and the anchor text that leads to them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from msgspec import Struct

from crawler.items import Key, Reason, Tier
from crawler.stores.contract.archive import ArchivePosition


class DocumentRow(Struct, frozen=True, kw_only=True):
    """One archived answer."""

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
    body_of: int | None
    duplicate_of: int | None
    format: str
    encoding_source: str
    problem: str
    published: float | None
    metadata: Mapping[str, str]
    similarity: float | None  # to what it is a duplicate of
    tier: Tier | None  # how that is known
    weights: bytes  # of the blocks of its text, as in `Page`


class DocumentStore(Protocol):
    """Finds documents, their versions and copies."""

    def versions(self, key: Key) -> list[DocumentRow]:
        """The documents of a URL, newest first."""

    def find(self, document: int) -> DocumentRow | None:
        """The document with this number."""

    def anchors(self, key: Key) -> list[tuple[str, str]]:
        """(name of the linking host, anchor text) of the links that lead to a URL from other hosts."""

    def duplicates(self, key: Key) -> list[str]:
        """URLs whose pages are duplicates of a URL's page, in order."""

    def with_digests(self, body_digest: bytes, text_digest: bytes, most: int) -> list[DocumentRow]:
        """Up to so many pages that now have this body or this text; an empty digest matches nothing."""
