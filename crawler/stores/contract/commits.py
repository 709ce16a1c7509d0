"""Commits: acknowledging the results of visits, all of a batch in one transaction."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from crawler.frontier.next_state import NextState
from crawler.frontier.politeness import HostClock
from crawler.items import ChangeEvent, Key, Link, ListedUrl, Tier, Visit, Visited
from crawler.stores.contract.archive import ArchivePosition, SegmentState


class VisitResult(Struct, frozen=True, kw_only=True):
    """A visit's result, ready to be committed."""

    visited: Visited
    next_state: NextState
    clocks: Mapping[int, HostClock]  # of the hosts whose clock the visit moved
    position: ArchivePosition | None = None  # None = nothing was archived
    gates: Mapping[str, tuple[float, float]] = {}  # politeness groups: not before, rest
    is_revisit: bool = False  # only the head was archived: the body is in the record of another document
    compared: Mapping[int, float] = {}  # pages whose texts were compared with this one's: how similar
    comparisons: int = 0  # times that it was held back to be compared


class CommittedVisit(Struct, frozen=True, kw_only=True):
    """What a commit made of one visit."""

    document: int | None = None  # its new document
    duplicate_of: int | None = None  # the document of which that is a duplicate; None also if it has taken its place
    similarity: float | None = None  # to the document that it was found to be a duplicate of
    tier: Tier | None = None  # how that is known
    change: ChangeEvent | None = None  # what the change feed says of it; None = nothing
    new_links: int = 0  # URLs that it made known


class CommitSummary(Struct, frozen=True, kw_only=True):
    """What a commit changed, in all and for each visit."""

    new_urls: int
    hosts_with_new: Collection[int]  # hosts that have URLs to visit which they did not have before
    visits: Mapping[Key, CommittedVisit] = {}
    template_hosts: Collection[int] = ()  # hosts for which there is now a `TemplateJob`
    bytes_archived: int = 0

    @property
    def duplicates(self) -> int:
        return sum(visit.tier is not None for visit in self.visits.values())

    @property
    def near_duplicates(self) -> int:
        return sum(visit.tier in (Tier.SKETCH, Tier.COMPARED) for visit in self.visits.values())


class LateCommit(Exception):
    """Some visits of a batch were leased under an epoch that is over; the batch was not committed."""

    def __init__(self, keys: Collection[Key]) -> None:
        super().__init__(f"{len(keys)} visits were taken over by another worker")
        self.keys = keys


class CommitStore(Protocol):
    """Acknowledges visits."""

    def commit(self, batch: Sequence[VisitResult], segments: Sequence[SegmentState], now: float) -> CommitSummary:
        """Acknowledge all visits of a batch in one transaction, or raise `LateCommit`."""

    def add_links(self, visit: Visit, links: Sequence[Link], now: float) -> CommitSummary:
        """Insert links of a visit that has very many, ahead of its commit."""

    def add_listed(self, visit: Visit, listed: Sequence[ListedUrl], now: float) -> CommitSummary:
        """Insert what a sitemap lists, if it is very much, ahead of its visit's commit."""

    def last(self) -> float | None:
        """When a visit was last acknowledged."""
