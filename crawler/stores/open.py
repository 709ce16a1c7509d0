"""Open a store by its address: `sqlite:path/to/crawl.db`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from crawler.duplicates.cascade import DuplicateRule
from crawler.errors import Misconfigured
from crawler.frontier.budgets import Budgets
from crawler.stores.contract.store import Store
from crawler.stores.sqlite.store import SqliteStore


def open_store(
    address: str,
    *,
    read_only: bool = False,
    check: bool = False,
    durable: bool = True,
    budgets: Budgets | None = None,
    probe_after: int = 0,
    duplicates: DuplicateRule | None = None,
    group_of: Callable[[str], str] | None = None,
) -> Store:
    """The store at an address; `group_of` says under which name a host counts with others as one, or nothing.

    `check` looks for damage first, as one should after an unclean stop. What is not `durable` may be lost when the process
    stops, and nobody else can read it: for crawls that are only tried out. A host that has given `probe_after` pages is asked
    for one that it cannot have. `duplicates` says what counts as one.
    """
    engine, colon, place = address.partition(":")
    if engine == "sqlite" and colon and place:
        return SqliteStore(
            Path(place),
            read_only=read_only,
            check=check,
            durable=durable,
            budgets=budgets,
            probe_after=probe_after,
            duplicates=duplicates,
            group_of=group_of,
        )
    raise Misconfigured(f"STORE={address!r}: not a store that Orbweaver knows; write sqlite:PATH, or leave it unset.")
