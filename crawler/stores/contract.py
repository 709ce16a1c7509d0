"""What a store promises, whatever its engine.

Every method is one transaction unless it says otherwise, and what it returns is durable. A store object belongs to one thread. All methods may
raise `StoreUnreachable` or `DiskTrouble`; nothing is changed then.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol

from msgspec import Struct

from crawler.frontier.frontier import HostLoad
from crawler.frontier.next_state import NextState
from crawler.frontier.politeness import HostClock
from crawler.frontier.priority import Draw, most_important
from crawler.frontier.trust import Source, Trust
from crawler.items import (
    Key,
    Kind,
    Link,
    ListedUrl,
    Reason,
    Refusal,
    RobotsFile,
    State,
    Tier,
    Validators,
    Visit,
    Visited,
)
from crawler.stores.survey import Survey

Judge = Callable[[str, int], Refusal | None]  # why a URL so many links from a seed must not be visited


@dataclass(frozen=True, slots=True, kw_only=True)
class NewUrl:
    """A URL that may not be known yet."""

    key: Key
    url: str
    reason: Reason  # how it was found
    refused: Refusal | None = None  # why it must not be visited; it is parked then
    kind: Kind = Kind.PAGE
    depth: int = 0
    hint: float | None = None  # how important somebody says it is, from 0 to 1
    hops: int = 0
    via: Key | None = None


class ArchivePosition(Struct, frozen=True, kw_only=True):
    """Where a visit's records lie in the archive."""

    segment: str  # file name
    offset: int  # of the response record
    length: int  # of the response record, compressed


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentState:
    """How far an archive file is good."""

    name: str
    slot: int
    length: int
    records: int
    closed: bool


class VisitResult(Struct, frozen=True, kw_only=True):
    """A visit's result, ready to be committed."""

    visited: Visited
    next_state: NextState
    clocks: Mapping[int, HostClock]  # of the hosts whose clock the visit moved
    position: ArchivePosition | None = None  # None = nothing was archived
    gates: Mapping[str, tuple[float, float]] = {}  # groups: not before, rest
    is_revisit: bool = False  # only the head was archived: the body is in the record of another document
    compared: Mapping[int, float] = {}  # pages whose texts were compared with it: how similar
    comparisons: int = 0  # times that it was held back for that


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarPage:
    """A page that may be almost the same as another: its texts must tell."""

    id: int  # as in urls
    document: DocumentRow
    template: bytes  # of its host


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateJob:
    """Pages of a host from which its template is to be learned, or out of whose sketches it is to be taken."""

    host: int
    template: bytes | None  # None = to be learned from these pages
    pages: Sequence[tuple[int, DocumentRow]]  # with their numbers in urls


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateResult:
    """What came of it."""

    host: int
    template: bytes  # empty = its pages have nothing in common, or could not be read; nothing is kept then
    mark: int  # fingerprint of that
    sketches: Mapping[int, tuple[int, bytes]]  # by number in urls: document, sketch; an empty one could not be made


@dataclass(frozen=True, slots=True, kw_only=True)
class UndecidedPage:
    """A page whose new sketch leaves in doubt what it is a duplicate of."""

    id: int  # as in urls
    document: DocumentRow
    template: bytes  # of its host
    doubts: Sequence[SimilarPage]


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivedBody:
    """Where and when an archived body was fetched."""

    url: str
    started: float
    payload_digest: bytes = b""


