"""What a report asks of a store: a crawl, or one host of it, counted.

All answers are counts, or lists that are short however large the crawl is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from enum import StrEnum
from typing import NamedTuple, Protocol

from crawler.frontier.politeness import HostClock
from crawler.items import Kind, Reason, RobotsFile, State, Tier


class DocumentTrait(StrEnum):
    """By what documents can be told apart."""

    STATUS = "status"
    FORMAT = "format"
    CONTENT_TYPE = "content_type"  # without its parameters
    LANGUAGE = "language"
    PROBLEM = "problem"


class TimeSlice(NamedTuple):
    """A part of the time, and what happened in it."""

    number: int  # from 0
    found: int = 0  # URLs that became known; a robots.txt is no find
    refused: int = 0  # of these, such as are parked and were never visited
    visited: int = 0  # URLs that were visited for the first time
    answers: int = 0  # that were archived
    pages: int = 0  # of these, whole pages
    bytes: int = 0  # of their bodies, as on the wire


class StateCount(NamedTuple):
    """URLs that are in a state for a reason."""

    state: State
    reason: Reason
    urls: int
    examples: Sequence[str]


class OutcomeCount(NamedTuple):
    """URLs whose last visit ended in one way, and archived answers that did."""

    reason: Reason
    urls: int
    answers: int
    examples: Sequence[str]


class DepthCount(NamedTuple):
    """URLs so many links from a seed."""

    depth: int
    urls: int
    visited: int


class DocumentShare(NamedTuple):
    """Archived answers that have something in common."""

    name: str
    answers: int
    bytes: int  # of their bodies, as on the wire


class SegmentFill(NamedTuple):
    """What lies in an archive file."""

    segment: str
    answers: int
    body_bytes: int  # as on the wire, also of those that are archived elsewhere
    record_bytes: int  # of the records of answers, compressed
    reused: int  # answers whose body is in another record


class RestInterval(NamedTuple):
    """How long a host had rest between two answers that were archived, from the end of one to the start of the next.

    Rests before a request for robots.txt are not among them: nobody knows yet what it asks for.
    """

    host: str
    clock: HostClock
    visits: int
    gaps: int  # so many were looked at
    shortest: float
    asked: float  # what the shortest had to be


class RestSummary(NamedTuple):
    """The rests of all hosts."""

    hosts: int  # that had more than one answer
    short: int  # of these, such as had a shorter rest than is asked
    worst: Sequence[RestInterval]  # those with the least time to spare


class HostRests(NamedTuple):
    """The rests of one host."""

    gaps: int
    shortest: float
    median: float


class RobotsCounts(NamedTuple):
    """Origins, by what is known of their robots.txt."""

    origins: int
    fetched: int  # the server has one, be it empty
    with_rules: int
    absent: int  # the server has none, so all is allowed
    unavailable: int  # left alone, because it cannot be had
    crawl_delay: int  # ask for one
    request_rate: int
    visit_time: int


class CopyCluster(NamedTuple):
    """A page, and other URLs that have the same."""

    url: str
    title: str
    copies: int
    examples: Sequence[str]


class CopyCounts(NamedTuple):
    """Pages that are copies of others."""

    pages: int  # URLs that have given a whole page
    tiers: Sequence[tuple[Tier, int]]
    clusters: int
    largest: Sequence[CopyCluster]


class SlowHost(NamedTuple):
    host: str
    latency: float  # of its last answer
    visits: int


class RefusedCount(NamedTuple):
    """URLs of a site that are not visited for a reason."""

    site: str
    reason: Reason
    urls: int
    example: str


class ListCoverage(NamedTuple):
    """URLs of pages that may be visited, on hosts that have lists."""

    known: int
    linked: int  # found on a page
    listed: int  # by a sitemap or a feed
    both: int


class VisitedUrl(NamedTuple):
    """A URL, and how its last visit ended."""

    url: str
    kind: Kind
    visited: float
    status: int
    reason: Reason
    title: str


class Survey(Protocol):
    """Questions that are answered from one state of the store. Where a host can be named, None means all."""

    def span(self, host: int | None = None) -> tuple[float, float] | None:
        """When the first URL was found, and when something was last found or visited."""

    def history(self, since: float, width: float, host: int | None = None) -> list[TimeSlice]:
        """What happened from then on, in slices of so many seconds; those in which nothing did are left out."""

    def standings(self, examples: int, host: int | None = None) -> list[StateCount]:
        """By state, those of most URLs first."""

    def endings(self, examples: int, host: int | None = None) -> list[OutcomeCount]:
        """Those of most URLs first."""

    def depths(self, deepest: int) -> list[DepthCount]:
        """In order; what lies deeper than the deepest is counted with it."""

    def shares(self, trait: DocumentTrait, most: int, host: int | None = None) -> list[DocumentShare]:
        """Archived answers by a trait, the most frequent first; but for the status, only whole pages."""

    def sizes(self) -> list[tuple[int, int]]:
        """(n, whole pages whose bodies have less than 2ⁿ bytes, and not less than half of that), in order."""

    def filled(self) -> list[SegmentFill]:
        """The archive's files, in order."""

    def gaps(self, asked: Callable[[str, HostClock], float], most: int) -> RestSummary:
        """How long hosts had rest, against what is `asked` for a host by its name and clock."""

    def host_gaps(self, host: int) -> HostRests | None:
        """None if there are not two answers between which there could be a rest."""

    def robots(self) -> RobotsCounts: ...

    def origins(self, host: int) -> list[RobotsFile]:
        """What is known of the robots.txt of a host's origins, by their names."""

    def copied(self, most: int, examples: int) -> CopyCounts:
        """Copies, and the largest clusters."""

    def slowest(self, most: int) -> list[SlowHost]:
        """Hosts by how long their last answers took."""

    def refused(self, reasons: Collection[Reason], most: int) -> list[RefusedCount]:
        """Parked URLs by site and reason, the most first."""

    def captured(self) -> ListCoverage:
        """What is found on pages, and what is listed."""

    def last_seen(self, host: int, most: int) -> list[VisitedUrl]:
        """The URLs of a host that were visited last, the last first."""
