"""When may a host be visited again?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec import Struct
from msgspec.structs import replace

from crawler.items import NO_CRAWL_LIMITS, CrawlLimits, DailyWindow, Outcome, Reason, RequestRate, Visited
from crawler.urls.hosts import matches

HOUR, DAY = 3_600.0, 86_400.0
CRAWL_DELAY_LIMIT = 300.0  # a host that asks for more is visited at this pace, never dropped
RETRY_AFTER_LIMIT = DAY  # what a host may ask for in one answer
BACKOFF_LIMIT = HOUR  # doubling stops here
SNOOZE_AFTER = 4  # failures in a row after which a host is not tried for hours, then days
SNOOZES = (HOUR, 6 * HOUR, DAY, 7 * DAY)
LONGEST_HOLD = max(RETRY_AFTER_LIMIT, *SNOOZES)
FLOOR_OF_STRANGERS = 1.0  # nobody who did not ask for it is visited more often than once a second

# Failures that speak of the host, or of the way to it, not of the URL.
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
    """What a host's next visit time depends on; kept in the store with the host."""

    next_visit: float = 0.0  # not before
    held_until: float = 0.0  # the host asked for, or its failures earned it, a longer rest
    crawl_limits: CrawlLimits = NO_CRAWL_LIMITS  # of its robots.txt
    backoff: int = 0  # doublings of the rest, one for each recent trouble
    latency: float = 0.0  # how long the last answer took
    last_end: float = 0.0  # when it ended
    last_bytes: int = 0  # and how long it was


