"""Counts the active hosts by what they are doing, for status displays and metrics."""

from __future__ import annotations

from dataclasses import dataclass

from crawler.frontier.frontier import BackQueue, Frontier
from crawler.frontier.gates import Gate


@dataclass(frozen=True, slots=True, kw_only=True)
class Census:
    """The number of active hosts in each state, and of URLs in their queues."""

    visiting: int = 0  # a request is in flight
    ready: int = 0  # they could be visited now
    resting: int = 0  # the politeness clock of the host, its group or its server has not run out
    waiting: int = 0  # for a commit, for more URLs, or for a robots.txt
    queued: int = 0  # URLs in their queues

    @property
    def active(self) -> int:
        return self.visiting + self.ready + self.resting + self.waiting


def census(frontier: Frontier, now: float) -> Census:
    """Count the active hosts. Safe in any thread: it iterates over copies, while hosts are added and removed."""
    visiting = ready = resting = waiting = queued = 0
    in_flight_hosts = {visit.host_key for visit in list(frontier.in_flight.values())}
    for back in list(frontier.hosts.values()):
        queued += len(back.queue) + len(back.remote_robots)
        if back.host in in_flight_hosts:
            visiting += 1
        elif not (back.busy or back.in_heap):
            waiting += 1
        elif _is_resting(back, now):
            resting += 1
        else:
            ready += 1
    return Census(visiting=visiting, ready=ready, resting=resting, waiting=waiting, queued=queued)


def _is_resting(back: BackQueue, now: float) -> bool:
    """Whether a host must wait; once it has entered its gates for a leased visit, only its own clock counts."""
    if back.clock.next_visit > now:
        return True
    return not (back.busy or (_is_open(back.group, now) and _is_open(back.address, now)))


def _is_open(gate: Gate | None, now: float) -> bool:
    return gate is None or gate.is_open(now)
