"""The share of a worker among several: which partitions it holds, which it releases, which addresses it hands over.

It decides and does no I/O: the worker passes in what the store answers, and carries out the decisions.
"""

from __future__ import annotations

from collections.abc import Sequence

from crawler.frontier.frontier import Frontier, HostLoad
from crawler.items import Visit
from crawler.stores.contract.partitions import PARTITIONS, Assignment


class PartitionShare:
    """The partitions of one worker; the hosts are those of its frontier."""

    def __init__(self, frontier: Frontier, address_gap: float, renew_every: float) -> None:
        self.assignment = Assignment(partitions={}, workers=1, share=PARTITIONS)
        self.is_shared = False  # there are other workers, or were
        self._frontier = frontier
        self._address_gap = address_gap
        self._renew_every = renew_every  # seconds between two assignments
        self._surplus: frozenset[int] = frozenset()  # partitions beyond our share
        self._unused: dict[str, float] = {}  # addresses that another partition wants and we do not use, since when

    def lease_renewed(self, assignment: Assignment, lease_end: float, now: float) -> list[Visit]:
        """Take in which partitions the store has assigned, until when; return leases to be undone.

        Hosts of lost partitions leave the frontier at once. Hosts of new partitions are visited when the last visits of
        their former owner have had their rest.
        """
        frontier, previous = self._frontier, self.assignment.partitions
        self.assignment = assignment
        lost = {partition for partition, epoch in previous.items() if assignment.partitions.get(partition) != epoch}
        leaving = frontier.hosts_in(lost) if lost else []
        if assignment.partitions.items() - previous.items():
            frontier.restore_gates(assignment.gates)
            frontier.quiet_until = now + self._address_gap
        frontier.lease_end = lease_end
        if not self.is_shared and (assignment.workers > 1 or len(assignment.partitions) < PARTITIONS):
            self.is_shared = True
            leaving = list(frontier.hosts)  # a worker alone does not claim the addresses of its hosts
        self._choose_surplus()
        leaving += frontier.hosts_in(self._surplus)
        for address in assignment.wanted:
            hosts = frontier.hosts_at(address)
            leaving += hosts
            if hosts:
                self._unused.pop(address, None)
            else:
                self._unused.setdefault(address, now)
        return frontier.withdraw_hosts(leaving) if leaving else []

    def _choose_surplus(self) -> None:
        """Choose the partitions to release, and keep to that choice while their number is right."""
        ours = self.assignment.partitions
        excess = len(ours) - self.assignment.share
        if excess <= 0:
            self._surplus = frozenset()
        elif len(self._surplus & ours.keys()) != excess:
            self._surplus = frozenset(sorted(ours)[-excess:])

    def may_visit(self, load: HostLoad) -> bool:
        """Whether a loaded host is in a partition that we hold and are not about to release."""
        return self.assignment.partitions.get(load.partition) == load.epoch and load.partition not in self._surplus

    def to_release(self) -> frozenset[int]:
        """Return the partitions beyond our share, once none of their hosts is active any more."""
        is_clear = not any(back_queue.leaving for back_queue in self._frontier.hosts.values())
        return self._surplus if is_clear else frozenset()

    def to_hand_over(self, now: float) -> Sequence[str]:
        """Return, once, the addresses that other partitions want and that have had their rest from us."""
        rest = max(self._address_gap, self._renew_every / 2)
        free = [address for address in self.assignment.wanted if self._unused.get(address, now) + rest <= now]
        for address in free:
            del self._unused[address]
        return free
