"""The share of a worker among several: which partitions it holds, which it releases, which addresses it hands over.

It decides and does no I/O: the worker passes on what the store says, and carries out the decisions.
"""

from __future__ import annotations

from collections.abc import Sequence

from crawler.frontier.frontier import Frontier, HostLoad
from crawler.items import Visit
from crawler.stores.contract.partitions import Assignment
from crawler.stores.sqlite.schema import PARTITIONS


class PartitionShare:
    """Of one worker; the hosts are those of its frontier."""

    def __init__(self, frontier: Frontier, address_gap: float, every: float) -> None:
        self.tenure = Assignment(partitions={}, workers=1, share=PARTITIONS)
        self.is_shared = False  # there are other workers, or were
        self._frontier = frontier
        self._address_gap = address_gap
        self._every = every  # seconds between two of the store's answers
        self._giving: frozenset[int] = frozenset()  # partitions that others are to have
        self._unused: dict[str, float] = {}  # addresses that others want and that we do not use, since when

    def kept(self, tenure: Assignment, lease_end: float, now: float) -> list[Visit]:
        """The store says what we have, until when. Leases that are not needed any more.

        What is lost is left at once; what is new is visited when its former owner's visits have had their rest.
        """
        frontier, had = self._frontier, self.tenure.partitions
        self.tenure = tenure
        lost = {partition for partition, epoch in had.items() if tenure.partitions.get(partition) != epoch}
        leaving = frontier.hosts_in(lost) if lost else []
        if tenure.partitions.items() - had.items():
            frontier.restore_gates(tenure.gates)
            frontier.quiet_until = now + self._address_gap
        frontier.lease_end = lease_end
        if not self.is_shared and (tenure.workers > 1 or len(tenure.partitions) < PARTITIONS):
            self.is_shared = True
            leaving = list(frontier.hosts)  # their servers were visited without asking whose they are
        self._choose_what_to_give()
        leaving += frontier.hosts_in(self._giving)
        for address in tenure.wanted:
            hosts = frontier.hosts_at(address)
            leaving += hosts
            if hosts:
                self._unused.pop(address, None)
            else:
                self._unused.setdefault(address, now)
        return frontier.send_away(leaving) if leaving else []

    def _choose_what_to_give(self) -> None:
        mine = self.tenure.partitions
        excess = len(mine) - self.tenure.share
        if excess <= 0:
            self._giving = frozenset()
        elif len(self._giving & mine.keys()) != excess:
            self._giving = frozenset(sorted(mine)[-excess:])

    def may_visit(self, load: HostLoad) -> bool:
        """Whether a host that was loaded is ours, and will be."""
        return self.tenure.partitions.get(load.partition) == load.epoch and load.partition not in self._giving

    def to_release(self) -> frozenset[int]:
        """Partitions beyond our share, once nothing of them is here any more."""
        is_clear = not any(back.leaving for back in self._frontier.hosts.values())
        return self._giving if is_clear else frozenset()

    def to_hand_over(self, now: float) -> Sequence[str]:
        """Servers that others need and that have had their rest from us; asked once."""
        rest = max(self._address_gap, self._every / 2)
        free = [address for address in self.tenure.wanted if self._unused.get(address, now) + rest <= now]
        for address in free:
            del self._unused[address]
        return free