class Committed(Struct, frozen=True, kw_only=True):
    """What a batch changed."""

    new_urls: int
    duplicates: int = 0
    near_duplicates: int = 0  # of these
    bytes_archived: int = 0
    lessons: Collection[int] = ()  # hosts for which there is a `TemplateJob`
    hosts_with_new: Collection[int]  # hosts that have URLs to visit which they did not have before


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovery:
    """What a dead worker left behind."""

    returned: int  # leased URLs that wait again
    quarantined: int  # URLs that were being visited alone


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerStatus:
    """One crawl process, as it tells the others."""

    slot: int
    owner: str
    pid: int = 0
    since: float = 0.0
    lease_end: float = 0.0
    visits: int = 0  # since then
    pages: int = 0
    new_urls: int = 0
    late: int = 0  # visits whose commit was refused
    rate: float = 0.0  # visits a second, lately
    store_share: float = 0.0  # of the time, lately, in which its thread for the store worked
    limited_by: str = ""  # what keeps it from being faster
    partitions: int = 0  # that it has
    expected: int = 1  # so many workers there will be at least


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """What a worker has."""

    partitions: Mapping[int, int]  # with their epochs
    workers: int  # that are alive, this one included
    share: int  # partitions that each may have
    pages_of_others: int = 0  # that the other living workers have fetched
    returned: int = 0  # URLs that a worker which is not heard of had leased, and that wait again
    quarantined: int = 0
    wanted: Sequence[str] = ()  # addresses that others have need of
    gates: Mapping[str, float] = field(default_factory=dict)  # groups of hosts, and when each may be visited again


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantedLeases:
    """The answer to a wish to visit."""

    granted: Sequence[Visit]
    held_until: Mapping[int, float]  # hosts that have had their visits of today, until when


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeReview:
    """What a change of the scope changed."""

    opened: int  # URLs that were parked and wait now
    closed: int  # URLs that waited for a first visit and are parked now


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """What is left to do, over all workers."""

    leased: int
    next_due: float | None  # when the next URL may be visited or let in, as far as due times, holds and budgets say


@dataclass(frozen=True, slots=True, kw_only=True)
class UrlRow:
    """All that is known of one URL."""

    key: Key
    url: str
    state: State
    reason: Reason
    kind: Kind
    level: int
    due: float
    depth: int
    hops: int
    tries: int
    crashes: int
    via: str | None
    found: float
    visits: int
    changes: int
    inlinks: int
    hint: float | None
    visited: float | None
    last_reason: Reason | None
    status: int | None
    detail: str
    missing: int
    validators: Validators
    lister: str | None  # the sitemap or feed that lists it
    lastmod: float | None  # when it changed, says that
    interval: float | None  # between two changes, says that


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedAnnouncement:
    """What a feed said of a URL."""

    feed: str
    title: str
    summary: str
    dated: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class HostRow:
    """All that is known of one host."""

    host: int
    name: str
    partition: int
    clock: HostClock
    address: str
    known: int
    visits: int
    pages: int
    failures: int
    bytes: int
    admitted: int
    excess: int
    admitted_today: int
    visits_today: int
    soft404: bool | None  # whether it shows pages for what it does not have; None = nobody has asked


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteRow:
    """What is known of a registered domain, or of a host without one, today."""

    name: str
    seeded: bool
    endorsers: int  # other sites that link to it
    admitted: int  # URLs that its budget let in
    excess: int  # and those that it did not
    admitted_today: int
    visits_today: int


class DocumentRow(Struct, frozen=True, kw_only=True):
    """One archived answer."""

    id: int
    key: Key
    url: str
    fetched: float
    position: ArchivePosition
    status: int
    reason: Reason
    content_type: str
    encoding: str
    title: str
    language: str
    body_digest: bytes
    text_digest: bytes
    body_bytes: int
    body_of: int | None
    duplicate_of: int | None
    format: str
    encoding_source: str
    problem: str
    published: float | None
    metadata: Mapping[str, str]
    similarity: float | None  # to what it is a duplicate of
    tier: Tier | None  # how that is known
    weights: bytes  # of the pieces of its text, as in `Page`


class PublishedChange(Struct, frozen=True, kw_only=True):
    """The last that the change feed says of a URL."""

    version: int
    key: Key
    url: str
    document: DocumentRow | None  # None = deleted
    duplicate_of: str | None  # URL of the document that had this content first
    seen: float  # when it was last found to be so
    is_new: bool  # it says, or is a copy of, something else than before; else only when it was fetched, and anchors, are new
    reason: Reason | None  # why it was deleted, where that is known
    detail: str  # and where it has moved


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlAccount:
    """known = waiting + leased + parked, at every moment."""

    known: int
    waiting: int
    leased: int
    parked: int
    hosts: int
    documents: int
    pages: int  # whole documents that are pages
    collisions: int  # URLs that are not known, because another has their key
    by_reason: Sequence[tuple[State, Reason, int]]
    next_due: float | None


