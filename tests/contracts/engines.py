"""The engines that must keep the contracts. A further one joins by a line in `ENGINES`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from crawler.frontier.budgets import Budgets
from crawler.stores.contract import Store
from crawler.stores.open import open_store

Opener = Callable[..., Store]


def sqlite_at(path: Path) -> Opener:
    def open_it(
        budgets: Budgets | None = None, group_of: Callable[[str], str] | None = None, probe_after: int = 0
    ) -> Store:
        return open_store(f"sqlite:{path / 'crawl.db'}", budgets=budgets, group_of=group_of, probe_after=probe_after)

    return open_it


ENGINES = {"sqlite": sqlite_at}
