"""Acknowledge a batch of visits: archive, make durable, then one transaction.

A visit is acknowledged when its records are on the disk and the transaction that names them is committed. In this order
a kill at any moment leaves either a visit that is whole, or one that never happened; only URLs that it has found may be
known already, because very many are inserted before.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from crawler.archive.records import NOT_MODIFIED, revisit_record
from crawler.archive.segments import SegmentWriter
from crawler.collection.archive_reader import read_archived
from crawler.collection.change_feed import stored_pages
from crawler.content.answers import ArchivedAnswer
from crawler.errors import DiskTrouble
from crawler.items import ExportedDocument, Key, Kind, Link, ListedUrl, Outcome, Reason, Visited, WarcRecord
from crawler.stores.contract.archive import ArchivedBody, ArchivePosition, SegmentState
from crawler.stores.contract.commits import CommitSummary, EarlyUrls, LateCommit, VisitResult
from crawler.stores.contract.documents import DocumentRow
from crawler.stores.contract.similarity import SimilarPage
from crawler.stores.contract.store import Store
from crawler.stores.contract.urls import Judge

logger = logging.getLogger(__name__)

# URLs that one transaction of each worker may insert, together: each may change three pages of the store, and its log
# has to hold them.
URLS_OF_TRANSACTIONS = 2_000
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
_FACTS = ("metadata",)  # all that is kept of a page that is off topic, with FOCUS_ARCHIVE=kept


class SimilarArchivedPage(NamedTuple):
    """An archived page of which another may be a near-duplicate."""

    id: int  # of its URL
    answer: ArchivedAnswer
    template: bytes  # of its host: shingles that do not count


class CommitAnswer(NamedTuple):
    """The result of a commit: each visit of the batch is committed, late or undecided."""

    committed: CommitSummary
    late: Collection[Key] = ()  # visits that another worker has taken over, which are discarded
    undecided: Mapping[Key, Sequence[SimilarArchivedPage]] = {}  # visits to be compared with these pages first
    pages: Mapping[Key, ExportedDocument] = {}  # the pages that were asked for, as they are stored now


class Committer:
    """Commits batches of visits. Used only in the thread that owns the store."""

    def __init__(
        self,
        store: Store,
        archive: SegmentWriter,
        now: Callable[[], float],
        step: Callable[[str], None],
        workers: Callable[[], int] = lambda: 1,
    ) -> None:
        self.store = store
        self.archive = archive
        self._now = now
        self._step = step
        self._workers = workers  # how many share the store
        self._judge: Judge | None = None
        self._judged_until = 0.0

    def judge_again(self, judge: Judge) -> None:
        """Judge the links of pages that were fetched until now again, because new seeds have extended the scope."""
        self._judge, self._judged_until = judge, self._now()

    def commit(self, batch: Sequence[VisitResult], wanted: Collection[Key] = ()) -> CommitAnswer:
        """Commit visits, except those that must first be compared with pages of which they may be duplicates.

        The pages of `wanted` visits are returned.
        """
        late: set[Key] = set()
        candidates = self.store.similarity.candidates(batch)
        undecided = {key: self.read_similar(pages) for key, pages in candidates.items()}
        batch = [self._judge_links_again(result) for result in batch if result.visited.visit.key not in undecided]
        if not batch:
            return CommitAnswer(CommitSummary(new_urls=0, hosts_with_new=()), (), undecided)
        early = self.store.commits.insert_early(batch, max(1, URLS_OF_TRANSACTIONS // self._workers()), self._now())
        before = self.store.changes.version() if wanted else 0
        while True:
            ours = [result for result in early.batch if result.visited.visit.key not in late]
            try:
                committed = self._acknowledge(ours)
            except LateCommit as error:
                self.archive.undo()
                late.update(error.keys)
            except BaseException:
                self.archive.undo()
                raise
            else:
                pages = self._pages_of(ours, wanted, before) if wanted else {}
                return CommitAnswer(_with_early_urls(committed, early), late, undecided, pages)

    def _pages_of(
        self, committed: Sequence[VisitResult], wanted: Collection[Key], before: int
    ) -> Mapping[Key, ExportedDocument]:
        visits = {key: result.visited for result in committed if (key := result.visited.visit.key) in wanted}
        fetched = {key: visited for key, visited in visits.items() if visited.outcome is Outcome.FETCHED}
        return stored_pages(self.store, fetched, before) if fetched else {}

    def close(self) -> None:
        """End the archive file in use."""
        name = self.archive.finish()
        if name:
            self.store.archive.close_segment(name)

    def read(self, document: DocumentRow) -> ArchivedAnswer | None:
        """Read a document from the archive; None if the disk fails."""
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
        length = self.archive.length
        placed = self._archive(batch)
        bytes_archived = self.archive.length - length
        self._step("before commit")
        committed = self.store.commits.commit(placed, self._segments(), self._now())
        self.archive.committed()
        self._step("after commit")
        if self.archive.is_full:
            self._step("before rotation")
            self.close()
            self._step("after rotation")
        return replace(committed, bytes_archived=bytes_archived)

    def _archive(self, batch: Sequence[VisitResult]) -> list[VisitResult]:
        """Append and sync the records of a batch; return the batch with the positions of its records."""
        if not any(result.visited.records for result in batch):
            return list(batch)
        self._step("before append")
        bodies = _ArchivedBodies(self.store, batch)
        placed = [self._append(result, bodies) for result in batch]
        self._step("after append")
        self.archive.sync()
        self._step("after fsync")
        return placed

    def _append(self, result: VisitResult, bodies: _ArchivedBodies) -> VisitResult:
        visited = result.visited
        records: Sequence[WarcRecord] = visited.records
        if not records:
            return result
        original = bodies.original_of(visited)
        if original is not None:
            records = [_without_body(record, visited, original) for record in records]
        elif (
            visited.outcome is Outcome.UNCHANGED
            and (unchanged := self.store.archive.last_body(visited.visit.key)) is not None
        ):
            records = [_not_modified(record, visited, unchanged) for record in records]
        spans = self.archive.append(records)
        kinds = _ANSWERS if any(record.type in _ANSWERS for record in records) else _FACTS
        offset, length = next(span for record, span in zip(records, spans, strict=True) if record.type in kinds)
        position = ArchivePosition(segment=self.archive.name, offset=offset, length=length)
        return replace(result, position=position, is_revisit=original is not None)

    def _segments(self) -> list[SegmentState]:
        archive = self.archive
        if not archive.name:
            return []
        return [
            SegmentState(
                name=archive.name, slot=archive.slot, length=archive.length, records=archive.records, closed=False
            )
        ]

    def _judge_links_again(self, result: VisitResult) -> VisitResult:
        """Judge links again that were refused by the scope as it was before the last new seeds."""
        judge, visited = self._judge, result.visited
        if judge is None or visited.fetched is None or visited.fetched.ended > self._judged_until:
            return result
        depth = visited.visit.depth
        if visited.page is not None and any(_is_out_of_scope(link) for link in visited.page.links):
            links = [_judge_link(link, judge, depth + 1) for link in visited.page.links]
            visited = replace(visited, page=replace(visited.page, links=links))
        if visited.location is not None:
            visited = replace(visited, location=_judge_link(visited.location, judge, depth))
        if visited.page is not None and any(_is_out_of_scope(entry) for entry in visited.page.listed):
            listed = [
                entry._replace(refused=judge(entry.url, depth + 1)) if _is_out_of_scope(entry) else entry
                for entry in visited.page.listed
            ]
            visited = replace(visited, page=replace(visited.page, listed=listed))
        return replace(result, visited=visited)


def _is_out_of_scope(link: Link | ListedUrl) -> bool:
    return link.refused is not None and link.refused.reason in (Reason.OUT_OF_SCOPE, Reason.PORT_DENIED)


def _judge_link(link: Link, judge: Judge, depth: int) -> Link:
    return link._replace(refused=judge(link.url, depth)) if _is_out_of_scope(link) else link


class _ArchivedBodies:
    """The bodies that are archived already, by the store or earlier in the batch."""

    def __init__(self, store: Store, batch: Sequence[VisitResult]) -> None:
        pages = [result.visited.page for result in batch if result.visited.page is not None]
        self._store = store
        self._stored = store.archive.known_bodies({page.body_digest for page in pages})
        self._in_batch: dict[tuple[bytes, bytes], ArchivedBody] = {}

    def original_of(self, visited: Visited) -> ArchivedBody | None:
        """Return where the body of a page is archived already; None if it is not."""
        page, fetched = visited.page, visited.fetched
        if page is None or fetched is None or visited.reason is not Reason.OK or visited.visit.kind is not Kind.PAGE:
            return None
        if visited.outcome is not Outcome.FETCHED or not fetched.body:
            return None
        digests = (page.payload_digest, page.body_digest)
        original = self._in_batch.get(digests)
        if original is None and page.body_digest in self._stored:
            original = self._store.archive.find_body(*digests)
        if original is None:
            self._in_batch[digests] = ArchivedBody(url=fetched.url, started=fetched.started)
        return original


def _without_body(record: WarcRecord, visited: Visited, original: ArchivedBody) -> WarcRecord:
    """Turn a response record into a revisit record of the one that has the body; leave other records as they are."""
    if record.type != "response" or visited.fetched is None or visited.page is None:
        return record
    return revisit_record(record, visited.fetched, visited.page.payload_digest, original.url, original.started)


def _not_modified(record: WarcRecord, visited: Visited, unchanged: ArchivedBody) -> WarcRecord:
    """Turn the record of a 304 into a revisit record of the unchanged document; leave other records as they are."""
    if record.type != "response" or visited.fetched is None:
        return record
    return revisit_record(
        record, visited.fetched, unchanged.payload_digest, unchanged.url, unchanged.started, NOT_MODIFIED
    )


def _with_early_urls(committed: CommitSummary, early: EarlyUrls) -> CommitSummary:
    """Add the URLs that visits inserted before their commit, in all and to each visit."""
    if not early.new_links and not early.hosts_with_new:
        return committed
    visits = {
        key: replace(visit, new_links=visit.new_links + early.new_links.get(key, 0))
        for key, visit in committed.visits.items()
    }
    return replace(
        committed,
        new_urls=committed.new_urls + sum(early.new_links.values()),
        hosts_with_new={*committed.hosts_with_new, *early.hosts_with_new},
        visits=visits,
    )
