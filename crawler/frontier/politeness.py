"""When may a host be visited again?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from crawler.items import Outcome, Reason, Visited
from crawler.urls.hosts import matches

CRAWL_DELAY_LIMIT = 300.0  # a host that asks for more is visited at this pace, never dropped
RETRY_AFTER_LIMIT = 86_400.0  # what a host may ask for in one answer
BACKOFF_LIMIT = 3_600.0  # doubling stops here
FLOOR_OF_STRANGERS = 1.0  # nobody who did not ask for it is visited more often than once a second

# Failures that speak of the host, not of the URL: each doubles the host's rest.
_HOST_TROUBLE = frozenset(
    {
        Reason.BUSY,
        Reason.DNS_FAILED,
        Reason.CONNECT_FAILED,
        Reason.CONNECT_TIMEOUT,
        Reason.TLS_FAILED,
        Reason.FIRST_BYTE_TIMEOUT,
        Reason.TOO_SLOW,
        Reason.TIMEOUT,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HostClock:
    """What a host's next visit time depends on; kept in the store with the host."""

    next_visit: float = 0.0  # not before
    held_until: float = 0.0  # the host asked for, or its failures earned it, a longer rest
    crawl_delay: float | None = None
    backoff: int = 0  # doublings of the rest
    latency: float = 0.0  # how long the last answer took
    last_end: float = 0.0  # when it ended


@dataclass(frozen=True, slots=True, kw_only=True)
class Politeness:
    """A host rests, from the moment its last answer ended,

    max(floor, factor × last answer's time (capped), Crawl-delay), doubled for each recent trouble, or as long as it
    asked for by Retry-After if that is more.
    """

    floor: float = 5.0
    factor: float = 5.0
    cap: float = 30.0
    own_hosts: Sequence[str] = ()

    def floor_of(self, name: str) -> float:
        """The shortest rest of a host: only hosts that the operator runs himself may be asked faster than 1/s."""
        if self.floor >= FLOOR_OF_STRANGERS or matches(name, self.own_hosts):
            return self.floor
        return FLOOR_OF_STRANGERS

    def rest(self, name: str, clock: HostClock) -> float:
        """The full rest of a host as things stand.

        >>> Politeness(floor=5, factor=10).rest("a.example", HostClock(latency=2.0))
        20.0
        >>> Politeness(floor=5, factor=10).rest("a.example", HostClock(latency=2.0, crawl_delay=1000))
        300.0
        """
        rest = max(
            self.floor_of(name),
            min(self.factor * clock.latency, self.cap),
            min(clock.crawl_delay or 0.0, CRAWL_DELAY_LIMIT),
        )
        if clock.backoff:
            rest = max(rest, min(rest * 2**clock.backoff, BACKOFF_LIMIT))
        return rest

    def after(self, name: str, clock: HostClock, visited: Visited, now: float) -> HostClock:
        """The host's clock after a visit: unchanged if the host was certainly not asked."""
        fetched, trouble = visited.fetched, visited.reason in _HOST_TROUBLE
        if visited.outcome is Outcome.DENIED or (fetched is not None and not fetched.was_sent and not trouble):
            return clock
        ended = fetched.ended if fetched is not None else now
        clock = replace(
            clock,
            latency=max(0.0, ended - fetched.started) if fetched is not None else clock.latency,
            last_end=max(ended, clock.last_end),
            backoff=min(clock.backoff + 1, 32) if trouble else max(clock.backoff - 1, 0),
        )
        next_visit = max(clock.next_visit, ended + self.rest(name, clock))
        if not trouble:
            return replace(clock, next_visit=next_visit)
        asked = min(max(visited.retry_after or 0.0, 0.0), RETRY_AFTER_LIMIT)
        next_visit = max(next_visit, ended + asked)
        return replace(clock, next_visit=next_visit, held_until=max(clock.held_until, next_visit))

    def obey(self, name: str, clock: HostClock, crawl_delay: float | None) -> HostClock:
        """The clock once robots.txt is known: its Crawl-delay binds from the last answer's end on."""
        clock = replace(clock, crawl_delay=crawl_delay)
        return replace(clock, next_visit=max(clock.next_visit, clock.last_end + self.rest(name, clock)))

    def after_unclean_stop(self, name: str, clock: HostClock, now: float) -> HostClock:
        """A host that was being asked when a crawl process died rests in full before the next visit."""
        return replace(clock, next_visit=max(clock.next_visit, now + self.rest(name, clock)))

    @staticmethod
    def sane(clock: HostClock, now: float) -> HostClock:
        """The clock, not waiting longer than any rule can ask: the machine's clock may have been set back."""
        latest = now + RETRY_AFTER_LIMIT
        return replace(clock, next_visit=min(clock.next_visit, latest), held_until=min(clock.held_until, latest))