class LateCommit(Exception):
    """Some visits of a batch were leased under an epoch that is over; the batch was not committed."""

    def __init__(self, keys: Collection[Key]) -> None:
        super().__init__(f"{len(keys)} visits were taken over by another worker")
        self.keys = keys


class Store(Protocol):
    """Everything a crawl knows, but for the archived bytes."""

    # ── partitions: who may visit which hosts ──

    def recover(self, slots: Collection[int], now: float, full_rest: Callable[[str, HostClock], HostClock]) -> Recovery:
        """Return what workers of these slots, which are dead, had leased; their partitions become free.

        Hosts that were being asked get the clock that `full_rest` makes of theirs.
        """

    def keep(
        self,
        worker: WorkerStatus,
        now: float,
        lease: float,
        longest_request: float,
        full_rest: Callable[[str, HostClock], HostClock],
    ) -> Assignment:
        """Extend this worker's lease, and give it partitions up to its share.

        Those are taken that are free, or whose lease ended longer than a longest request ago; what their owner had leased
        waits again, as in `recover`.
        """

    def release(self, owner: str, partitions: Collection[int]) -> None:
        """Give partitions back, but for those of which something is leased."""

    def leave(self, owner: str) -> None:
        """Give all partitions back; the worker ends."""

    def workers(self) -> list[WorkerStatus]:
        """All that have not left, also if they are dead."""

    def regroup(self) -> None:
        """Groups of hosts that count as one have changed. No worker is there."""

    def claim(self, owner: str, hosts: Sequence[tuple[int, str]]) -> set[int]:
        """Those of the hosts, each with its server's address, that this owner may visit.

        A host whose server belongs to another partition moves there, unless it is in a group: then the server is asked for.
        """

    def hand_over(self, owner: str, addresses: Sequence[str]) -> None:
        """Give servers that this owner visits no more to the partitions that have asked for them."""

    def note_errands(self, errands: Sequence[Visit]) -> None:
        """A robots.txt lies on another host than its origin's: to be fetched by whoever may ask that one."""

    def errands(self, owner: str, now: float) -> list[Visit]:
        """What was noted and not done, for this owner's hosts; the origins of what cannot be done now are held until it can."""

    # ── the frontier ──

    def add(self, urls: Iterable[NewUrl], now: float) -> int:
        """Make URLs known; the number of those that were new. What is known already is left as it is."""

    def add_seeds(self, urls: Iterable[NewUrl], now: float, *, urgent: bool = False) -> int:
        """Like `add`, and remember them as seeds; a seed that a scope had parked waits again.

        Urgent ones are visited before all others of their hosts, and their hosts before all others; those that were
        visited before are visited again."""

    def reconsider(self, judge: Judge, now: float, site: str | None = None) -> ScopeReview:
        """Judge again what was parked by a scope or found and never visited: of one site (a host and those below), or all.

        In several transactions; who is interrupted does it again.
        """

    def collision(self, key: Key) -> list[str]:
        """URLs that could not be kept, because another URL has this key."""

    def facts(self) -> Mapping[str, str]:
        """What `note_facts` has noted."""

    def note_facts(self, facts: Mapping[str, str]) -> None:
        """Keep what must be remembered of the crawl as a whole."""

    def seeds(self, after: int = 0) -> Iterator[tuple[int, str]]:
        """(serial number, URL) of the seeds added after a serial number."""

    def activate(
        self, owner: str, now: float, hosts: int, urls: int, exclude: Collection[int], draw: Draw = most_important
    ) -> list[HostLoad]:
        """Up to `hosts` hosts of this owner with URLs that are due, each with some URLs.

        Each is the one that has waited longest in the level that is drawn. What budgets had parked and now allow is let
        in before, in a transaction of its own.
        """

    def urgent(self, hosts: Collection[int], now: float) -> list[int]:
        """Those of the hosts that have URLs which were put before all others since the last call."""

    def review_budgets(self, now: float) -> None:
        """Budgets have changed: look at once at what they had parked, and at hosts that had their visits of the day."""

    def next_due(self, now: float) -> float:
        """When the next host becomes due that is not due now, or a budget is reviewed; infinite if there is no such time."""

    def send_back(self, hosts: Sequence[int], now: float) -> None:
        """Let hosts that had their turn wait behind all that are due now."""

    def load_host(self, owner: str, host: int, name: str, now: float, urls: int) -> HostLoad | None:
        """One host, made known if it was not; None if it is not this owner's."""

    def load(self, host: int, now: float, urls: int) -> list[Visit]:
        """The next URLs of a host that are due, the most important first."""

    def load_all(self, hosts: Sequence[int], now: float, urls: int) -> list[tuple[int, list[Visit]]]:
        """The same for several hosts."""

    def lease(self, owner: str, visits: Sequence[Visit], now: float) -> GrantedLeases:
        """Mark as leased those that still wait (a robots.txt is made known if it was not) and that budgets allow."""

    def unlease(self, visits: Sequence[Visit], now: float) -> None:
        """Undo leases that were not used."""

    def postpone(self, visits: Sequence[tuple[Visit, float]], reason: Reason) -> None:
        """Let waiting URLs wait until a time."""

    def gates(self) -> dict[str, float]:
        """Groups of hosts that count as one, and the time before which each rests."""

    def hold(self, hosts: Sequence[tuple[int, float]]) -> None:
        """Let hosts wait until a time."""

    def commit(self, batch: Sequence[VisitResult], segments: Sequence[SegmentState], now: float) -> Committed:
        """Acknowledge visits: all of this batch in one transaction, or `LateCommit`."""

    def doubts(self, batch: Sequence[VisitResult]) -> Mapping[Key, Sequence[SimilarPage]]:
        """Visits of a batch that may be near-duplicates of pages with which they must be compared before they are committed.

        None to compare with means that the other is in the batch itself, and must be committed first.
        """

    def lessons(self, owner: str) -> list[int]:
        """This owner's hosts for which there is a `TemplateJob`."""

    def lesson(self, host: int) -> TemplateJob | None:
        """The next one of a host; None if there is nothing more to learn, which is noted."""

    def learn(self, learned: TemplateResult, now: float) -> Sequence[UndecidedPage]:
        """Keep a template, and sketches without it, with what follows for what is a duplicate of what.

        Pages that must be compared with others first are returned, and are offered again as a `TemplateJob` until that is done.
        """

    def decide(self, unsure: UndecidedPage, compared: Mapping[int, float], now: float) -> None:
        """What a page is a duplicate of, now that it was compared."""

    def rebuild_index(self) -> int:
        """Near-duplicates are found by another threshold than before: so many pages were entered anew. No worker is there."""

    def forget_sketches(self) -> None:
        """Pages are sketched otherwise than before, so that what there is cannot be compared with what comes."""

    def known_bodies(self, digests: Collection[bytes]) -> set[bytes]:
        """Those digests of bodies that an archived page has."""

    def archived_body(self, payload_digest: bytes, body_digest: bytes) -> ArchivedBody | None:
        """Where a page's body is archived, byte for byte as on the wire."""

    def held_body(self, key: Key) -> ArchivedBody | None:
        """The last document of a URL whose body is archived, with that URL or another."""

    def add_links(self, visit: Visit, links: Sequence[Link], now: float) -> Committed:
        """Links of a visit that has very many, ahead of its commit."""

    def add_listed(self, visit: Visit, listed: Sequence[ListedUrl], now: float) -> Committed:
        """What a sitemap lists, if it is very much, ahead of its visit's commit."""

    def outlook(self) -> Outlook:
        """Whether the crawl is over."""

    def believe_no_later_than(self, latest: float) -> None:
        """Hosts and origins that wait for a later time wait only until then: a clock was wrong."""

    def last_commit(self) -> float | None:
        """When a visit was last acknowledged."""

    # ── the archive's files ──

    def segments(self, slot: int | None = None) -> list[SegmentState]:
        """All archive files, or those of one slot."""

    def close_segment(self, name: str) -> None:
        """A file has its final name."""

    # ── reading ──

    def find_url(self, key: Key) -> UrlRow | None: ...

    def find_host(self, host: int, now: float) -> HostRow | None: ...

    def trust(self, host: int) -> Mapping[Source, Trust]:
        """How far what a host says of its pages can be believed."""

    def announcements(self, key: Key) -> list[FeedAnnouncement]:
        """What feeds have said of a URL, the last first."""

    def find_site(self, host: int, now: float) -> SiteRow | None:
        """The site of a host."""

    def find_rules(self, origin: str) -> RobotsFile | None: ...

    def documents(self, key: Key) -> list[DocumentRow]:
        """The versions of a URL, newest first."""

    def find_document(self, document: int) -> DocumentRow | None: ...

    def sketches(self) -> Iterator[Sequence[tuple[int, int, bytes]]]:
        """(number in urls, document, sketch) of all pages that can be compared, by number, in blocks.

        Each block is of the moment when it is read: this may take long, and must hold up no crawl.
        """

    def count_sketches(self) -> int:
        """How many pages `sketches` will give, if none comes or goes."""

    def sketched(self, number: int) -> SimilarPage | None:
        """A page that has a sketch, by its number in urls, with what its texts are compared by; None if it has none now."""

    def template(self, host: int) -> bytes:
        """What most pages of a host have in common, as sketches are made without it; empty if nothing is known."""

    def duplicates(self, key: Key) -> list[str]:
        """URLs whose pages are duplicates of what a URL has, in order."""

    def copies(self, body_digest: bytes, text_digest: bytes, most: int) -> list[DocumentRow]:
        """Up to so many pages, as their URLs show them now, with these bytes or these words; nothing has no copies."""

    def anchors(self, key: Key) -> list[tuple[str, str]]:
        """(name of the linking host, text) of the links that lead to a URL from other hosts."""

    def changes(self, after: int = 0) -> Iterator[tuple[str, str]]:
        """(what, URL) of the change feed after a version, in order."""

    def version(self) -> int:
        """Of the newest change; 0 before the first."""

    def published(
        self, after: int = 0, until: int | None = None, most: int | None = None, told: int | None = None
    ) -> Iterator[PublishedChange]:
        """What now holds of each URL that changed after a version, in the order of the versions.

        Up to a version: what held then; and so many at most. Whoever asks was `told` all up to a version, or up to the one
        after which he asks.

        As of the moment when reading begins, however long it takes: what is read from this store in between, such as
        anchors, is of that moment too.
        """

    def announce(self) -> int:
        """Have the change feed tell of pages that others call something new; of how many it does."""

    def has_to_announce(self) -> bool:
        """Whether there is something to `announce`."""

    def mark_of(self, version: int) -> str:
        """What tells a version of the feed from one by the same number in a store that was set back; empty if there is none."""

    def note_run(self, summary: Mapping[str, Any], now: float) -> None:
        """What a crawl that has ended says of itself."""

    def runs(self) -> list[Mapping[str, Any]]:
        """The same of all that have, in order, each with the time when it `ended`."""

    def survey(self) -> AbstractContextManager[Survey]:
        """Whoever reads from this store in between, in whatever way, reads of one moment; no other process has to wait."""

    def account(self) -> CrawlAccount:
        """The crawl in numbers."""

    def count_urls(self) -> int:
        """How many are known."""

    def size(self) -> int:
        """Bytes on the disk."""

    def check(self) -> str | None:
        """What is wrong with the file, or None."""

    def close(self) -> None: ...
