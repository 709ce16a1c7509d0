"""The store as a record of roles, with one consistent view for reports."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol

from crawler.stores.contract.archive import ArchiveStore
from crawler.stores.contract.changes import ChangeStore
from crawler.stores.contract.commits import CommitStore
from crawler.stores.contract.crawl import CrawlStore
from crawler.stores.contract.documents import DocumentStore
from crawler.stores.contract.focus import FocusStore
from crawler.stores.contract.frontier import FrontierStore
from crawler.stores.contract.partitions import PartitionStore
from crawler.stores.contract.similarity import SimilarityStore
from crawler.stores.contract.survey import Survey
from crawler.stores.contract.urls import UrlStore


class Store(Protocol):
    """The database of a crawl: everything but the archived bytes."""

    @property
    def partitions(self) -> PartitionStore: ...

    @property
    def urls(self) -> UrlStore: ...

    @property
    def frontier(self) -> FrontierStore: ...

    @property
    def commits(self) -> CommitStore: ...

    @property
    def similarity(self) -> SimilarityStore: ...

    @property
    def documents(self) -> DocumentStore: ...

    @property
    def changes(self) -> ChangeStore: ...

    @property
    def archive(self) -> ArchiveStore: ...

    @property
    def crawl(self) -> CrawlStore: ...

    @property
    def focus(self) -> FocusStore: ...

    def survey(self) -> AbstractContextManager[Survey]:
        """Open a consistent view: all reads from this store inside the block see one moment; no writer has to wait."""

    def close(self) -> None:
        """Close the store; no other method may be called afterwards."""
