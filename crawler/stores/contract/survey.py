"""The role `survey`: counts of a crawl, or of one host, for reports.

All results are counts, or lists that are short however large the crawl is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from enum import StrEnum
from typing import NamedTuple, Protocol

from crawler.focus.harvest import HarvestPoint
from crawler.frontier.politeness import HostClock
from crawler.items import Kind, Reason, RobotsFile, State, Tier


class DocumentTrait(StrEnum):
    """A property by which documents are counted."""

    STATUS = "status"
    FORMAT = "format"
    CONTENT_TYPE = "content_type"  # without its parameters
    LANGUAGE = "language"
    PROBLEM = "problem"


class TimeSlice(NamedTuple):
    """An interval of time, with what was found and fetched in it."""

    number: int  # from 0
    found: int = 0  # new URLs, without robots.txt files
    refused: int = 0  # of these, URLs that are parked and were never visited
    visited: int = 0  # URLs that were visited for the first time
    answers: int = 0  # archived responses
    pages: int = 0  # of these, complete pages
    bytes: int = 0  # of their bodies, as on the wire


class StateCount(NamedTuple):
    """The number of URLs that are in a state for a reason."""

    state: State
    reason: Reason
    urls: int
    examples: Sequence[str]


class OutcomeCount(NamedTuple):
    """The number of URLs whose last visit ended for a reason, and of archived responses that did."""

    reason: Reason
    urls: int
    answers: int
    examples: Sequence[str]


class DepthCount(NamedTuple):
    """The number of URLs at a depth."""

    depth: int
    urls: int
    visited: int


class DocumentShare(NamedTuple):
    """The number of archived responses that have a trait in common."""

    name: str
    answers: int
    bytes: int  # of their bodies, as on the wire


class SegmentFill(NamedTuple):
    """The contents of an archive file, counted."""

    segment: str
    answers: int
    body_bytes: int  # as on the wire, also of those that are archived elsewhere
    record_bytes: int  # of the response records, compressed
    reused: int  # responses whose body is in another record


class RestInterval(NamedTuple):
    """The shortest rest of a host between two archived responses, from the end of one to the start of the next.

    Rests before a request for robots.txt do not count: the delay that it asks for is not known yet.
    """

    host: str
    clock: HostClock
    visits: int
    gaps: int  # rests that were measured
    shortest: float
    required: float  # the least that the shortest had to be


class RestSummary(NamedTuple):
    """The rests of all hosts, against those that politeness requires."""

    hosts: int  # with more than one response
    short: int  # of these, hosts with a shorter rest than required
    worst: Sequence[RestInterval]  # the hosts with the least margin


class HostRests(NamedTuple):
    """The rests of one host."""

    gaps: int
    shortest: float
    median: float


class RobotsCounts(NamedTuple):
    """The number of origins, by the state of their robots.txt."""

    origins: int
    fetched: int  # the server has one, perhaps empty
    with_rules: int
    absent: int  # the server has none, so all is allowed
    unavailable: int  # it cannot be fetched, so the origin is not crawled
    crawl_delay: int  # it sets a Crawl-delay
    request_rate: int
    visit_time: int


class CopyCluster(NamedTuple):
    """An original, and the URLs of its copies."""

    url: str
    title: str
    copies: int
    examples: Sequence[str]


class CopyCounts(NamedTuple):
    """The number of pages that are copies of others."""

    pages: int  # URLs with a complete page
    tiers: Sequence[tuple[Tier, int]]
    clusters: int
    largest: Sequence[CopyCluster]


class SlowHost(NamedTuple):
    """A host with the latency of its last response."""

    host: str
    latency: float
    visits: int


class RefusedCount(NamedTuple):
    """The number of URLs of a site that are parked for a reason."""

    site: str
    reason: Reason
    urls: int
    example: str


class ListCoverage(NamedTuple):
    """How many pages are found by links, and how many by lists, on hosts that have sitemaps or feeds."""

    known: int
    linked: int  # found as links
    listed: int  # found in a sitemap or feed
    both: int


class VisitedUrl(NamedTuple):
    """A URL with the result of its last visit."""

    url: str
    kind: Kind
    visited: float
    status: int
    reason: Reason
    title: str


class HarvestCounts(NamedTuple):
    """The pages that were judged by the topic of a focused crawl, and those of them that were on topic."""

    pages: int
    on_topic: int
    last_pages: int  # as many of the pages fetched last as are looked at apart from all
    last_on_topic: int
    curve: Sequence[HarvestPoint]  # in the order of fetching, from (0, 0) to the last page


class TopicSource(NamedTuple):
    """A page that links to judged pages, or a section of a site with judged pages."""

    name: str  # URL, or host and folder
    pages: int  # judged pages: one a URL
    on_topic: int
    relevance: float  # mean of the pages
    shrunk_yield: float  # that mean, drawn towards the mean of all sources; the fewer pages, the more


class TopicYields(NamedTuple):
    """The sources and the sections with the highest yields of pages on topic, the best first."""

    sources: Sequence[TopicSource]
    sections: Sequence[TopicSource]


class Survey(Protocol):
    """Counts rows of one snapshot of the store. Where a host can be given, None means all."""

    def span(self, host: int | None = None) -> tuple[float, float] | None:
        """Return when the first URL was found, and when a URL was last found or visited."""

    def history(self, since: float, width: float, host: int | None = None) -> list[TimeSlice]:
        """Return what was found and fetched after `since`, in slices of `width` seconds; empty slices are left out."""

    def state_counts(self, examples: int, host: int | None = None) -> list[StateCount]:
        """Count URLs by state and reason: by state, then the most frequent first."""

    def outcome_counts(self, examples: int, host: int | None = None) -> list[OutcomeCount]:
        """Count URLs and responses by the reason with which their visit ended, the most frequent first."""

    def depth_counts(self, deepest: int) -> list[DepthCount]:
        """Count URLs by depth, in order; those deeper than `deepest` are counted with it."""

    def document_shares(self, trait: DocumentTrait, most: int, host: int | None = None) -> list[DocumentShare]:
        """Count archived responses by a trait, the most frequent first; except for the status, only complete pages."""

    def page_sizes(self) -> list[tuple[int, int]]:
        """Return (n, number of complete pages with a body of 2ⁿ⁻¹ to less than 2ⁿ bytes), in order."""

    def segment_fills(self) -> list[SegmentFill]:
        """Count the responses in each archive file, in order."""

    def rests(self, required: Callable[[str, HostClock], float], most: int) -> RestSummary:
        """Compare the shortest rest of each host with what is `required` by its name and clock."""

    def host_rests(self, host: int) -> HostRests | None:
        """Return the rests of a host; None if it has fewer than two responses."""

    def robots_counts(self) -> RobotsCounts:
        """Count origins by the state of their robots.txt."""

    def robots_files(self, host: int) -> list[RobotsFile]:
        """Return the robots.txt files of a host's origins, by origin."""

    def copy_counts(self, most: int, examples: int) -> CopyCounts:
        """Count copies by tier, and return the largest clusters."""

    def slowest_hosts(self, most: int) -> list[SlowHost]:
        """Return the hosts with the longest latency of their last response."""

    def refused_counts(self, reasons: Collection[Reason], most: int) -> list[RefusedCount]:
        """Count parked URLs by site and reason, the most frequent first."""

    def list_coverage(self) -> ListCoverage:
        """Count pages that are found by links, and by sitemaps and feeds."""

    def last_visits(self, host: int, most: int) -> list[VisitedUrl]:
        """Return the URLs of a host that were visited last, the latest first."""

    def harvest(self, points: int, host: int | None = None) -> HarvestCounts | None:
        """Count the pages judged by the topic of a focused crawl, with up to `points` + 1 points of the harvest curve.

        Each archived version of a page counts. A page is on topic if it was kept when it was fetched. None if no page
        was judged.
        """

    def topic_yields(self, most: int, host: int | None = None) -> TopicYields:
        """Rank the sources and the sections of the pages that were judged last."""
