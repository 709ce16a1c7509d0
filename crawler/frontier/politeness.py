"""When may a host be visited again?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec import Struct
from msgspec.structs import replace

from crawler.items import NO_CRAWL_LIMITS, CrawlLimits, DailyWindow, Outcome, Reason, RequestRate, Visited
from crawler.urls.hosts import matches

HOUR, DAY = 3_600.0, 86_400.0
CRAWL_DELAY_LIMIT = 300.0  # a host that asks for more is visited at this interval, never dropped
RETRY_AFTER_LIMIT = DAY  # the longest Retry-After that is respected
LEAST_DOUBLED = 0.1  # rest that is doubled by trouble, if the host would rest less without
BACKOFF_LIMIT = HOUR  # doubling stops here
HOLD_AFTER_FAILURES = 4  # failures in a row after which a host is not visited for hours, then days
HOLDS_WHEN_FAILING = (HOUR, 6 * HOUR, DAY, 7 * DAY)
LONGEST_HOLD = max(RETRY_AFTER_LIMIT, *HOLDS_WHEN_FAILING)
FOREIGN_HOST_FLOOR = 1.0  # hosts that are not in OWN_HOSTS are never visited more often than once a second

# Failures of the host or of the network path to it, not of the URL.
UNREACHABLE = frozenset(
    {
        Reason.DNS_FAILED,
        Reason.CONNECT_FAILED,
        Reason.CONNECT_TIMEOUT,
        Reason.TLS_FAILED,
        Reason.FIRST_BYTE_TIMEOUT,
        Reason.TOO_SLOW,
        Reason.TIMEOUT,
    }
)
TROUBLE = UNREACHABLE | {Reason.BUSY}  # each doubles the host's rest


class HostClock(Struct, frozen=True, kw_only=True):
    """The state from which the next visit time of a host is computed; the store keeps it with the host."""

    next_visit: float = 0.0  # not before
    held_until: float = 0.0  # end of a longer rest: Retry-After, repeated failures or closed visiting hours
    crawl_limits: CrawlLimits = NO_CRAWL_LIMITS  # of its robots.txt
    backoff: int = 0  # doublings of the rest, one for each recent trouble
    latency: float = 0.0  # seconds that the last answer took
    last_end: float = 0.0  # when the last answer ended
    last_bytes: int = 0  # size of the last answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Politeness:
    """The rules for how long a host rests between two visits. Counted from the end of its last answer, a host rests

    max(floor, factor × last answer's time (capped), Crawl-delay, 1/Request-rate, last answer's length / bandwidth),
    doubled for each recent trouble, or for its Retry-After if that is longer. A host that keeps failing is not visited
    for an hour, then six, then a day, then a week at a time; one with visiting hours not before they begin.

    >>> politeness = Politeness(
    ...     min_delay=5.0, latency_factor=10.0, latency_cap=30.0, own_hosts=(), groups=("*.a.example", "b.*"),
    ...     address_connections=4, address_gap=0.5, bandwidth_host_limit=0.0
    ... )
    >>> politeness.group_of("www.a.example")
    '*.a.example'
    >>> politeness.rest("a.example", HostClock(latency=2.0))
    20.0
    >>> politeness.rest("a.example", HostClock(latency=2.0, crawl_limits=CrawlLimits(crawl_delay=1000)))
    300.0
    >>> nightly = RequestRate(1, 60, DailyWindow(0, 540))
    >>> politeness.rest("a.example", HostClock(crawl_limits=CrawlLimits(request_rate=nightly)), 0.0)
    60.0
    """

    min_delay: float
    latency_factor: float
    latency_cap: float
    own_hosts: Sequence[str]
    own_min_delay: float = 0.0
    groups: Sequence[str]  # host patterns; all hosts that match one of them count as one host
    address_connections: int  # to one server, under all its names together
    address_gap: float  # between the end of one visit to a server and the start of the next
    bandwidth_host_limit: float  # bytes a second that one host sends us on average, rests included; 0 = no limit

    def group_of(self, name: str) -> str:
        """Return the pattern of the group to which this host belongs; empty if it belongs to none."""
        return next((pattern for pattern in self.groups if matches(name, [pattern])), "")

    def gap_of(self, name: str) -> float:
        """Return how long a server rests after a visit to this one of its names; for OWN_HOSTS that is 0."""
        return 0.0 if matches(name, self.own_hosts) else self.address_gap

    def floor_of(self, name: str) -> float:
        """Return the shortest rest of a host: only hosts in OWN_HOSTS may be visited more often than once a second.

        A `min_delay` that is shorter than that is one for own hosts, unless they have one of their own.
        """
        if matches(name, self.own_hosts):
            return self.own_min_delay or (self.min_delay if self._is_for_own_hosts else 0.0)
        return max(self.min_delay, FOREIGN_HOST_FLOOR)

    def latency_factor_of(self, name: str) -> float:
        """Return how many times as long as its last answer took a host rests; own hosts are told when to rest."""
        is_told = matches(name, self.own_hosts) and (self.own_min_delay > 0 or not self._is_for_own_hosts)
        return 0.0 if is_told else self.latency_factor

    @property
    def _is_for_own_hosts(self) -> bool:
        return self.min_delay < FOREIGN_HOST_FLOOR

    def rest(self, name: str, clock: HostClock, at: float | None = None) -> float:
        """Return the full rest of a host; `at` matters for a Request-rate that applies only to a part of the day."""
        rest = max(self.rest_parts(name, clock, at).values())
        if clock.backoff:
            rest = max(rest, min(max(rest, LEAST_DOUBLED) * 2**clock.backoff, BACKOFF_LIMIT))
        return rest

    def rest_parts(self, name: str, clock: HostClock, at: float | None = None) -> dict[str, float]:
        """Return each rule's rest in seconds, by the rule's name in reports; trouble doubles the longest."""
        crawl_limits = clock.crawl_limits
        return {
            "the least for any host": self.floor_of(name),
            "its last answer's time": min(self.latency_factor_of(name) * clock.latency, self.latency_cap),
            "Crawl-delay": min(crawl_limits.crawl_delay or 0.0, CRAWL_DELAY_LIMIT),
            "Request-rate": min(_request_interval(crawl_limits.request_rate, at), CRAWL_DELAY_LIMIT),
            "its last answer's length": max(clock.last_bytes / self.bandwidth_host_limit - clock.latency, 0.0)
            if self.bandwidth_host_limit
            else 0.0,
        }

    def after(self, name: str, clock: HostClock, visited: Visited, now: float, *, excused: bool = False) -> HostClock:
        """Return the host's clock after a visit; it is unchanged if certainly no request was sent.

        A failure that is `excused`, because our own network failed, does not count as trouble of the host.
        """
        fetched, trouble = visited.fetched, visited.reason in TROUBLE
        if visited.outcome is Outcome.DENIED or (fetched is not None and not fetched.was_sent and not trouble):
            return clock
        ended = fetched.ended if fetched is not None else now
        if excused and visited.reason in UNREACHABLE:
            return self._move_into_hours(
                replace(clock, next_visit=max(clock.next_visit, ended + self.rest(name, clock, ended)))
            )
        clock = replace(
            clock,
            latency=max(0.0, ended - fetched.started) if fetched is not None else clock.latency,
            last_end=max(ended, clock.last_end),
            last_bytes=len(fetched.head) + len(fetched.body) if fetched is not None else clock.last_bytes,
            backoff=min(clock.backoff + 1, 32) if trouble else max(min(clock.backoff, HOLD_AFTER_FAILURES) - 1, 0),
        )
        next_visit = max(clock.next_visit, ended + self.rest(name, clock, ended))
        if not trouble:
            return self._move_into_hours(replace(clock, next_visit=next_visit))
        retry_after = min(max(visited.retry_after or 0.0, 0.0), RETRY_AFTER_LIMIT)
        next_visit = max(next_visit, ended + retry_after, ended + _failing_hold(clock, visited.reason))
        return self._move_into_hours(
            replace(clock, next_visit=next_visit, held_until=max(clock.held_until, next_visit))
        )

    def apply_crawl_limits(self, name: str, clock: HostClock, crawl_limits: CrawlLimits) -> HostClock:
        """Return the clock under the limits of the host's robots.txt; they apply from the end of its last answer."""
        clock = replace(clock, crawl_limits=crawl_limits)
        rest = self.rest(name, clock, clock.last_end)
        return self._move_into_hours(replace(clock, next_visit=max(clock.next_visit, clock.last_end + rest)))

    def hold_outside_hours(self, clock: HostClock, now: float) -> HostClock:
        """Return the clock of a host that could be visited now; if its visiting hours are over it is held."""
        return self._move_into_hours(replace(clock, next_visit=max(clock.next_visit, now)))

    @staticmethod
    def _move_into_hours(clock: HostClock) -> HostClock:
        """Hold a host whose next visit would fall outside its visiting hours until they begin."""
        opens = _next_opening(clock.crawl_limits.visit_time, clock.next_visit)
        if opens <= clock.next_visit:
            return clock
        return replace(clock, next_visit=opens, held_until=max(clock.held_until, opens))

    def after_unclean_stop(self, name: str, clock: HostClock, now: float) -> HostClock:
        """Return the clock of a host that was being visited when a crawl process died: it rests in full first.

        The time that its answer took is unknown; the longest that counts is assumed.
        """
        assumed = replace(
            clock, latency=max(clock.latency, self.latency_cap / self.latency_factor if self.latency_factor else 0.0)
        )
        return self._move_into_hours(
            replace(clock, next_visit=max(clock.next_visit, now + self.rest(name, assumed, now)))
        )

    def without_hold(self, name: str, clock: HostClock) -> HostClock:
        """Return the clock of a host that is tried again by the wish of a user: of its rests only the delay is left."""
        rested = clock.last_end + self.rest(name, clock, clock.last_end)
        return self._move_into_hours(replace(clock, next_visit=min(clock.next_visit, rested), held_until=0.0))

    @staticmethod
    def clamp_future(clock: HostClock, now: float) -> HostClock:
        """Limit the wait to the longest that any rule can demand: the machine's clock may have been set back."""
        latest = now + LONGEST_HOLD
        return replace(clock, next_visit=min(clock.next_visit, latest), held_until=min(clock.held_until, latest))


