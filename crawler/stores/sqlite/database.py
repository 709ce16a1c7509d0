"""One SQLite file with its transactions: what all roles of the store share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import apsw

from crawler.frontier.budgets import Budgets
from crawler.stores.sqlite.connection import open_for_reading, open_for_writing, trouble
from crawler.stores.sqlite.ledger import HostLedger
from crawler.stores.sqlite.new_urls import SeenCache


class Database:
    """Belongs to the thread that opened it."""

    def __init__(
        self,
        path: Path,
        *,
        read_only: bool = False,
        check: bool = False,
        durable: bool = True,
        budgets: Budgets | None = None,
        group_of: Callable[[str], str] | None = None,
    ) -> None:
        self.connection = open_for_reading(path) if read_only else open_for_writing(path, check=check, durable=durable)
        self.seen = SeenCache(group_of)
        self._path = path
        self._budgets = budgets or Budgets()

    def errors(self) -> AbstractContextManager[None]:
        """Turn SQLite's errors in the block into ours, which say what to do."""
        return trouble(self._path)

    @contextmanager
    def transaction(self) -> Iterator[apsw.Connection]:
        """Write all or nothing. A deferred BEGIN would fail as busy when another process writes; IMMEDIATE waits."""
        with self.errors():
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield self.connection
                self.connection.execute("COMMIT")
            except BaseException:
                self.seen.forget()
                if self.connection.in_transaction:
                    self.connection.execute("ROLLBACK")
                raise

    @contextmanager
    def changing(self, now: float) -> Iterator[tuple[apsw.Connection, HostLedger]]:
        """Open a transaction that changes hosts and sites; their changes are written at its end."""
        with self.transaction() as connection:
            ledger = HostLedger(connection, self._budgets, now)
            yield connection, ledger
            ledger.write()

    @contextmanager
    def snapshot(self) -> Iterator[apsw.Connection]:
        """Let several reads see one state."""
        if self.connection.in_transaction:
            yield self.connection
            return
        with self.errors():
            self.connection.execute("BEGIN")
            try:
                yield self.connection
            finally:
                self.connection.execute("ROLLBACK")

    def close(self) -> None:
        with self.errors():
            self.connection.close()
