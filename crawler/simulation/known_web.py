"""The web that a crawl knows: the pages that it has fetched, with the links between them, to be crawled once more.

What was found and never fetched does not exist in it: nobody knows what is there.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from crawler.collection.archive_reader import read_outlinks
from crawler.errors import DiskTrouble
from crawler.items import CrawlLimits, Fetched, Key, Kind, Link, Outcome, Page, Reason, RobotsFile, Visit, Visited
from crawler.stores.contract.documents import DocumentRow
from crawler.stores.contract.store import Store
from crawler.urls.hosts import host_of
from crawler.urls.keys import link_fingerprint

MOST_PAGES: Final = 100_000  # that are read, the first ones that were fetched
_READ_AT_ONCE: Final = 1_000  # documents
_LEAST_LATENCY: Final = 0.01  # seconds of an answer
_FOREVER: Final = 1e12
_JUDGED: Final = frozenset({Reason.OK, Reason.OFF_TOPIC})
_HEAD: Final = b"HTTP/1.1 %d Whatever\r\nContent-Type: text/html\r\n\r\n"

ShowShare = Callable[[int, int], None]  # pages that were read, of how many


@dataclass(slots=True)
class KnownPage:
    """A page that was fetched, as it was when it was fetched last."""

    key: Key
    url: str
    document: int  # number of its newest version
    is_on_topic: bool | None  # None if it was not judged
    links: array[int] = field(default_factory=lambda: array("I"))  # numbers of pages
    moved_to: int | None = None  # number of the page to which it redirects


@dataclass(frozen=True, slots=True)
class KnownHost:
    """How a host answers."""

    latency: float
    crawl_limits: CrawlLimits


class KnownWeb:
    """Answers simulated visits with the pages that a crawl has fetched; pages are numbered by their first visits."""

    def __init__(self) -> None:
        self.pages: list[KnownPage] = []
        self.hosts: dict[str, KnownHost] = {}
        self.seeds: list[str] = []
        self.unread = 0  # pages whose links could not be read
        self.fetched: list[int] = []  # pages in the order of their first visits in the simulation
        self._numbers: dict[str, int] = {}

    @classmethod
    def read(cls, store: Store, directory: Path, show: ShowShare = lambda done, of: None) -> KnownWeb:
        """Read pages and links of a crawl from its store and its archive: 10,000 pages take about a second."""
        web = cls()
        for document in _documents(store):
            web._add(store, document)
        done = 0
        for document in _documents(store):
            number = web._numbers.get(document.url)
            if number is not None and web.pages[number].document == document.id:
                web._read_links(store, directory, document, web.pages[number])
                done += 1
                show(done, len(web.pages))
        web.seeds = [url for _, url in store.urls.seeds() if url in web._numbers]
        return web

    def _add(self, store: Store, document: DocumentRow) -> None:
        """Add a page, or a further version of it."""
        number, is_on_topic = self._numbers.get(document.url), _is_on_topic(document)
        if number is not None:
            self.pages[number].document, self.pages[number].is_on_topic = document.id, is_on_topic
        elif len(self.pages) < MOST_PAGES:
            self._numbers[document.url] = len(self.pages)
            self.pages.append(KnownPage(document.key, document.url, document.id, is_on_topic))
            name = host_of(document.url)
            if name not in self.hosts:
                self.hosts[name] = _host(store, document.key.host)

    def _read_links(self, store: Store, directory: Path, document: DocumentRow, page: KnownPage) -> None:
        numbers = self._numbers
        if document.reason is Reason.REDIRECTED:
            row = store.urls.find(document.key)
            page.moved_to = numbers.get(row.detail) if row is not None else None
            return
        try:
            links = read_outlinks(store, directory, document)
        except DiskTrouble:
            self.unread += 1
        else:
            page.links.extend(dict.fromkeys(numbers[url] for url in links if url in numbers))

    def address_of(self, name: str) -> str:
        return f"address of {name}"

    def respond(self, visit: Visit, started: float) -> Visited:
        """Return the result of a visit that starts at a time."""
        host = self.hosts[host_of(visit.url)]
        if visit.kind is Kind.ROBOTS:
            return _robots(visit, _answer(visit, host, started, 404), host)
        number = self._numbers[visit.url]
        page = self.pages[number]
        self.fetched.append(number)
        if page.moved_to is not None:
            return Visited(
                visit=visit,
                outcome=Outcome.REDIRECTED,
                reason=Reason.REDIRECTED,
                fetched=_answer(visit, host, started, 301),
                location=self._link(page.moved_to)._replace(mark=0),
            )
        found = Page(content_type="text/html", links=[self._link(target) for target in page.links])
        return Visited(
            visit=visit,
            outcome=Outcome.FETCHED,
            reason=Reason.OK,
            fetched=_answer(visit, host, started, 200),
            page=found,
        )

    def _link(self, number: int) -> Link:
        page = self.pages[number]
        return Link(page.key, page.url, "", None, link_fingerprint(page.url, ""))


def _documents(store: Store) -> Iterator[DocumentRow]:
    """Yield all versions of all pages, in the order of fetching."""
    after = 0
    while documents := store.documents.of_pages(after, _READ_AT_ONCE):
        yield from documents
        after = documents[-1].id


def _is_on_topic(document: DocumentRow) -> bool | None:
    if document.relevance is None or document.reason not in _JUDGED:
        return None
    return document.reason is Reason.OK


def _host(store: Store, key: int) -> KnownHost:
    row = store.urls.find_host(key, 0.0)
    if row is None:
        return KnownHost(_LEAST_LATENCY, CrawlLimits())
    return KnownHost(max(row.clock.latency, _LEAST_LATENCY), row.clock.crawl_limits)


def _answer(visit: Visit, host: KnownHost, started: float, status: int) -> Fetched:
    return Fetched(
        url=visit.url,
        reason=Reason.OK,
        started=started,
        ended=started + host.latency,
        request=b"GET / HTTP/1.1\r\n\r\n",
        status=status,
        head=_HEAD % status,
        address=f"address of {host_of(visit.url)}",
    )


def _robots(visit: Visit, fetched: Fetched, host: KnownHost) -> Visited:
    rules = RobotsFile(
        host=visit.key.host,
        origin=visit.origin,
        status=404,
        body=None,
        fetched=fetched.ended,
        expires=_FOREVER,
        crawl_limits=host.crawl_limits,
    )
    return Visited(visit=visit, outcome=Outcome.FETCHED, reason=Reason.OK, fetched=fetched, rules=rules)
