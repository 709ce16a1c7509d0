"""The frontier on disk: which hosts are due, which of their URLs come next, and which are leased."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from crawler.frontier.frontier import HostLoad
from crawler.frontier.priority import Draw, most_important
from crawler.items import Reason, Visit


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantedLeases:
    """Which of the wanted visits were leased."""

    granted: Sequence[Visit]
    held_until: Mapping[int, float]  # hosts whose budget of today is spent, and when they may be visited again


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """What is left to do, over all workers."""

    leased: int
    next_due: float | None  # when the next URL may be visited or let in, by due times, holds and budgets


class FrontierStore(Protocol):
    """Hands out hosts and URLs that are due, and leases URLs to the worker that will visit them."""

    def activate(
        self, owner: str, now: float, hosts: int, urls: int, exclude: Collection[int], draw: Draw = most_important
    ) -> list[HostLoad]:
        """Choose up to `hosts` of this owner's hosts with due URLs, and load some URLs of each.

        Each is the host that has waited longest in the level that is drawn. URLs that a budget had parked and now
        allows are let in before, in a transaction of their own.
        """

    def urgent(self, hosts: Collection[int], now: float) -> list[int]:
        """Those of the hosts that got urgent URLs since the last call."""

    def next_due(self, now: float) -> float:
        """When the next host that is not due now becomes due, or a budget is reviewed; infinite if never."""

    def send_back(self, hosts: Sequence[int], now: float) -> None:
        """Move hosts that had their turn behind all that are due now."""

    def load_host(self, owner: str, host: int, name: str, now: float, urls: int) -> HostLoad | None:
        """Load one host, making it known if need be; None if it is not this owner's."""

    def load(self, host: int, now: float, urls: int) -> list[Visit]:
        """The next due URLs of a host: by level, then step, then due time."""

    def load_all(self, hosts: Sequence[int], now: float, urls: int) -> list[tuple[int, list[Visit]]]:
        """`load` for several hosts."""

    def lease(self, owner: str, visits: Sequence[Visit], now: float) -> GrantedLeases:
        """Lease the URLs that still wait and that budgets allow; a robots.txt URL is made known if need be."""

    def unlease(self, visits: Sequence[Visit], now: float) -> None:
        """Undo leases that were not used."""

    def postpone(self, visits: Sequence[tuple[Visit, float]], reason: Reason) -> None:
        """Let waiting URLs wait until a time, for a reason."""

    def hold(self, hosts: Sequence[tuple[int, float]]) -> None:
        """Hold hosts until a time."""

    def gates(self) -> dict[str, float]:
        """The time before which each politeness group rests."""

    def outlook(self) -> Outlook:
        """What is leased by any worker and when the next URL is due: whether the crawl is over."""

    def clamp_future_times(self, latest: float) -> None:
        """After the clock was set back, pull later due times, holds and expiries back to `latest`."""
