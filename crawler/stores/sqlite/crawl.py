"""The role `crawl` on SQLite: facts and runs of the crawl as a whole, and its state in numbers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from crawler.items import Kind, Reason, State
from crawler.stores.contract.crawl import CrawlAccount
from crawler.stores.sqlite.database import Database
from crawler.stores.sqlite.frontier import first_due


class SqliteCrawl:
    """Implements `crawler.stores.contract.crawl.CrawlStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def facts(self) -> Mapping[str, str]:
        with self._database.errors():
            return dict(self._database.connection.execute("SELECT name, value FROM crawl WHERE typeof(value) = 'text'"))

    def set_facts(self, facts: Mapping[str, str]) -> None:
        with self._database.transaction() as connection:
            connection.executemany("INSERT OR REPLACE INTO crawl VALUES (?, ?)", facts.items())

    def add_run(self, summary: Mapping[str, Any], now: float) -> None:
        with self._database.transaction() as connection:
            connection.execute("INSERT INTO runs (ended, summary) VALUES (?, ?)", (now, json.dumps(summary)))

    def runs(self) -> list[Mapping[str, Any]]:
        with self._database.errors():
            rows: list[Any] = self._database.connection.execute(
                "SELECT ended, summary FROM runs ORDER BY id"
            ).fetchall()
        return [json.loads(summary) | {"ended": ended} for ended, summary in rows]

    def account(self) -> CrawlAccount:
        with self._database.snapshot() as connection:
            known, waiting, leased, parked = connection.execute("SELECT * FROM accounting").get
            by_reason = connection.execute("SELECT state, reason, count(*) FROM urls GROUP BY 1, 2 ORDER BY 1, 3 DESC")
            pages = connection.execute(
                "SELECT count(*) FROM documents WHERE kind = ? AND status BETWEEN 200 AND 299 AND reason IN (?, ?)",
                (Kind.PAGE, Reason.OK, Reason.CUT_LENGTH),
            ).get
            return CrawlAccount(
                known=known,
                waiting=waiting,
                leased=leased,
                parked=parked,
                hosts=connection.execute("SELECT count(*) FROM hosts").get,
                documents=connection.execute("SELECT count(*) FROM documents").get,
                pages=pages,
                collisions=connection.execute("SELECT count(*) FROM collisions").get,
                by_reason=[(State(state), Reason(reason), count) for state, reason, count in by_reason],
                next_due=first_due(connection),
            )

    def size(self) -> int:
        with self._database.errors():
            pages: int = self._database.connection.pragma("page_count")
            return pages * int(self._database.connection.pragma("page_size"))

    def check(self) -> str | None:
        with self._database.errors():
            answer = self._database.connection.execute("PRAGMA integrity_check(1)").get
            return None if answer == "ok" else str(answer)
