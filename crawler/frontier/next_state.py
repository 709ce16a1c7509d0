"""The state of a URL after a visit: when is it due again, or why is it parked?"""

from __future__ import annotations

from dataclasses import dataclass

from crawler.frontier.politeness import UNREACHABLE
from crawler.items import Kind, Outcome, Reason, State, Visited

MAX_TRIES = 3  # failed visits in a row before the URL is quarantined
GONE_AFTER_MISSING = 2  # visits in a row that did not find a page before it counts as gone
LEAST_INTERVAL = 900.0  # between visits to a feed, whatever its ttl says
_MOST_INTERVAL = 7 * 86_400.0
_BACK_OFF = (1, 7, 30, 90)  # a missing page is visited again after so many times `missing`, then no more
_PERMANENT = frozenset({301, 308})
# The site answered, and may answer differently some day.
MISSING = frozenset(
    {Reason.NOT_FOUND, Reason.FORBIDDEN, Reason.LOGIN_WALL, Reason.SOFT_404, Reason.NOT_A_LIST, Reason.CAME_EMPTY}
)
_PERMANENTLY_REFUSED = frozenset({Reason.GONE, Reason.UNWANTED_TYPE})
_PAGE_FAULTS = frozenset({Reason.CONTENT_DIED, Reason.CONTENT_HUNG, Reason.INTERNAL_ERROR})
# The reason for which robots.txt and probe URLs are parked: they are not visited for their own sake.
_PARKED_AS = {Kind.ROBOTS: Reason.ROBOTS_FILE, Kind.PROBE: Reason.PROBE_FILE}
_UNANSWERED = frozenset({Outcome.BUSY, Outcome.FAILED, Outcome.ABORTED, Outcome.BROKEN})


@dataclass(frozen=True, slots=True, kw_only=True)
class NextState:
    """The next state of a URL, with its reason and due time."""

    state: State
    reason: Reason
    due: float = 0.0
    tries: int = 0
    missing: int = 0  # visits in a row that did not find it


@dataclass(frozen=True, slots=True, kw_only=True)
class RevisitPolicy:
    """The fixed intervals after which URLs are due again."""

    interval: float
    sitemap_interval: float
    newsfeed_interval: float  # of feeds without a ttl
    missing: float  # until the first new visit to a missing page; later ones follow `_BACK_OFF`
    retry_delay: float  # doubled with each try
    full_every: int  # of so many visits one fetches the whole document, whatever validators say

    def after(self, visited: Visited, now: float, host_free: float, *, excused: bool = False) -> NextState:
        """Return the next state of the visited URL; `host_free` is when its host may be visited again.

        A failure to reach the host that is `excused`, because the host or our network keeps failing, does not count as
        a try of the URL.
        """
        visit, outcome, reason = visited.visit, visited.outcome, visited.reason
        missing, has_document = visit.missing, visit.validators.length is not None
        if visit.kind is Kind.ROBOTS or (visit.kind is Kind.PROBE and outcome not in _UNANSWERED):
            # Fetched when its host needs it, never for its own sake.
            return NextState(state=State.PARKED, reason=_PARKED_AS[visit.kind])
        if outcome in (Outcome.FETCHED, Outcome.UNCHANGED) and reason not in MISSING:
            return NextState(state=State.WAITING, reason=Reason.REVISIT, due=self._next_due(visited, now))
        if outcome is Outcome.PROMISING:
            return NextState(state=State.WAITING, reason=Reason.HEAD_SEEN, due=now, tries=visit.tries, missing=missing)
        if outcome is Outcome.BUSY or (excused and reason in UNREACHABLE):
            due = max(now, host_free)
            return NextState(state=State.WAITING, reason=reason, due=due, tries=visit.tries, missing=missing)
        if outcome is Outcome.ABORTED:
            return NextState(state=State.WAITING, reason=reason, due=now, tries=visit.tries, missing=missing)
        if outcome in {Outcome.FAILED, Outcome.BROKEN} or reason is Reason.SERVER_ERROR:
            return self._retry(visited, now)
        if reason is Reason.NOT_A_LIST and visited.page is not None and visited.page.kind is Kind.PAGE:
            return NextState(state=State.WAITING, reason=Reason.LINK, due=now)  # as what it is
        if reason in MISSING or (outcome is Outcome.REFUSED and reason not in _PERMANENTLY_REFUSED and has_document):
            return self._revisit_missing(visited, now)
        if outcome is Outcome.REDIRECTED and not is_moved(visited):
            return NextState(state=State.WAITING, reason=reason, due=self._next_due(visited, now))
        return NextState(state=State.PARKED, reason=reason, tries=visit.tries, missing=missing)

    def _next_due(self, visited: Visited, now: float) -> float:
        """Return when a URL that was fetched, or found unchanged, is due again."""
        visit, page = visited.visit, visited.page
        kind = page.kind if page is not None and page.kind is not Kind.PAGE else visit.kind
        if kind is Kind.SITEMAP:
            return now + self.sitemap_interval
        if kind is Kind.FEED:
            interval = (page.interval if page is not None else None) or visit.interval or self.newsfeed_interval
            return now + min(max(interval, LEAST_INTERVAL), _MOST_INTERVAL)
        due = now + self.interval
        end = page.unavailable_after if page is not None else None
        # One visit just after `unavailable_after` records that the page is no longer available.
        return end + 1.0 if end is not None and now < end < due else due

    def _revisit_missing(self, visited: Visited, now: float) -> NextState:
        """Return the state of a missing page: it may come back, so it is visited again with growing delays."""
        missing = visited.visit.missing + 1
        if missing > len(_BACK_OFF):
            return NextState(state=State.PARKED, reason=visited.reason, missing=missing)
        due = now + self.missing * _BACK_OFF[missing - 1]
        return NextState(state=State.WAITING, reason=visited.reason, due=due, missing=missing)

    def _retry(self, visited: Visited, now: float) -> NextState:
        tries, missing = visited.visit.tries + 1, visited.visit.missing
        if tries >= MAX_TRIES and visited.visit.validators.length is not None and visited.reason not in _PAGE_FAULTS:
            # We have a document of it, so it may come back; only a page that breaks our own code is quarantined.
            return NextState(state=State.WAITING, reason=visited.reason, due=now + self.interval, missing=missing)
        if tries >= MAX_TRIES:
            return NextState(state=State.PARKED, reason=Reason.QUARANTINED, tries=tries, missing=missing)
        due = now + self.retry_delay * 2 ** (tries - 1)
        return NextState(state=State.WAITING, reason=visited.reason, due=due, tries=tries, missing=missing)


def is_moved(visited: Visited) -> bool:
    """Whether a redirect is permanent."""
    return visited.fetched is not None and visited.fetched.status in _PERMANENT
