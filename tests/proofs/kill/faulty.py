"""Run scrapy with a fault planted in it, to see whether the proof notices.

python -m tests.proofs.kill.faulty FAULT crawl web …
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from crawler.archive import segments
from crawler.archive.segments import SegmentWriter
from crawler.stores.contract.commits import CommitSummary, VisitResult
from crawler.stores.sqlite import partitions
from crawler.worker.committer import Committer

BETWEEN = "between commit and append"  # a step that only the faulty order has


def commit_before_append() -> None:
    """The store is told of records that are written a moment later."""

    def acknowledge(self: Any, batch: Sequence[VisitResult]) -> CommitSummary:
        appended: list[Any] = []
        write = SegmentWriter._write

        def later(writer: Any, file: Any, record: Any) -> None:
            appended.append((file, record.data))
            writer.length += len(record.data)
            writer.records += 1

        SegmentWriter._write = later  # type: ignore[method-assign]
        try:
            placed = self._archive(batch)
        finally:
            SegmentWriter._write = write  # type: ignore[method-assign]
        committed = self.store.commits.commit(placed, self._segments(), self._now())
        self._step(BETWEEN)
        for file, data in appended:
            file.write(data)
        self.archive.sync()
        self.archive.committed()
        return committed

    Committer._acknowledge = acknowledge  # type: ignore[method-assign]


def keep_torn_tails() -> None:
    """What was never acknowledged stays in the file."""
    segments._truncate = lambda path, length: 0  # type: ignore[assignment]


def forget_leases() -> None:
    """What was in flight is taken for done."""
    original = partitions._return_leases

    def let_vanish(connection: Any, ledger: Any, rows: Any, *args: Any) -> Any:
        connection.execute("UPDATE urls SET state = 2, reason = 34 WHERE state = 1")
        return original(connection, ledger, [], *args)

    partitions._return_leases = let_vanish


FAULTS = {fault.__name__: fault for fault in (commit_before_append, keep_torn_tails, forget_leases)}

if __name__ == "__main__":
    from scrapy.cmdline import execute

    FAULTS[sys.argv[1]]()
    execute(["scrapy", *sys.argv[2:]])