@dataclass(frozen=True, slots=True, kw_only=True)
class Politeness:
    """A host rests, from the moment its last answer ended,

    max(floor, factor × last answer's time (capped), Crawl-delay, 1/Request-rate, last answer's length / bandwidth),
    doubled for each recent trouble, or as long as it asked for by Retry-After if that is more. A host that keeps failing is left alone for an hour, then six,
    then a day, then a week at a time; one with visiting hours until they begin.
    """

    min_delay: float = 5.0
    latency_factor: float = 5.0
    latency_cap: float = 30.0
    own_hosts: Sequence[str] = ()
    groups: Sequence[str] = ()  # host patterns; all hosts that one of them fits count as one
    address_connections: int = 4  # to one server, whatever its names
    address_gap: float = 0.5  # between the end of one and the start of the next
    bandwidth_host_limit: float = 0.0  # bytes a second that a host sends us, rests counted; 0 = no limit

    def group_of(self, name: str) -> str:
        """The pattern under which this host counts with others as one; empty if it stands for itself.

        >>> Politeness(groups=["*.a.example", "b.*"]).group_of("www.a.example")
        '*.a.example'
        """
        return next((pattern for pattern in self.groups if matches(name, [pattern])), "")

    def gap_of(self, name: str) -> float:
        """The rest of a server with several names after a visit to this one: who runs it himself needs none."""
        return 0.0 if matches(name, self.own_hosts) else self.address_gap

    def floor_of(self, name: str) -> float:
        """The shortest rest of a host: only hosts that the operator runs himself may be asked faster than 1/s."""
        if self.min_delay >= FLOOR_OF_STRANGERS or matches(name, self.own_hosts):
            return self.min_delay
        return FLOOR_OF_STRANGERS

    def rest(self, name: str, clock: HostClock, at: float | None = None) -> float:
        """The full rest of a host as things stand, or stood at a time: a Request-rate may hold for a part of the day.

        >>> Politeness(min_delay=5, latency_factor=10).rest("a.example", HostClock(latency=2.0))
        20.0
        >>> Politeness(min_delay=5, latency_factor=10).rest("a.example", HostClock(latency=2.0, crawl_limits=CrawlLimits(crawl_delay=1000)))
        300.0
        >>> Politeness().rest("a.example", HostClock(crawl_limits=CrawlLimits(request_rate=RequestRate(1, 60, DailyWindow(0, 540)))), 0.0)
        60.0
        """
        rest = max(self.parts(name, clock, at).values())
        if clock.backoff:
            rest = max(rest, min(rest * 2**clock.backoff, BACKOFF_LIMIT))
        return rest

    def parts(self, name: str, clock: HostClock, at: float | None = None) -> dict[str, float]:
        """What asks for a rest, and for how long; trouble doubles the longest."""
        crawl_limits = clock.crawl_limits
        return {
            "the least for any host": self.floor_of(name),
            "its last answer's time": min(self.latency_factor * clock.latency, self.latency_cap),
            "Crawl-delay": min(crawl_limits.crawl_delay or 0.0, CRAWL_DELAY_LIMIT),
            "Request-rate": min(_pace(crawl_limits.request_rate, at), CRAWL_DELAY_LIMIT),
            "its last answer's length": max(clock.last_bytes / self.bandwidth_host_limit - clock.latency, 0.0)
            if self.bandwidth_host_limit
            else 0.0,
        }

    def after(self, name: str, clock: HostClock, visited: Visited, now: float, *, excused: bool = False) -> HostClock:
        """The host's clock after a visit: unchanged if the host was certainly not asked.

        A failure that is excused, because our own network failed, is not held against the host.
        """
        fetched, trouble = visited.fetched, visited.reason in TROUBLE
        if visited.outcome is Outcome.DENIED or (fetched is not None and not fetched.was_sent and not trouble):
            return clock
        ended = fetched.ended if fetched is not None else now
        if excused and visited.reason in UNREACHABLE:
            return self._in_hours(
                replace(clock, next_visit=max(clock.next_visit, ended + self.rest(name, clock, ended)))
            )
        clock = replace(
            clock,
            latency=max(0.0, ended - fetched.started) if fetched is not None else clock.latency,
            last_end=max(ended, clock.last_end),
            last_bytes=len(fetched.head) + len(fetched.body) if fetched is not None else clock.last_bytes,
            backoff=min(clock.backoff + 1, 32) if trouble else max(min(clock.backoff, SNOOZE_AFTER) - 1, 0),
        )
        next_visit = max(clock.next_visit, ended + self.rest(name, clock, ended))
        if not trouble:
            return self._in_hours(replace(clock, next_visit=next_visit))
        asked = min(max(visited.retry_after or 0.0, 0.0), RETRY_AFTER_LIMIT)
        next_visit = max(next_visit, ended + asked, ended + _snooze(clock, visited.reason))
        return self._in_hours(replace(clock, next_visit=next_visit, held_until=max(clock.held_until, next_visit)))

    def obey(self, name: str, clock: HostClock, crawl_limits: CrawlLimits) -> HostClock:
        """The clock once robots.txt is known: what it asks for binds from the last answer's end on."""
        clock = replace(clock, crawl_limits=crawl_limits)
        rest = self.rest(name, clock, clock.last_end)
        return self._in_hours(replace(clock, next_visit=max(clock.next_visit, clock.last_end + rest)))

    def opened(self, clock: HostClock, now: float) -> HostClock:
        """The clock of a host that could be asked now, held if its visiting hours are over."""
        return self._in_hours(replace(clock, next_visit=max(clock.next_visit, now)))

    @staticmethod
    def _in_hours(clock: HostClock) -> HostClock:
        """A host whose next visit would fall outside its visiting hours is held until they begin."""
        opens = _opening(clock.crawl_limits.visit_time, clock.next_visit)
        if opens <= clock.next_visit:
            return clock
        return replace(clock, next_visit=opens, held_until=max(clock.held_until, opens))

    def after_unclean_stop(self, name: str, clock: HostClock, now: float) -> HostClock:
        """A host that was being asked when a crawl process died rests in full before the next visit.

        How long its answer took nobody knows: as long as counts, then.
        """
        slow = replace(
            clock, latency=max(clock.latency, self.latency_cap / self.latency_factor if self.latency_factor else 0.0)
        )
        return self._in_hours(replace(clock, next_visit=max(clock.next_visit, now + self.rest(name, slow, now))))

    @staticmethod
    def sane(clock: HostClock, now: float) -> HostClock:
        """The clock, not waiting longer than any rule can ask: the machine's clock may have been set back."""
        latest = now + LONGEST_HOLD
        return replace(clock, next_visit=min(clock.next_visit, latest), held_until=min(clock.held_until, latest))


def _pace(rate: RequestRate | None, at: float | None) -> float:
    """Seconds between two requests at a time; at none, as if the rate always held."""
    if rate is None or (at is not None and rate.window is not None and not _is_open(rate.window, at)):
        return 0.0
    return rate.seconds / max(rate.requests, 1)


def _snooze(clock: HostClock, reason: Reason) -> float:
    """How long a host that keeps failing is not tried."""
    if reason not in UNREACHABLE or clock.backoff < SNOOZE_AFTER:
        return 0.0
    return SNOOZES[min(clock.backoff - SNOOZE_AFTER, len(SNOOZES) - 1)]


def _is_open(window: DailyWindow, at: float) -> bool:
    """
    >>> _is_open(DailyWindow(540, 1020), 9 * 3600), _is_open(DailyWindow(1320, 60), 0.0), _is_open(DailyWindow(540, 1020), 17 * 3600)
    (True, True, False)
    """
    start, end = window
    minute = at / 60 % 1440
    if start == end:
        return True
    return start <= minute < end if start < end else minute >= start or minute < end


def _opening(window: DailyWindow | None, at: float) -> float:
    """The first moment from then on at which visits are welcome."""
    if window is None or _is_open(window, at):
        return at
    opens = at - at % DAY + window.start * 60
    return opens if opens >= at else opens + DAY
