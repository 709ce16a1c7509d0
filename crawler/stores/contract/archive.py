"""The role `archive`: archive files with their committed lengths, and the bodies that they hold."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol

from msgspec import Struct

from crawler.items import Key


class ArchivePosition(Struct, frozen=True, kw_only=True):
    """The position of a response record in the archive."""

    segment: str  # file name
    offset: int
    length: int  # compressed


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentState:
    """An archive file, and the length up to which it is committed."""

    name: str
    slot: int
    length: int
    records: int
    closed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivedBody:
    """The record of an archived body, as a revisit record refers to it."""

    url: str
    started: float
    payload_digest: bytes = b""


class ArchiveStore(Protocol):
    """Keeps the lengths of archive files, and finds archived bodies by their digests."""

    def segments(self, slot: int | None = None) -> list[SegmentState]:
        """Return all archive files, or those of one slot, in the order of their creation."""

    def add_directory(self, place: str, directory: str) -> None:
        """Record where a crawl directory of this store keeps its archive files; it may have been moved."""

    def directories(self) -> Mapping[str, str]:
        """Return where the crawl directories of this store keep their archive files: identifier → path."""

    def close_segment(self, name: str) -> None:
        """Mark a file as complete: it has its final name."""

    def known_bodies(self, digests: Collection[bytes]) -> set[bytes]:
        """Return those of the body digests that an archived page has."""

    def find_body(self, payload_digest: bytes, body_digest: bytes) -> ArchivedBody | None:
        """Return the record that holds a body, byte for byte as on the wire; None if there is none."""

    def last_body(self, key: Key) -> ArchivedBody | None:
        """Return the body of the last complete document of a URL, archived under that URL or another."""
