"""Open a store by its address: `sqlite:path/to/crawl.db`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from crawler.duplicates.cascade import DuplicateRule
from crawler.errors import Misconfigured
from crawler.frontier.budgets import Budgets
from crawler.frontier.priority import Order
from crawler.stores.contract.log import StoreLog
from crawler.stores.contract.store import Store
from crawler.stores.sqlite.log import log_of
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
    order: Order | None = None,
) -> Store:
    """Return the store at an address.

    `check` looks for damage first, as is needed after an unclean stop. A store that is not `durable` may be lost when
    the process stops, and no other process can read it: for simulations. A host is probed for soft 404 pages after it
    has given `probe_after` pages; 0 means never. `duplicates` is the rule for near-duplicates. `group_of` returns the
    politeness group of a host name, or an empty text. A new crawl gets the `order` in which its URLs are visited; an
    older one must have it already.
    """
    return SqliteStore(
        _sqlite_path(address),
        read_only=read_only,
        check=check,
        durable=durable,
        budgets=budgets,
        probe_after=probe_after,
        duplicates=duplicates,
        group_of=group_of,
        order=order,
    )


def read_log(address: str) -> StoreLog:
    """Return the log of the store at an address, which this process must not have open."""
    return log_of(_sqlite_path(address))


def _sqlite_path(address: str) -> Path:
    engine, colon, place = address.partition(":")
    if engine == "sqlite" and colon and place:
        return Path(place)
    raise Misconfigured(f"STORE={address!r}: not a store that Orbweaver knows; write sqlite:PATH, or leave it unset.")
