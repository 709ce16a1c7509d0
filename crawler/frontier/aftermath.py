"""What becomes of a URL after a visit?"""

from __future__ import annotations

from dataclasses import dataclass

from crawler.frontier.politeness import UNREACHABLE
from crawler.items import Kind, Outcome, Reason, State, Visited

TRIES = 3  # visits that may end badly by themselves before the URL is left alone


@dataclass(frozen=True, slots=True, kw_only=True)
class Aftermath:
    """A URL's next state, and why."""

    state: State
    reason: Reason
    due: float = 0.0
    tries: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RevisitPolicy:
    """When a URL is due again, until something knows better."""

    interval: float = 7 * 86_400.0
    retry_delay: float = 30.0  # doubled with each try

    def after(self, visited: Visited, now: float, host_free: float, *, excused: bool = False) -> Aftermath:
        """The next state of the visited URL; `host_free` is when its host may be asked again.

        A failure of the host that is excused, because the host or our network keeps failing, is not the URL's.
        """
        visit, outcome, reason = visited.visit, visited.outcome, visited.reason
        if visit.kind is Kind.ROBOTS:
            # Fetched when a page of the origin needs it, never for its own sake.
            return Aftermath(state=State.PARKED, reason=Reason.ROBOTS_FILE)
        if outcome is Outcome.FETCHED:
            due = now + self.interval
            end = visited.page.unavailable_after if visited.page is not None else None
            if end is not None and now < end < due:
                due = end + 1.0  # it is seen then that the page has come to its end
            return Aftermath(state=State.WAITING, reason=Reason.REVISIT, due=due)
        if outcome is Outcome.BUSY or (excused and reason in UNREACHABLE):
            return Aftermath(state=State.WAITING, reason=reason, due=max(now, host_free), tries=visit.tries)
        if outcome is Outcome.ABORTED:
            return Aftermath(state=State.WAITING, reason=reason, due=now, tries=visit.tries)
        if outcome in {Outcome.FAILED, Outcome.BROKEN} or reason is Reason.SERVER_ERROR:
            return self._retry(visited, now)
        return Aftermath(state=State.PARKED, reason=reason, tries=visit.tries)

    def _retry(self, visited: Visited, now: float) -> Aftermath:
        tries = visited.visit.tries + 1
        if tries >= TRIES:
            return Aftermath(state=State.PARKED, reason=Reason.QUARANTINED, tries=tries)
        due = now + self.retry_delay * 2 ** (tries - 1)
        return Aftermath(state=State.WAITING, reason=visited.reason, due=due, tries=tries)
