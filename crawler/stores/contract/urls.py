"""URLs, hosts and sites: making them known, judging them again, and looking them up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from crawler.frontier.politeness import HostClock
from crawler.frontier.trust import Source, Trust
from crawler.items import Key, Kind, Reason, Refusal, RobotsFile, State, Validators

Judge = Callable[[str, int], Refusal | None]  # URL, depth → why it must not be visited


@dataclass(frozen=True, slots=True, kw_only=True)
class NewUrl:
    """A URL that may not be known yet."""

    key: Key
    url: str
    reason: Reason  # how it was found
    refused: Refusal | None = None  # why it must not be visited; it is parked then
    kind: Kind = Kind.PAGE
    depth: int = 0
    hint: float | None = None  # how important somebody says it is, from 0 to 1
    hops: int = 0
    via: Key | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeReview:
    """What a change of the scope changed."""

    opened: int  # URLs that were parked and wait now
    closed: int  # URLs that waited for a first visit and are parked now


@dataclass(frozen=True, slots=True, kw_only=True)
class UrlRow:
    """All that is known of one URL."""

    key: Key
    url: str
    state: State
    reason: Reason
    kind: Kind
    level: int
    due: float
    depth: int
    hops: int
    tries: int
    crashes: int
    via: str | None
    found: float
    visits: int
    changes: int
    inlinks: int
    hint: float | None
    visited: float | None
    last_reason: Reason | None
    status: int | None
    detail: str
    missing: int
    validators: Validators
    lister: str | None  # the sitemap or feed that lists it
    lastmod: float | None  # when it changed, by that list
    interval: float | None  # between two changes, by that list


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedAnnouncement:
    """What a feed said of a URL."""

    feed: str
    title: str
    summary: str
    dated: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class HostRow:
    """All that is known of one host."""

    host: int
    name: str
    partition: int
    clock: HostClock
    address: str
    known: int
    visits: int
    pages: int
    failures: int
    bytes: int
    admitted: int
    excess: int
    admitted_today: int
    visits_today: int
    soft404: bool | None  # whether it answers missing pages with status 200; None = it was not probed


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteRow:
    """What is known today of a registered domain, or of a host without one."""

    name: str
    seeded: bool
    endorsers: int  # other sites that link to it
    admitted: int  # URLs that its budget let in
    excess: int  # and those that it did not
    admitted_today: int
    visits_today: int


class UrlStore(Protocol):
    """Keeps every known URL in exactly one state, with its host and site."""

    def add(self, urls: Iterable[NewUrl], now: float) -> int:
        """Make URLs known, and return how many were new. A URL that is known already stays as it is."""

    def add_seeds(self, urls: Iterable[NewUrl], now: float, *, urgent: bool = False) -> int:
        """Like `add`, and remember the URLs as seeds; a seed that a scope had parked waits again.

        Urgent seeds are visited before all other URLs of their hosts, and their hosts before all others; those that
        were visited before are visited again.
        """

    def seeds(self, after: int = 0) -> Iterator[tuple[int, str]]:
        """(serial number, URL) of the seeds added after a serial number."""

    def review_scope(self, judge: Judge, now: float, site: str | None = None) -> ScopeReview:
        """Judge again the URLs that a scope parked, or that were found and never visited: of one site, or all.

        Takes several transactions; after an interruption it is done again.
        """

    def review_budgets(self, now: float) -> None:
        """Let in what changed budgets allow, and release hosts that had their visits of the day."""

    def collisions(self, key: Key) -> list[str]:
        """URLs that could not be kept, because another URL has this key."""

    def find(self, key: Key) -> UrlRow | None:
        """The URL with this key."""

    def find_host(self, host: int, now: float) -> HostRow | None:
        """The host with this fingerprint; what counts by the day is as of today."""

    def find_site(self, host: int, now: float) -> SiteRow | None:
        """The site of a host."""

    def find_robots(self, origin: str) -> RobotsFile | None:
        """The robots.txt of an origin, as it was last fetched."""

    def trust(self, host: int) -> Mapping[Source, Trust]:
        """How often each source of a host was right about changes of its pages."""

    def announcements(self, key: Key) -> list[FeedAnnouncement]:
        """What feeds have said of a URL, the latest first."""

    def count(self) -> int:
        """How many URLs are known."""
