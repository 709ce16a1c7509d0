"""The store on one SQLite file: its roles on one connection."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from crawler.duplicates.cascade import DuplicateRule
from crawler.frontier.budgets import Budgets
from crawler.frontier.priority import Order
from crawler.stores.contract.survey import Survey
from crawler.stores.sqlite.archive import SqliteArchive
from crawler.stores.sqlite.changes import SqliteChanges
from crawler.stores.sqlite.commits import SqliteCommits
from crawler.stores.sqlite.crawl import SqliteCrawl
from crawler.stores.sqlite.database import Database
from crawler.stores.sqlite.documents import SqliteDocuments
from crawler.stores.sqlite.focus import SqliteFocus
from crawler.stores.sqlite.frontier import SqliteFrontier
from crawler.stores.sqlite.partitions import SqlitePartitions
from crawler.stores.sqlite.similarity import SqliteSimilarity
from crawler.stores.sqlite.survey import SqliteSurvey
from crawler.stores.sqlite.urls import SqliteUrls


class SqliteStore:
    """Implements `crawler.stores.contract.store.Store`; belongs to the thread that opened it."""

    def __init__(
        self,
        path: Path,
        *,
        read_only: bool = False,
        check: bool = False,
        durable: bool = True,
        budgets: Budgets | None = None,
        probe_after: int = 0,
        duplicates: DuplicateRule | None = None,
        group_of: Callable[[str], str] | None = None,
        order: Order | None = None,
    ) -> None:
        database = Database(
            path,
            read_only=read_only,
            check=check,
            durable=durable,
            budgets=budgets,
            group_of=group_of,
            order=order,
        )
        self._database = database
        self.partitions = SqlitePartitions(database)
        self.urls = SqliteUrls(database)
        self.frontier = SqliteFrontier(database)
        self.similarity = SqliteSimilarity(database, duplicates or DuplicateRule())
        self.commits = SqliteCommits(database, self.similarity, probe_after)
        self.documents = SqliteDocuments(database)
        self.changes = SqliteChanges(database)
        self.archive = SqliteArchive(database)
        self.crawl = SqliteCrawl(database)
        self.focus = SqliteFocus(database)

    @contextmanager
    def survey(self) -> Iterator[Survey]:
        with self._database.snapshot() as connection:
            yield SqliteSurvey(connection)

    def close(self) -> None:
        self._database.close()
