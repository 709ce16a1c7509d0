"""The role `similarity` on SQLite: near-duplicates are found by sketches, from which host templates are removed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import apsw

from crawler.duplicates.cascade import DuplicateRule
from crawler.items import Key
from crawler.stores.contract.commits import VisitResult
from crawler.stores.contract.similarity import SimilarPage, TemplateJob, TemplateResult, UndecidedPage
from crawler.stores.sqlite import similarity_index, site_templates
from crawler.stores.sqlite.database import Database
from crawler.stores.sqlite.similarity_doubts import find_candidates, find_copies
from crawler.stores.sqlite.similarity_index import SimilarityIndex


class SqliteSimilarity:
    """Implements `crawler.stores.contract.similarity.SimilarityStore`."""

    def __init__(self, database: Database, rule: DuplicateRule) -> None:
        self._database = database
        self.rule = rule
        # The index that `candidates` filled for a batch, and the version of the database that it read.
        self._looked_up: tuple[int, SimilarityIndex] | None = None

    def candidates(self, batch: Sequence[VisitResult]) -> Mapping[Key, Sequence[SimilarPage]]:
        with self._database.errors():
            connection = self._database.connection
            version, index = connection.pragma("data_version"), self._index(connection)
            found = find_candidates(connection, index, batch)
            self._looked_up = (version, index)
            return found

    def likely_copies(self, batch: Sequence[VisitResult]) -> set[Key]:
        """Return visits whose pages seem to be copies, of archived pages or of each other; their commit decides it."""
        with self._database.errors():
            connection, looked_up = self._database.connection, self._looked_up
            is_current = looked_up is not None and looked_up[0] == connection.pragma("data_version")
            index = looked_up[1] if looked_up is not None and is_current else self._index(connection)
            return find_copies(connection, index, batch)

    def index_for_commit(self, connection: apsw.Connection) -> SimilarityIndex:
        """Return the index that `candidates` filled for this batch, or a new one if another process has written."""
        looked_up, self._looked_up = self._looked_up, None
        if looked_up is not None and looked_up[0] == connection.pragma("data_version"):
            return looked_up[1]
        return self._index(connection)

    def _index(self, connection: apsw.Connection) -> SimilarityIndex:
        return SimilarityIndex(connection, self.rule)

    def template_hosts(self, owner: str) -> list[int]:
        with self._database.errors():
            return site_templates.hosts_with_jobs(self._database.connection, owner)

    def next_template_job(self, host: int) -> TemplateJob | None:
        with self._database.transaction() as connection:
            return site_templates.next_job(connection, host)

    def store_template(self, result: TemplateResult, now: float) -> Sequence[UndecidedPage]:
        with self._database.transaction() as connection:
            return site_templates.store_template(connection, self._index(connection), result, now)

    def decide(self, page: UndecidedPage, compared: Mapping[int, float], now: float) -> None:
        with self._database.transaction() as connection:
            site_templates.decide(connection, self._index(connection), page, compared, now)

    def rebuild_index(self) -> int:
        with self._database.transaction() as connection:
            return self._index(connection).rebuild()

    def forget_sketches(self) -> None:
        with self._database.transaction() as connection:
            connection.execute(
                "DELETE FROM bands; DELETE FROM sketches; DELETE FROM template_jobs; UPDATE hosts SET template = NULL"
            )

    def sketches(self) -> Iterator[Sequence[tuple[int, int, bytes]]]:
        with self._database.errors():
            yield from similarity_index.sketches(self._database.connection)

    def count_sketches(self) -> int:
        with self._database.errors():
            count: int = self._database.connection.execute("SELECT count(*) FROM sketches").get
            return count

    def find_sketched(self, number: int) -> SimilarPage | None:
        with self._database.snapshot() as connection:
            return similarity_index.find_sketched(connection, number)

    def template(self, host: int) -> bytes:
        with self._database.errors():
            return similarity_index.template(self._database.connection, host)
