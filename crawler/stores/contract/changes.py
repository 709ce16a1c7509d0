"""The role `changes`: the change feed, which lists what indexers must add, update and delete."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from msgspec import Struct

from crawler.items import Key, Reason
from crawler.stores.contract.documents import DocumentRow


class PublishedChange(Struct, frozen=True, kw_only=True):
    """The latest entry of the change feed for a URL."""

    version: int
    key: Key
    url: str
    document: DocumentRow | None  # None = deleted
    duplicate_of: str | None  # URL of its original
    seen: float  # when a visit last confirmed the entry
    is_new: bool  # its content or its original has changed; else only what an event `meta` may tell
    reason: Reason | None  # why it was deleted; None also if that was not recorded
    detail: str  # of a deletion: the URL to which it has moved


class ChangeStore(Protocol):
    """Reads the change feed, and publishes new anchor text in it."""

    def entries(self, after: int = 0) -> Iterator[tuple[str, str]]:
        """Yield (event, URL) of all entries after a version, in order."""

    def version(self) -> int:
        """Return the version of the newest entry; 0 before the first."""

    def published(
        self, after: int = 0, until: int | None = None, most: int | None = None, seen: int | None = None
    ) -> Iterator[PublishedChange]:
        """Yield the latest change of each URL that changed after a version, in the order of the versions.

        With `until`, later entries are ignored; `most` limits how many are returned. `seen` is the version up to which
        the reader has all entries, if that is not `after`.

        Everything is read from one snapshot, taken when reading begins: also what is read from this store in between,
        such as anchors.
        """

    def publish_anchors(self) -> int:
        """Write feed entries for pages with new anchor text, and return how many."""

    def has_pending_anchors(self) -> bool:
        """Whether there are pages with new anchor text to publish."""

    def version_mark(self, version: int) -> str:
        """Return a text that differs for the same version in a store restored from a backup; empty if there is none."""
