"""Acknowledge a batch of visits: archive, make durable, then one transaction.

A visit is acknowledged when its records are on the disk and the transaction that names them is committed. In this order
a kill at any moment leaves either a visit that never happened, or one that is whole.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from crawler.archive.records import NOT_MODIFIED, revisit_record
from crawler.archive.segments import SegmentWriter
from crawler.collection.archive_reader import read_archived
from crawler.content.answers import ArchivedAnswer
from crawler.errors import DiskTrouble
from crawler.items import Key, Kind, Link, ListedUrl, Outcome, Reason, Visited, WarcRecord
from crawler.stores.contract.archive import ArchivedBody, ArchivePosition, SegmentState
from crawler.stores.contract.commits import CommitSummary, LateCommit, VisitResult
from crawler.stores.contract.documents import DocumentRow
from crawler.stores.contract.similarity import SimilarPage
from crawler.stores.contract.store import Store
from crawler.stores.contract.urls import Judge

logger = logging.getLogger(__name__)

LINKS_A_VISIT = 2_000  # a visit with more brings the rest in transactions of its own, ahead of its own
STEPS = (
    "before append",
    "after append",
    "after fsync",
    "before commit",
    "after commit",
    "before rotation",
    "before rename",
    "after rename",
    "after rotation",
)


_ANSWERS = ("response", "revisit")


class SimilarArchivedPage(NamedTuple):
    """An archived page that another may be almost the same as."""

    id: int  # as in urls
    answer: ArchivedAnswer
    template: bytes  # of its host


class CommitAnswer(NamedTuple):
    """What became of a batch: each visit is committed, late or undecided."""

    committed: CommitSummary
    late: Collection[Key] = ()  # visits that another worker has taken over, which are discarded
    undecided: Mapping[Key, Sequence[SimilarArchivedPage]] = {}  # visits to be compared with these pages first


class Committer:
    """Lives in the thread that owns the store."""

    def __init__(
        self, store: Store, archive: SegmentWriter, now: Callable[[], float], step: Callable[[str], None]
    ) -> None:
        self.store = store
        self.archive = archive
        self._now = now
        self._step = step
        self._judge: Judge | None = None
        self._judged_until = 0.0

    def judge_again(self, judge: Judge) -> None:
        """New seeds have come: the links of pages that were fetched before may have been judged without them."""
        self._judge, self._judged_until = judge, self._now()

    def commit(self, batch: Sequence[VisitResult]) -> CommitAnswer:
        """Acknowledge visits, except those that must first be compared with pages that they may be duplicates of."""
        late: set[Key] = set()
        candidates = self.store.similarity.candidates(batch)
        undecided = {key: self.read_similar(pages) for key, pages in candidates.items()}
        batch = [self._judged_again(settled) for settled in batch if settled.visited.visit.key not in undecided]
        if not batch:
            return CommitAnswer(CommitSummary(new_urls=0, hosts_with_new=()), (), undecided)
        early = [(settled.visited.visit.key, part) for settled in batch for part in self._insert_early(settled)]
        batch = [_first_listed(settled) for settled in batch]
        while True:
            ours = [settled for settled in batch if settled.visited.visit.key not in late]
            try:
                committed = self._acknowledge(ours)
            except LateCommit as error:
                self.archive.undo()
                late.update(error.keys)
            except BaseException:
                self.archive.undo()
                raise
            else:
                return CommitAnswer(_with_early_links(committed, early), late, undecided)

    def close(self) -> None:
        """End the archive file in use."""
        name = self.archive.finish()
        if name:
            self.store.archive.close_segment(name)

    def read(self, document: DocumentRow) -> ArchivedAnswer | None:
        """A document as it was archived, or nothing if the disk does not give it."""
        try:
            return read_archived(self.store, self.archive.directory, document)
        except DiskTrouble as error:
            logger.warning("%s; what it is a duplicate of is told by its sketch alone", error)
            return None

    def read_similar(self, pages: Sequence[SimilarPage]) -> list[SimilarArchivedPage]:
        """Read pages to compare with from the archive, as far as they can be read."""
        read = ((page, self.read(page.document)) for page in pages)
        return [SimilarArchivedPage(page.id, answer, page.template) for page, answer in read if answer is not None]

    def _acknowledge(self, batch: Sequence[VisitResult]) -> CommitSummary:
        before = self.archive.length
        placed = self._archive(batch)
        archived = self.archive.length - before
        self._step("before commit")
        committed = self.store.commits.commit(placed, self._segments(), self._now())
        self.archive.committed()
        self._step("after commit")
        if self.archive.is_full:
            self._step("before rotation")
            self.close()
            self._step("after rotation")
        return replace(committed, bytes_archived=archived)

    def _archive(self, batch: Sequence[VisitResult]) -> list[VisitResult]:
        """Append and sync the records of a batch; the batch, with the places of its answers."""
        if not any(settled.visited.records for settled in batch):
            return list(batch)
        self._step("before append")
        bodies = _Bodies(self.store, batch)
        placed = [self._place(settled, bodies) for settled in batch]
        self._step("after append")
        self.archive.sync()
        self._step("after fsync")
        return placed

    def _place(self, settled: VisitResult, bodies: _Bodies) -> VisitResult:
        visited = settled.visited
        records: Sequence[WarcRecord] = visited.records
        if not records:
            return settled
        original = bodies.original_of(visited)
        if original is not None:
            records = [_without_body(record, visited, original) for record in records]
        elif (
            visited.outcome is Outcome.UNCHANGED
            and (held := self.store.archive.last_body(visited.visit.key)) is not None
        ):
            records = [_not_modified(record, visited, held) for record in records]
        places = self.archive.append(records)
        offset, length = next(place for record, place in zip(records, places, strict=True) if record.type in _ANSWERS)
        place = ArchivePosition(segment=self.archive.name, offset=offset, length=length)
        return replace(settled, position=place, is_revisit=original is not None)

    def _segments(self) -> list[SegmentState]:
        archive = self.archive
        if not archive.name:
            return []
        return [
            SegmentState(
                name=archive.name, slot=archive.slot, length=archive.length, records=archive.records, closed=False
            )
        ]

    def _judged_again(self, settled: VisitResult) -> VisitResult:
        """What the old scope refused the new one may have."""
        judge, visited = self._judge, settled.visited
        if judge is None or visited.fetched is None or visited.fetched.ended > self._judged_until:
            return settled
        depth = visited.visit.depth
        if visited.page is not None and any(_is_narrow(link) for link in visited.page.links):
            links = [_judged(link, judge, depth + 1) for link in visited.page.links]
            visited = replace(visited, page=replace(visited.page, links=links))
        if visited.location is not None:
            visited = replace(visited, location=_judged(visited.location, judge, depth))
        if visited.page is not None and any(_is_narrow(entry) for entry in visited.page.listed):
            listed = [
                entry._replace(refused=judge(entry.url, depth + 1)) if _is_narrow(entry) else entry
                for entry in visited.page.listed
            ]
            visited = replace(visited, page=replace(visited.page, listed=listed))
        return replace(settled, visited=visited)

    def _insert_early(self, settled: VisitResult) -> list[CommitSummary]:
        """Insert what is too much for one transaction before it; doing it twice does no harm."""
        page, visit = settled.visited.page, settled.visited.visit
        links = page.links if page is not None else ()
        starts = range(LINKS_A_VISIT, len(links), LINKS_A_VISIT)
        found = [self.store.commits.add_links(visit, links[at : at + LINKS_A_VISIT], self._now()) for at in starts]
        listed = page.listed if page is not None else ()
        starts = range(LINKS_A_VISIT, len(listed), LINKS_A_VISIT)
        found += [self.store.commits.add_listed(visit, listed[at : at + LINKS_A_VISIT], self._now()) for at in starts]
        return found


def _first_listed(settled: VisitResult) -> VisitResult:
    """Without what was brought ahead: each entry of a list is worth a statement."""
    page = settled.visited.page
    if page is None or len(page.listed) <= LINKS_A_VISIT:
        return settled
    return replace(settled, visited=replace(settled.visited, page=replace(page, listed=page.listed[:LINKS_A_VISIT])))


def _is_narrow(link: Link | ListedUrl) -> bool:
    return link.refused is not None and link.refused.reason in (Reason.OUT_OF_SCOPE, Reason.PORT_DENIED)


def _judged(link: Link, judge: Judge, depth: int) -> Link:
    return link._replace(refused=judge(link.url, depth)) if _is_narrow(link) else link


class _Bodies:
    """Which bodies of a batch are archived already, in the store or earlier in the batch."""

    def __init__(self, store: Store, batch: Sequence[VisitResult]) -> None:
        pages = [settled.visited.page for settled in batch if settled.visited.page is not None]
        self._store = store
        self._stored = store.archive.known_bodies({page.body_digest for page in pages})
        self._here: dict[tuple[bytes, bytes], ArchivedBody] = {}

    def original_of(self, visited: Visited) -> ArchivedBody | None:
        """Where the body of a page is archived already, if it is."""
        page, fetched = visited.page, visited.fetched
        if page is None or fetched is None or visited.reason is not Reason.OK or visited.visit.kind is not Kind.PAGE:
            return None
        if visited.outcome is not Outcome.FETCHED or not fetched.body:
            return None
        digests = (page.payload_digest, page.body_digest)
        original = self._here.get(digests)
        if original is None and page.body_digest in self._stored:
            original = self._store.archive.find_body(*digests)
        if original is None:
            self._here[digests] = ArchivedBody(url=fetched.url, started=fetched.started)
        return original


def _without_body(record: WarcRecord, visited: Visited, original: ArchivedBody) -> WarcRecord:
    """A response as a revisit of the one that has the body; other records as they are."""
    if record.type != "response" or visited.fetched is None or visited.page is None:
        return record
    return revisit_record(record, visited.fetched, visited.page.payload_digest, original.url, original.started)


def _not_modified(record: WarcRecord, visited: Visited, held: ArchivedBody) -> WarcRecord:
    """A 304 as a revisit of the document that is held; other records as they are."""
    if record.type != "response" or visited.fetched is None:
        return record
    return revisit_record(record, visited.fetched, held.payload_digest, held.url, held.started, NOT_MODIFIED)


def _with_early_links(committed: CommitSummary, early: Sequence[tuple[Key, CommitSummary]]) -> CommitSummary:
    """Add the links that visits inserted ahead of their commit, in all and to each visit."""
    if not early:
        return committed
    visits = dict(committed.visits)
    for key, part in early:
        if key in visits:
            visits[key] = replace(visits[key], new_links=visits[key].new_links + part.new_urls)
    return replace(
        committed,
        new_urls=committed.new_urls + sum(part.new_urls for _, part in early),
        hosts_with_new=set(committed.hosts_with_new).union(*(part.hosts_with_new for _, part in early)),
        visits=visits,
    )
