"""What are the active hosts doing?"""

from __future__ import annotations

from dataclasses import dataclass

from crawler.frontier.frontier import BackQueue, Frontier


@dataclass(frozen=True, slots=True, kw_only=True)
class Census:
    """The hosts of the window, each in one state, and the URLs that they have there."""

    asked: int = 0  # they are being visited, or about to be
    ready: int = 0  # they could be
    resting: int = 0  # not before their time, or that of their server
    waiting: int = 0  # for a commit, for more URLs, or for a robots.txt
    queued: int = 0  # URLs

    @property
    def active(self) -> int:
        return self.asked + self.ready + self.resting + self.waiting


def census(frontier: Frontier, now: float) -> Census:
    """Counted host by host; may be asked for in any thread."""
    asked = ready = resting = waiting = queued = 0
    for back in list(frontier.hosts.values()):  # a list, made at once: hosts come and go meanwhile
        queued += len(back.queue) + len(back.errands)
        if back.busy and back.clock.next_visit <= now:
            asked += 1
        elif not (back.busy or back.in_heap):
            waiting += 1
        elif back.busy or _rests(back, now):  # what is leased ahead of its time is busy and rests
            resting += 1
        else:
            ready += 1
    return Census(asked=asked, ready=ready, resting=resting, waiting=waiting, queued=queued)


def _rests(back: BackQueue, now: float) -> bool:
    return back.clock.next_visit > now or any(
        gate is not None and not gate.is_open(now) for gate in (back.group, back.address)
    )
