"""URLs that the visits of a batch found are inserted before its commit, if they are too many for one transaction.

The keys of new links are spread over all tables, and the transaction of a few pages with thousands of links would
change most pages of the database. So the links of the whole batch are sorted by host, and inserted in slices that
change each page of the database about once; a slice is small enough for the write-ahead log. In-links are counted
with them, except those from pages that seem to be copies: that is left to the commit, which decides it. With
`ORDER=fifo` the links keep the order in which they were found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TypeVar

import apsw
from msgspec.structs import replace

from crawler.items import Key, Link, ListedUrl, Visited
from crawler.stores.contract.commits import EarlyUrls, VisitResult
from crawler.stores.sqlite.database import Database
from crawler.stores.sqlite.found_urls import link_rows
from crawler.stores.sqlite.inlinks import InlinkWriter
from crawler.stores.sqlite.ledger import HostLedger
from crawler.stores.sqlite.listed_urls import ListedUrlWriter
from crawler.stores.sqlite.new_urls import FIFO_STEP, InsertedUrls, NewUrlRow, insert_urls, url_id
from crawler.stores.sqlite.similarity import SqliteSimilarity
from crawler.stores.sqlite.url_placer import UrlPlacer

_Entry = TypeVar("_Entry", Link, ListedUrl)


def insert_early(
    database: Database, similarity: SqliteSimilarity, batch: Sequence[VisitResult], most: int, now: float
) -> EarlyUrls:
    """Implements `crawler.stores.contract.commits.CommitStore.insert_early`."""
    listed = [(number, entry) for number, result in enumerate(batch) for entry in _listed(result)]
    links = [(number, link) for number, result in enumerate(batch) for link in _unseen_links(database, result)]
    if len(links) + len(listed) <= most:
        return EarlyUrls(batch=batch)
    copies = similarity.likely_copies(batch)
    return _EarlyWriter(database, batch, copies, now).insert(links, listed, most, follow_copies=similarity.rule.links)


def _listed(result: VisitResult) -> Sequence[ListedUrl]:
    page = result.visited.page
    return page.listed if page is not None else ()


def _unseen_links(database: Database, result: VisitResult) -> Sequence[Link]:
    page, host = result.visited.page, result.visited.visit.key.host
    return database.seen_cache.drop_seen_links(host, page.links) if page is not None else ()


class _EarlyWriter:
    def __init__(self, database: Database, batch: Sequence[VisitResult], copies: set[Key], now: float) -> None:
        self._database = database
        self._batch = batch
        self._now = now
        self._copies = {number for number, result in enumerate(batch) if result.visited.visit.key in copies}
        with database.errors():
            connection = database.connection
            self._ids = [url_id(connection, result.visited.visit.key) for result in batch]
        # URLs that the commit inserts for a better reason than a link: targets of redirects, sitemaps and feeds.
        self._left = {link.key for result in batch for link in _named_otherwise(result.visited)}
        focus = database.focus if database.seen_cache.is_focused else None
        self._placer = UrlPlacer(focus, database.seen_cache, batch, self._left) if focus is not None else None
        self._new: Counter[int | None] = Counter()  # by the number of the URL on whose page they were found
        self._hosts: set[int] = set()

    def insert(
        self, links: list[tuple[int, Link]], listed: list[tuple[int, ListedUrl]], most: int, *, follow_copies: bool
    ) -> EarlyUrls:
        if not follow_copies:
            links = [entry for entry in links if entry[0] not in self._copies]
        if self._left:
            links = [entry for entry in links if entry[1].key not in self._left]
        if not self._database.seen_cache.is_fifo:
            links.sort(key=_host_of_link)
        for start in range(0, len(links), most):
            self._insert_links(links[start : start + most], self._now + start * FIFO_STEP)
        for start in range(0, len(listed), most):
            self._insert_listed(listed[start : start + most], self._now + (len(links) + start) * FIFO_STEP)
        self._raise_waiting(most)
        return EarlyUrls(
            batch=[self._without_inserted(number, result) for number, result in enumerate(self._batch)],
            new_links={
                result.visited.visit.key: self._new[number]
                for number, result in zip(self._ids, self._batch, strict=True)
                if self._new[number]
            },
            hosts_with_new=self._hosts,
        )

    def _insert_links(self, links: Sequence[tuple[int, Link]], now: float) -> None:
        seen_cache = self._database.seen_cache
        with self._database.changing(now) as (connection, ledger):
            rows: list[NewUrlRow] = []
            counted: list[tuple[int, list[Link]]] = []
            for number, found in _by_visit(links):
                visit, is_copy = self._batch[number].visited.visit, number in self._copies
                rows += link_rows(
                    connection, self._ids[number], visit, found, seen_cache, now, counts_inlinks=not is_copy
                )
                if not is_copy:
                    counted.append((visit.key.host, found))
            inserted = self._insert_rows(connection, ledger, rows)
            inlinks = InlinkWriter(connection, seen_cache, ledger, inserted.new, now)
            for host, found in counted:
                inlinks.add(host, found)
            inlinks.write()
        self._count(inserted)

    def _insert_listed(self, listed: Sequence[tuple[int, ListedUrl]], now: float) -> None:
        seen_cache = self._database.seen_cache
        with self._database.changing(now) as (connection, ledger):
            lists = ListedUrlWriter(connection, seen_cache, ledger, now)
            rows: list[NewUrlRow] = []
            for number, entries in _by_visit(listed):
                visited = self._batch[number].visited
                assert visited.page is not None, "it lists something"
                rows += lists.listed_rows(self._ids[number], visited.visit, visited.page.kind, entries)
            inserted = self._insert_rows(connection, ledger, rows)
            self._hosts |= lists.write()
        self._count(inserted)

    def _raise_waiting(self, most: int) -> None:
        """Move URLs of a focused crawl that waited already, if these links are better than those before."""
        placer = self._placer
        while placer is not None and placer.worths:
            with self._database.changing(self._now) as (connection, ledger):
                placer.raise_waiting(connection, ledger, most)

    def _insert_rows(self, connection: apsw.Connection, ledger: HostLedger, rows: Sequence[NewUrlRow]) -> InsertedUrls:
        inserted = insert_urls(connection, self._database.seen_cache, ledger, rows, self._placer)
        if self._placer is not None:
            self._placer.write_new(connection, ledger, inserted)
        return inserted

    def _count(self, inserted: InsertedUrls) -> None:
        self._new.update(row.via for row in inserted.new.values())
        self._hosts |= inserted.hosts

    def _without_inserted(self, number: int, result: VisitResult) -> VisitResult:
        """Drop what was inserted. The links of a page that seems to be a copy stay, for the case that it is none."""
        page = result.visited.page
        if page is None:
            return result
        if number in self._copies:
            page = replace(page, listed=())
        else:
            links = [link for link in page.links if link.key in self._left]
            page = replace(page, links=links, listed=(), link_scores=b"", link_evidence=b"")
        return replace(result, visited=replace(result.visited, page=page))


def _named_otherwise(visited: Visited) -> Iterator[Link]:
    if visited.location is not None:
        yield visited.location
    yield from visited.sitemaps
    if visited.page is not None:
        yield from visited.page.sitemaps
        yield from visited.page.feeds


def _host_of_link(entry: tuple[int, Link]) -> int:
    return entry[1][0][0]


def _by_visit(entries: Sequence[tuple[int, _Entry]]) -> Iterator[tuple[int, list[_Entry]]]:
    """Group a slice by the number of the visit that found each entry, in the order of the visits."""
    grouped: dict[int, list[_Entry]] = {}
    for number, entry in entries:
        grouped.setdefault(number, []).append(entry)
    for number in sorted(grouped):
        yield number, grouped[number]
