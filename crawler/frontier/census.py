"""What are the active hosts doing?"""

from __future__ import annotations

from dataclasses import dataclass

from crawler.frontier.frontier import BackQueue, Frontier
from crawler.frontier.gates import Gate


@dataclass(frozen=True, slots=True, kw_only=True)
class Census:
    """The hosts of the window, each in one state, and the URLs that they have there."""

    asked: int = 0  # they are being visited
    ready: int = 0  # they could be
    resting: int = 0  # not before their time, or that of their server
    waiting: int = 0  # for a commit, for more URLs, or for a robots.txt
    queued: int = 0  # URLs

    @property
    def active(self) -> int:
        return self.asked + self.ready + self.resting + self.waiting


def census(frontier: Frontier, now: float) -> Census:
    """Counted host by host. May be asked for in any thread: lists are made at once, while hosts come and go."""
    asked = ready = resting = waiting = queued = 0
    visited = {visit.host_key for visit in list(frontier.in_flight.values())}
    for back in list(frontier.hosts.values()):
        queued += len(back.queue) + len(back.errands)
        if back.host in visited:
            asked += 1
        elif not (back.busy or back.in_heap):
            waiting += 1
        elif _rests(back, now):
            resting += 1
        else:
            ready += 1
    return Census(asked=asked, ready=ready, resting=resting, waiting=waiting, queued=queued)


def _rests(back: BackQueue, now: float) -> bool:
    """One that has passed its gates, because a visit of it is leased, has only its own time to wait for."""
    if back.clock.next_visit > now:
        return True
    return not (back.busy or (_lets_in(back.group, now) and _lets_in(back.address, now)))


def _lets_in(gate: Gate | None, now: float) -> bool:
    return gate is None or gate.is_open(now)
