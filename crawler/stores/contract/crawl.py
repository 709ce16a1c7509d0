"""The crawl as a whole: what must be remembered of it, its runs, and its state in numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from crawler.items import Reason, State


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlAccount:
    """A crawl in numbers: known = waiting + leased + parked, at every moment."""

    known: int
    waiting: int
    leased: int
    parked: int
    hosts: int
    documents: int
    pages: int  # complete documents that are pages
    collisions: int  # URLs that are not known, because another has their key
    by_reason: Sequence[tuple[State, Reason, int]]
    next_due: float | None


class CrawlStore(Protocol):
    """Keeps facts of the whole crawl."""

    def facts(self) -> Mapping[str, str]:
        """All facts that were set."""

    def set_facts(self, facts: Mapping[str, str]) -> None:
        """Keep facts of the crawl as a whole, such as settings that later runs are compared with."""

    def add_run(self, summary: Mapping[str, Any], now: float) -> None:
        """Keep the summary of a run that has ended."""

    def runs(self) -> list[Mapping[str, Any]]:
        """The summaries of all ended runs in order, each with the time when it `ended`."""

    def account(self) -> CrawlAccount:
        """Count URLs, hosts and documents."""

    def size(self) -> int:
        """Bytes of the store on the disk."""

    def check(self) -> str | None:
        """Look for damage: what is wrong with the store, or None."""
