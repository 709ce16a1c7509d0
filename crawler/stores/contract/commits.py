"""The role `commits`: the results of a batch of visits are acknowledged in one transaction."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from crawler.frontier.next_state import NextState
from crawler.frontier.politeness import HostClock
from crawler.items import ChangeEvent, Key, Tier, Visited
from crawler.stores.contract.archive import ArchivePosition, SegmentState


class VisitResult(Struct, frozen=True, kw_only=True):
    """A visit's result, ready to be committed."""

    visited: Visited
    next_state: NextState
    clocks: Mapping[int, HostClock]  # of the hosts whose clock the visit moved
    position: ArchivePosition | None = None  # None = nothing was archived
    gates: Mapping[str, tuple[float, float]] = {}  # politeness group → time of its next visit, rest
    is_revisit: bool = False  # only the head was archived: the body is in the record of another document
    compared: Mapping[int, float] = {}  # number in urls of each page compared with this one → their similarity
    comparisons: int = 0  # times that its commit was delayed to compare texts


class CommittedVisit(Struct, frozen=True, kw_only=True):
    """The effects of a commit for one visit."""

    document: int | None = None  # its new document
    duplicate_of: int | None = None  # the original of that document; None also if it has become the original
    similarity: float | None = None  # to the page that it was found to be a duplicate of
    tier: Tier | None = None  # how the duplicate was found
    change: ChangeEvent | None = None  # its entry in the change feed, if it has one
    new_links: int = 0  # new URLs that were found on it


class CommitSummary(Struct, frozen=True, kw_only=True):
    """The effects of a commit, in all and for each visit."""

    new_urls: int
    hosts_with_new: Collection[int]  # hosts with URLs that have become due
    visits: Mapping[Key, CommittedVisit] = {}
    template_hosts: Collection[int] = ()  # hosts with a new `TemplateJob`
    bytes_archived: int = 0

    @property
    def duplicates(self) -> int:
        return sum(visit.tier is not None for visit in self.visits.values())

    @property
    def near_duplicates(self) -> int:
        return sum(visit.tier in (Tier.SKETCH, Tier.COMPARED) for visit in self.visits.values())


class EarlyUrls(Struct, frozen=True, kw_only=True):
    """URLs that were inserted before the commit of the visits that found them."""

    batch: Sequence[VisitResult]  # the visits, without what was inserted
    new_links: Mapping[Key, int] = {}  # new URLs by the visits that found them
    hosts_with_new: Collection[int] = ()


class LateCommit(Exception):
    """Some visits of a batch were leased under an old epoch, so the batch was not committed."""

    def __init__(self, keys: Collection[Key]) -> None:
        super().__init__(f"{len(keys)} visits were taken over by another worker")
        self.keys = keys


class CommitStore(Protocol):
    """Writes the results of visits."""

    def commit(self, batch: Sequence[VisitResult], segments: Sequence[SegmentState], now: float) -> CommitSummary:
        """Acknowledge all visits of a batch in one transaction, or raise `LateCommit`."""

    def insert_early(self, batch: Sequence[VisitResult], most: int, now: float) -> EarlyUrls:
        """Insert links and list entries of a batch before its commit, `most` in a transaction, if they are more.

        If the commit fails, they stay, and the visits that find them again add nothing. Links of a page that becomes a
        copy only by what another worker commits meanwhile are counted, too.
        """

    def last(self) -> float | None:
        """Return the time of the last commit; None before the first."""
