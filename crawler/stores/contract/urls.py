"""The role `urls`: URLs, hosts and sites are added, reviewed and looked up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from crawler.frontier.politeness import HostClock
from crawler.frontier.trust import Source, Trust
from crawler.items import Key, Kind, Reason, Refusal, RobotsFile, State, Validators

Judge = Callable[[str, int], Refusal | None]  # URL, depth → why the scope refuses it, or None
WithoutHold = Callable[[str, HostClock], HostClock]  # host name, clock → the clock without its rest because of failures


class VisitChoice(StrEnum):
    """Which URLs are to be visited before their time."""

    ALL = "all"  # that wait
    HOST = "host"  # that wait, of one host
    FAILED = "failed"  # whose last visit failed, or that were given up


@dataclass(frozen=True, slots=True, kw_only=True)
class NewUrl:
    """A URL to add, which may be known already."""

    key: Key
    url: str
    reason: Reason  # how it was found
    refused: Refusal | None = None  # why it must not be visited; it is parked then
    kind: Kind = Kind.PAGE
    depth: int = 0
    hint: float | None = None  # its importance by a sitemap or a spider, from 0 to 1
    hops: int = 0
    via: Key | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeReview:
    """The result of a review after the scope has changed."""

    opened: int  # parked URLs that wait now
    closed: int  # URLs that waited for a first visit and are parked now


@dataclass(frozen=True, slots=True, kw_only=True)
class UrlRow:
    """One URL, with its state and history."""

    key: Key
    url: str
    state: State
    reason: Reason
    kind: Kind
    level: int
    step: int  # inside the level, of a focused crawl
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
    lastmod: float | None  # when it last changed, according to that list
    interval: float | None  # between two changes, according to that list


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedAnnouncement:
    """An entry of a feed about a URL."""

    feed: str
    title: str
    summary: str
    dated: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class HostRow:
    """One host, with its clock and counters."""

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
    """One registered domain, or a host without one, with its budget of today."""

    name: str
    seeded: bool
    endorsers: int  # other sites that link to it
    admitted: int  # URLs that its budget admitted
    excess: int  # URLs that are parked over budget
    admitted_today: int
    visits_today: int


class UrlStore(Protocol):
    """Keeps every known URL in exactly one state, with its host and site."""

    def add(self, urls: Iterable[NewUrl], now: float) -> int:
        """Add URLs, and return how many were new. A URL that is known already stays as it is."""

    def add_seeds(self, urls: Iterable[NewUrl], now: float, *, urgent: bool = False) -> int:
        """Add URLs as seeds, and return how many were new; a seed that was out of scope waits again.

        Urgent seeds are visited before all other URLs of their hosts, and their hosts before all others; those that
        were visited before are visited again.
        """

    def count_chosen(self, choice: VisitChoice, host: int | None, now: float) -> int:
        """Return how many URLs `make_due` would make due; a host is given only to choose its URLs."""

    def make_due(self, choice: VisitChoice, host: int | None, now: float, without_hold: WithoutHold) -> int:
        """Make URLs due now, and return how many; hosts that gave no answer may be visited again after their delay.

        Takes several transactions; a crawl that is running takes them up.
        """

    def seeds(self, after: int = 0) -> Iterator[tuple[int, str]]:
        """Yield (serial number, URL) of the seeds added after a serial number."""

    def review_scope(self, judge: Judge, now: float, site: str | None = None) -> ScopeReview:
        """Judge URLs again that were parked out of scope, or were found and never visited: of one site, or all.

        Takes several transactions; after an interruption it must be repeated.
        """

    def review_budgets(self, now: float) -> None:
        """After a change of budgets, make sites with parked URLs due for review and release hosts held for the day."""

    def collisions(self, key: Key) -> list[str]:
        """Return the URLs that were dropped because another URL has this key."""

    def find(self, key: Key) -> UrlRow | None:
        """Return the URL with this key."""

    def find_host(self, host: int, now: float) -> HostRow | None:
        """Return the host with this fingerprint, with its daily counters of the day of `now`."""

    def find_site(self, host: int, now: float) -> SiteRow | None:
        """Return the site of a host."""

    def find_robots(self, origin: str) -> RobotsFile | None:
        """Return the robots.txt of an origin, as it was last fetched."""

    def trust(self, host: int) -> Mapping[Source, Trust]:
        """Return how often each source of a host was right about changes of its pages."""

    def announcements(self, key: Key) -> list[FeedAnnouncement]:
        """Return the feed entries about a URL, the latest first."""

    def count(self) -> int:
        """Return how many URLs are known."""
