"""Who keeps the write-ahead log from being cut? A process that goes on reading an old state of the database."""

from __future__ import annotations

import struct
from pathlib import Path

from crawler.stores.contract.log import StoreLog
from crawler.system import reader_of_byte

# The file of shared memory, as SQLite's documentation of the "WAL-index" describes it.
_HEADER = struct.Struct("=16xI76xI5I")  # frames in the log; frames copied from it; where each of five slots reads to
_FIRST_LOCK = 123  # byte; readers lock the one of their slot
_UNUSED = 0xFFFFFFFF


def log_of(path: Path) -> StoreLog:
    """Return the log of a database; not for a process that has the database open, which would lose its locks."""
    try:
        size = Path(f"{path}-wal").stat().st_size
        with Path(f"{path}-shm").open("rb") as shared:
            frames, copied, *marks = _HEADER.unpack(shared.read(_HEADER.size))
            old = {
                (slot, mark): reader_of_byte(shared, _FIRST_LOCK + slot)
                for slot, mark in enumerate(marks)
                if (copied < frames if slot == 0 else mark < frames) and mark != _UNUSED
            }
    except (OSError, struct.error):  # there is none
        return StoreLog(size=0)
    readers = frozenset((slot, mark, pid) for (slot, mark), pid in old.items() if pid is not None)
    return StoreLog(size=size, old_readers=readers)
