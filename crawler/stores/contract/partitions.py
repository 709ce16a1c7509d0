"""The role `partitions`: which worker may visit which hosts, and recovery from workers that died."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from crawler.frontier.politeness import HostClock
from crawler.items import Visit

PARTITIONS = 64  # work is divided by these; fixed when a crawl is created

FullRest = Callable[[str, HostClock], HostClock]  # host name, clock → the clock after its worker died during a visit


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerStatus:
    """The state of a worker, one crawl process, as it reports it to the others."""

    slot: int
    owner: str
    pid: int = 0
    since: float = 0.0
    lease_end: float = 0.0
    visits: int = 0  # since it started
    pages: int = 0
    new_urls: int = 0
    late: int = 0  # visits whose commit was refused
    rate: float = 0.0  # visits a second, lately
    store_share: float = 0.0  # share of the time, lately, in which its store thread was busy
    limited_by: str = ""  # its bottleneck
    partitions: int = 0  # that it holds
    expected: int = 1  # how many workers there will be at least


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """The partitions that a worker holds, and its view of the other workers."""

    partitions: Mapping[int, int]  # with their epochs
    workers: int  # that are alive, this one included
    share: int  # partitions that each worker may hold
    pages_of_others: int = 0  # that the other living workers have fetched
    returned: int = 0  # URLs leased by a dead worker, which wait again
    quarantined: int = 0  # URLs over which a worker died while it visited nothing else
    wanted: Sequence[str] = ()  # addresses of this worker that another partition needs
    gates: Mapping[str, float] = field(default_factory=dict)  # politeness group → when it may be visited again


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovery:
    """What was done with the URLs that a dead worker had leased."""

    returned: int  # URLs that wait again
    quarantined: int  # URLs that were being visited alone, and are parked


class PartitionStore(Protocol):
    """Leases partitions to workers and recovers from those that died."""

    def new_slot(self, place: str) -> int:
        """Return a worker number for a crawl directory: the lowest that no worker of another directory ever had."""

    def claim_slot(self, place: str, slot: int) -> bool:
        """Whether a worker number belongs to a crawl directory; one that has no owner does so from now on."""

    def recover(self, slots: Collection[int], now: float, full_rest: FullRest) -> Recovery:
        """Return the URLs that the dead workers of these slots had leased; their partitions become free.

        Hosts that were being visited get the clock that `full_rest` makes of theirs.
        """

    def renew_lease(
        self, worker: WorkerStatus, now: float, lease: float, longest_request: float, full_rest: FullRest
    ) -> Assignment:
        """Extend this worker's lease, and assign it partitions up to its share.

        It gets partitions that are free, or whose lease ended longer than a longest request ago; what their owner had
        leased waits again, as in `recover`.
        """

    def release(self, owner: str, partitions: Collection[int]) -> None:
        """Release partitions, except those of which a URL is leased."""

    def leave(self, owner: str) -> None:
        """Release all partitions of a worker that ends."""

    def workers(self) -> list[WorkerStatus]:
        """Return all workers that have not left, dead ones included."""

    def regroup(self) -> None:
        """Assign hosts to partitions anew, because the politeness groups have changed. No worker may be running."""

    def claim_hosts(self, owner: str, hosts: Sequence[tuple[int, str]]) -> set[int]:
        """Decide which of these hosts, each with its server's address, this owner may visit.

        A host whose address belongs to another partition moves there, unless it is in a politeness group: then its
        group's partition requests the address.
        """

    def hand_over_addresses(self, owner: str, addresses: Sequence[str]) -> None:
        """Give addresses that this owner does not visit any more to the partitions that requested them."""

    def add_remote_robots(self, visits: Sequence[Visit]) -> None:
        """Queue robots.txt files that lie on another host than their origin's, for the owner of that host."""

    def remote_robots(self, owner: str, now: float) -> list[Visit]:
        """Return the queued robots.txt visits to this owner's hosts.

        Where such a host is held, the origins whose robots.txt lies on it are held as long.
        """
