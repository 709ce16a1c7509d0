"""The archive as the store knows it: its files with their committed lengths, and which bodies they hold."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol

from msgspec import Struct

from crawler.items import Key


class ArchivePosition(Struct, frozen=True, kw_only=True):
    """Where a response record lies in the archive."""

    segment: str  # file name
    offset: int
    length: int  # compressed


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentState:
    """How much of an archive file is committed."""

    name: str
    slot: int
    length: int
    records: int
    closed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivedBody:
    """Of which URL and when an archived body was fetched: what a revisit record refers to."""

    url: str
    started: float
    payload_digest: bytes = b""


class ArchiveStore(Protocol):
    """Knows the archive's files and the bodies in them."""

    def segments(self, slot: int | None = None) -> list[SegmentState]:
        """All archive files, or those of one slot."""

    def close_segment(self, name: str) -> None:
        """Note that a file is complete and has its final name."""

    def known_bodies(self, digests: Collection[bytes]) -> set[bytes]:
        """Those body digests that an archived page has."""

    def find_body(self, payload_digest: bytes, body_digest: bytes) -> ArchivedBody | None:
        """Where a page's body is archived, byte for byte as on the wire."""

    def last_body(self, key: Key) -> ArchivedBody | None:
        """The last document of a URL whose body is archived, under that URL or another."""
