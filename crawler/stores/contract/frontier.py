"""The role `frontier`: which hosts are due, which of their URLs come next, and which are leased."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from crawler.frontier.exploration import LevelLimit
from crawler.frontier.frontier import HostLoad
from crawler.frontier.priority import Draw, most_important
from crawler.items import Reason, Visit


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantedLeases:
    """The result of a request for leases."""

    granted: Sequence[Visit]
    held_until: Mapping[int, float]  # hosts whose daily budget is spent → when they may be visited again


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """The work that is left, over all workers."""

    leased: int
    next_due: float | None  # when the next URL may be visited or admitted, by due times, holds and budgets


class FrontierStore(Protocol):
    """Hands out hosts and URLs that are due, and leases URLs to the worker that will visit them."""

    def activate(
        self,
        owner: str,
        now: float,
        hosts: int,
        urls: int,
        exclude: Collection[int],
        draw: Draw = most_important,
        limit: LevelLimit | None = None,
    ) -> list[HostLoad]:
        """Choose up to `hosts` of this owner's hosts with due URLs, and load up to `urls` URLs of each.

        Each is the host that has waited longest in the level that is drawn. Before that, URLs that were parked over
        budget are admitted where budgets allow it now, in a transaction of their own.

        With a limit, at most so many URLs beyond its deepest level are loaded of its hosts in all, as long as any host
        has better ones and may be visited within seconds.
        """

    def urgent(self, hosts: Collection[int], now: float) -> list[int]:
        """Return those of the hosts that got urgent seeds since the last call."""

    def next_due(self, now: float) -> float:
        """Return when the next host becomes due, or the next budget is reviewed, after `now`; infinite if never."""

    def send_back(self, hosts: Sequence[int], now: float) -> None:
        """Move hosts that had their turn behind all hosts that are due now."""

    def load_host(self, owner: str, host: int, name: str, now: float, urls: int) -> HostLoad | None:
        """Load one host, which is inserted if it is new; None if it is not this owner's."""

    def load(self, host: int, now: float, urls: int) -> list[Visit]:
        """Return the next due URLs of a host: by level, then step, then due time."""

    def load_all(
        self, hosts: Sequence[int], now: float, urls: int, limit: LevelLimit | None = None
    ) -> list[tuple[int, list[Visit]]]:
        """Call `load` for several hosts in one transaction, with at most so many URLs beyond the limit in all."""

    def lease(self, owner: str, visits: Sequence[Visit], now: float) -> GrantedLeases:
        """Lease the URLs that still wait and that budgets allow; a robots.txt URL is inserted if it is new."""

    def unlease(self, visits: Sequence[Visit], now: float) -> None:
        """Return leases that were not used."""

    def postpone(self, visits: Sequence[tuple[Visit, float]], reason: Reason) -> None:
        """Set the due times of waiting URLs, with the reason why they wait."""

    def hold(self, hosts: Sequence[tuple[int, float]]) -> None:
        """Hold hosts, each until a time."""

    def gates(self) -> dict[str, float]:
        """Return the time until which each politeness group rests."""

    def outlook(self) -> Outlook:
        """Return how many URLs are leased by any worker and when the next is due: whether the crawl is over."""

    def clamp_future_times(self, latest: float) -> None:
        """After the clock was set back, pull later due times, holds and expiries back to `latest`."""
