"""One worker per slot: a lock file that the system releases with the process, and that shows an unclean end."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import IO

from crawler.errors import AlreadyRunning
from crawler.files import exclusive_lock, sync_file


class SlotLock:
    """The lock `workers/<n>.lock` of a slot. The file names its holder, and is emptied only by a clean end."""

    def __init__(self, path: Path, file: IO[str]) -> None:
        self._path = path
        self._file = file
        self.number = int(path.stem)
        self.was_unclean = bool(file.read().strip())

    @classmethod
    def take(cls, directory: Path, number: int) -> SlotLock | None:
        """Lock a slot; None if a living process holds it."""
        directory.mkdir(parents=True, exist_ok=True)
        path = directory / f"{number}.lock"
        file = path.open("a+", encoding="utf-8")
        if not exclusive_lock(file):
            file.close()
            return None
        file.seek(0)
        return cls(path, file)

    def sign(self, now: float) -> None:
        """Write into the file which process holds the lock, until `release`."""
        self._write(json.dumps({"pid": os.getpid(), "since": now}))

    def release(self) -> None:
        """Unlock the slot after a clean end: nothing is left to recover."""
        self._write("")
        self._file.close()

    def drop(self) -> None:
        """Unlock the slot and leave the file as it is, so that the next worker recovers."""
        self._file.close()

    def _write(self, text: str) -> None:
        self._file.seek(0)
        self._file.truncate()
        self._file.write(text)
        sync_file(self._file)


def take_slot(directory: Path, *, join: bool) -> SlotLock:
    """Lock slot 0 if no worker is running; or, to join running workers, the first free slot."""
    if join:
        return next(lock for number in count() if (lock := SlotLock.take(directory, number)) is not None)
    lock = SlotLock.take(directory, 0)
    if lock is None:
        raise already_running(directory)
    for path in sorted(directory.glob("*.lock")):
        if path.stem.isdecimal() and path.stem != "0":
            other = SlotLock.take(directory, int(path.stem))
            if other is None:
                lock.drop()
                raise already_running(directory, int(path.stem))
            other.drop()
    return lock


def free_slots(directory: Path, but: int) -> Iterator[SlotLock]:
    """Lock, one by one, the other slots whose workers are gone."""
    for path in sorted(directory.glob("*.lock")):
        if path.stem.isdecimal() and int(path.stem) != but:
            lock = SlotLock.take(directory, int(path.stem))
            if lock is not None:
                yield lock


def already_running(directory: Path, number: int = 0) -> AlreadyRunning:
    """Return the error that names the process in a slot."""
    path = directory / f"{number}.lock"
    try:
        holder = json.loads(path.read_text(encoding="utf-8"))
        since = datetime.fromtimestamp(holder["since"], UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        who = f"process {holder['pid']}, since {since}"
    except (OSError, ValueError, KeyError, TypeError):
        who = "another process"
    return AlreadyRunning(
        f"{directory.parent}: a crawl is already running here ({who}). Nothing was changed; wait for it, stop it, or "
        "use another CRAWL_DIR."
    )
