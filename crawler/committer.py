"""Acknowledge a batch of visits: archive, make durable, then one transaction.

A visit is acknowledged when its records are on the disk and the transaction that names them is committed. In this order
a kill at any moment leaves either a visit that never happened, or one that is whole.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from crawler.archive.segments import SegmentWriter
from crawler.items import Key, Record
from crawler.stores.contract import Committed, LateCommit, Place, SegmentState, Settled, Store

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


class Committer:
    """Lives in the thread that owns the store."""

    def __init__(
        self, store: Store, archive: SegmentWriter, now: Callable[[], float], step: Callable[[str], None]
    ) -> None:
        self.store = store
        self.archive = archive
        self._now = now
        self._step = step

    def commit(self, batch: Sequence[Settled]) -> tuple[Committed, Collection[Key]]:
        """Acknowledge visits; also the keys of those that another worker has taken over, which are discarded."""
        late: set[Key] = set()
        early = [self._bring_links(settled) for settled in batch]
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
                return _sum(committed, *early), late

    def close(self) -> None:
        """End the archive file in use."""
        name = self.archive.finish()
        if name:
            self.store.close_segment(name)

    def _acknowledge(self, batch: Sequence[Settled]) -> Committed:
        placed = self._archive(batch)
        self._step("before commit")
        committed = self.store.commit(placed, self._segments(), self._now())
        self.archive.committed()
        self._step("after commit")
        if self.archive.is_full:
            self._step("before rotation")
            self.close()
            self._step("after rotation")
        return committed

    def _archive(self, batch: Sequence[Settled]) -> list[Settled]:
        """Append and sync the records of a batch; the batch, with the places of its responses."""
        if not any(settled.visited.records for settled in batch):
            return list(batch)
        self._step("before append")
        placed = [self._place(settled) for settled in batch]
        self._step("after append")
        self.archive.sync()
        self._step("after fsync")
        return placed

    def _place(self, settled: Settled) -> Settled:
        records: Sequence[Record] = settled.visited.records
        if not records:
            return settled
        places = self.archive.append(records)
        offset, length = next(place for record, place in zip(records, places, strict=True) if record.type == "response")
        return replace(settled, place=Place(segment=self.archive.name, offset=offset, length=length))

    def _segments(self) -> list[SegmentState]:
        archive = self.archive
        if not archive.name:
            return []
        return [
            SegmentState(
                name=archive.name, slot=archive.slot, length=archive.length, records=archive.records, closed=False
            )
        ]

    def _bring_links(self, settled: Settled) -> Committed:
        """Insert what is too much for one transaction before it; doing it twice does no harm."""
        page, visit = settled.visited.page, settled.visited.visit
        links = page.links if page is not None else ()
        starts = range(LINKS_A_VISIT, len(links), LINKS_A_VISIT)
        found = [self.store.add_links(visit, links[at : at + LINKS_A_VISIT], self._now()) for at in starts]
        return _sum(*found)


def _sum(*parts: Committed) -> Committed:
    hosts = set[int]().union(*(part.hosts_with_new for part in parts))
    return Committed(new_urls=sum(part.new_urls for part in parts), hosts_with_new=hosts)
