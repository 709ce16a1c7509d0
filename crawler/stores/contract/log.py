"""The store's log: changes that are not in its own file yet."""

from __future__ import annotations

from dataclasses import dataclass

# Bytes that the log takes on the disk, at most, unless a process goes on reading an old state of the store.
LARGEST_LOG = 64_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreLog:
    """The log at one moment."""

    size: int
    # Who reads an old state: where and since which change (numbers of the engine), and the process (0 = one that cannot
    # be seen from here). Many do so for a moment; one that is found twice keeps the log from being cut.
    old_readers: frozenset[tuple[int, int, int]] = frozenset()