def _request_interval(rate: RequestRate | None, at: float | None) -> float:
    """Return the seconds between two requests under a Request-rate; without a time its window is ignored."""
    if rate is None or (at is not None and rate.window is not None and not _is_open(rate.window, at)):
        return 0.0
    return rate.seconds / max(rate.requests, 1)


def _failing_hold(clock: HostClock, reason: Reason) -> float:
    """Return for how long a host that keeps failing is not visited."""
    if reason not in UNREACHABLE or clock.backoff < HOLD_AFTER_FAILURES:
        return 0.0
    return HOLDS_WHEN_FAILING[min(clock.backoff - HOLD_AFTER_FAILURES, len(HOLDS_WHEN_FAILING) - 1)]


def _is_open(window: DailyWindow, at: float) -> bool:
    """Whether a time lies in a daily window, which may include midnight.

    >>> office, night = DailyWindow(540, 1020), DailyWindow(1320, 60)
    >>> _is_open(office, 9 * 3600), _is_open(night, 0.0), _is_open(office, 17 * 3600)
    (True, True, False)
    """
    start, end = window
    minute = at / 60 % 1440
    if start == end:
        return True
    return start <= minute < end if start < end else minute >= start or minute < end


def _next_opening(window: DailyWindow | None, at: float) -> float:
    """Return the first time from `at` on that lies within the visiting hours."""
    if window is None or _is_open(window, at):
        return at
    opens = at - at % DAY + window.start * 60
    return opens if opens >= at else opens + DAY
