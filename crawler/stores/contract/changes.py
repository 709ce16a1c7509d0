"""The change feed: what indexers must add, update and delete, in the order of its versions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from msgspec import Struct

from crawler.items import Key, Reason
from crawler.stores.contract.documents import DocumentRow


class PublishedChange(Struct, frozen=True, kw_only=True):
    """The last that the change feed says of a URL."""

    version: int
    key: Key
    url: str
    document: DocumentRow | None  # None = deleted
    duplicate_of: str | None  # URL of the document that had this content first
    seen: float  # when it was last found to be so
    is_new: bool  # its content, or what it is a copy of, has changed; else only its fetch time or anchors have
    reason: Reason | None  # why it was deleted, where that is known
    detail: str  # and where it has moved


class ChangeStore(Protocol):
    """Reads the change feed, and publishes new anchor text in it."""

    def entries(self, after: int = 0) -> Iterator[tuple[str, str]]:
        """(kind of change, URL) of all entries after a version, in order."""

    def version(self) -> int:
        """The version of the newest entry; 0 before the first."""

    def published(
        self, after: int = 0, until: int | None = None, most: int | None = None, seen: int | None = None
    ) -> Iterator[PublishedChange]:
        """The latest change of each URL that changed after a version, in the order of the versions.

        `until` a version gives what held then; `most` limits how many. `seen` is the version up to which the reader
        knows everything, if that is not `after`.

        All is as of the moment when reading begins, however long it takes: also what is read from this store in
        between, such as anchors.
        """

    def publish_anchors(self) -> int:
        """Write feed entries for pages with new anchor text; returns how many."""

    def has_pending_anchors(self) -> bool:
        """Whether `publish_anchors` has something to do."""

    def version_mark(self, version: int) -> str:
        """A text that tells this version from the same number in a store restored from a backup; empty if none."""
