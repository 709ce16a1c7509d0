"""The role `crawl`: settings and runs of the crawl as a whole, and its state in numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from crawler.items import Reason, State


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlAccount:
    """The numbers of a crawl: known = waiting + leased + parked, in every committed state."""

    known: int
    waiting: int
    leased: int
    parked: int
    hosts: int
    documents: int
    pages: int  # complete documents that are pages
    collisions: int  # URLs that were dropped because another URL has their key
    by_reason: Sequence[tuple[State, Reason, int]]
    next_due: float | None


class CrawlStore(Protocol):
    """Keeps settings and run summaries of the crawl, and counts its rows."""

    def facts(self) -> Mapping[str, str]:
        """Return all facts that were set, by name."""

    def set_facts(self, facts: Mapping[str, str]) -> None:
        """Store facts about the crawl, such as the settings with which later runs are compared."""

    def add_run(self, summary: Mapping[str, Any], now: float) -> None:
        """Store the summary of a run that has ended."""

    def runs(self) -> list[Mapping[str, Any]]:
        """Return the summaries of all ended runs in order, each with the time when it `ended`."""

    def account(self) -> CrawlAccount:
        """Count URLs, hosts and documents."""

    def size(self) -> int:
        """Return the size of the store on the disk."""

    def check(self) -> str | None:
        """Check the store for damage, and return a description of it, or None."""
