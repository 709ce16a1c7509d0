"""The SQLite connection and its transactions, which all roles of the store share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import apsw

from crawler.errors import Misconfigured
from crawler.frontier.budgets import Budgets
from crawler.frontier.priority import Order
from crawler.stores.sqlite.connection import open_for_reading, open_for_writing, readable_errors
from crawler.stores.sqlite.ledger import HostLedger
from crawler.stores.sqlite.new_urls import SeenCache
from crawler.stores.sqlite.url_placer import Focus


class Database:
    """One SQLite file, opened. It belongs to the thread that opened it."""

    def __init__(
        self,
        path: Path,
        *,
        read_only: bool = False,
        check: bool = False,
        durable: bool = True,
        budgets: Budgets | None = None,
        group_of: Callable[[str], str] | None = None,
        order: Order | None = None,
    ) -> None:
        self.connection = open_for_reading(path) if read_only else open_for_writing(path, check=check, durable=durable)
        self.seen_cache = SeenCache(group_of)
        self.focus: Focus | None = None  # of a crawl that has a topic
        self._path = path
        self._budgets = budgets or Budgets()
        if not read_only:
            self.seen_cache.is_fifo = self._fixed_order(order) is Order.FIFO

    def errors(self) -> AbstractContextManager[None]:
        """Turn errors of SQLite in the block into errors that say what to do."""
        return readable_errors(self._path)

    @contextmanager
    def transaction(self) -> Iterator[apsw.Connection]:
        """Open a transaction. A deferred BEGIN would fail as busy when another process writes; IMMEDIATE waits."""
        with self.errors():
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield self.connection
                self.connection.execute("COMMIT")
            except BaseException:
                self.seen_cache.clear()
                if self.connection.in_transaction:
                    self.connection.execute("ROLLBACK")
                raise

    @contextmanager
    def changing(self, now: float) -> Iterator[tuple[apsw.Connection, HostLedger]]:
        """Open a transaction with a ledger, which writes the changes of hosts and sites at its end."""
        with self.transaction() as connection:
            ledger = HostLedger(connection, self._budgets, now, is_focused=self.seen_cache.is_focused)
            yield connection, ledger
            ledger.write()

    @contextmanager
    def snapshot(self) -> Iterator[apsw.Connection]:
        """Open a read transaction, so that several reads see one state."""
        if self.connection.in_transaction:
            yield self.connection
            return
        with self.errors():
            self.connection.execute("BEGIN")
            try:
                yield self.connection
            finally:
                self.connection.execute("ROLLBACK")

    def _fixed_order(self, order: Order | None) -> Order:
        """Return the order of this crawl, which is fixed from its first URL on; raises `Misconfigured` for another."""
        with self.transaction() as connection:
            stored = connection.execute("SELECT value FROM crawl WHERE name = 'order'").get
            if stored is None and connection.execute("SELECT 1 FROM urls LIMIT 1").get is None and order is not None:
                connection.execute("INSERT INTO crawl VALUES ('order', ?)", (order.value,))
                stored = order.value
        fixed = Order(stored or Order.PRIORITY)
        if order not in (None, fixed):
            self.connection.close()
            raise Misconfigured(
                f"ORDER={order}: this crawl was created with ORDER={fixed}, which cannot be changed. Nothing was "
                "changed; give it the same, or use another CRAWL_DIR."
            )
        return fixed

    def close(self) -> None:
        with self.errors():
            self.connection.close()
