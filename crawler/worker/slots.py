"""One worker per slot: a lock file that the system releases with the process, and that shows an unclean end."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Protocol

from crawler.errors import AlreadyRunning
from crawler.files import PLACE, sync_file
from crawler.system import lock_file


class WorkerNumbers(Protocol):
    """Gives numbers to the workers of all directories that share a store."""

    def new_slot(self, place: str) -> int: ...

    def claim_slot(self, place: str, slot: int) -> bool: ...


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
        if not lock_file(file):
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


@contextmanager
def starting(directory: Path, *, join: bool) -> Iterator[None]:
    """Let one process at a time start in a directory. One that does not `join` others must be the only one there."""
    directory.mkdir(parents=True, exist_ok=True)
    with (directory / "start.lock").open("a", encoding="utf-8") as file:
        if not lock_file(file, wait=join):
            raise already_running(directory)
        if not join:
            for lock in _locks(directory):
                if not isinstance(lock, SlotLock):
                    raise already_running(directory, lock)
                lock.drop()
        yield


def take_slot(directory: Path, place: str, numbers: WorkerNumbers) -> SlotLock:
    """Lock the first free slot that this directory has in the store; or a new one."""
    for lock in _locks(directory):
        if isinstance(lock, SlotLock):
            if numbers.claim_slot(place, lock.number):
                return lock
            lock.drop()
    while (new := SlotLock.take(directory, numbers.new_slot(place))) is None:
        continue  # a worker of another store has this number here
    return new


def place_of(directory: Path) -> str:
    """Return the identifier of a crawl directory, by which the store knows it; made when it is first needed."""
    path = directory / PLACE.name
    if not path.exists():
        part = directory / f"place-{os.getpid()}"
        with part.open("w", encoding="utf-8") as file:
            file.write(secrets.token_hex(8))
            sync_file(file)
        part.replace(path)
    return path.read_text(encoding="utf-8").strip()


def _locks(directory: Path) -> Iterator[SlotLock | int]:
    """Lock the slots of a directory one by one; where a living process holds one, yield its number instead."""
    numbers = sorted(int(path.stem) for path in directory.glob("*.lock") if path.stem.isdecimal())
    for number in numbers:
        yield SlotLock.take(directory, number) or number


def has_unclean_slot(directory: Path) -> bool:
    """Whether a worker that had a slot of this directory died."""
    free = [lock for lock in _locks(directory) if isinstance(lock, SlotLock)]
    for lock in free:
        lock.drop()
    return any(lock.was_unclean for lock in free)


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
