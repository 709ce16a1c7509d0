"""Run scrapy with a planted fault, to test whether the proof finds it.

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
    """Commit records to the store before they are written to the archive."""

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
    """Do not truncate records that were never acknowledged."""
    segments._truncate = lambda path, length: 0  # type: ignore[assignment]


def forget_leases() -> None:
    """Park the URLs in flight at a kill instead of returning them to the frontier."""
    original = partitions._return_leases

    def park(connection: Any, ledger: Any, rows: Any, *args: Any) -> Any:
        connection.execute("UPDATE urls SET state = 2, reason = 34 WHERE state = 1")
        return original(connection, ledger, [], *args)

    partitions._return_leases = park


def quarantine_at_once() -> None:
    """Quarantine the URLs in flight at the first kill, though other URLs were in flight."""
    partitions.SOLO_AFTER_CRASHES = 0


FAULTS = {fault.__name__: fault for fault in (commit_before_append, keep_torn_tails, forget_leases, quarantine_at_once)}

if __name__ == "__main__":
    from scrapy.cmdline import execute

    FAULTS[sys.argv[1]]()
    execute(["scrapy", *sys.argv[2:]])
