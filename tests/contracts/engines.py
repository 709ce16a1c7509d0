"""The engines on which the tests of the contract run; a further one is added to `ENGINES`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from crawler.frontier.budgets import Budgets
from crawler.stores.contract.store import Store
from crawler.stores.open import open_store

Opener = Callable[..., Store]


def sqlite_at(path: Path) -> Opener:
    def open_it(budgets: Budgets | None = None, **options: Any) -> Store:
        return open_store(f"sqlite:{path / 'crawl.db'}", budgets=budgets, **options)

    return open_it


ENGINES = {"sqlite": sqlite_at}
