"""An output directory that is locked, so that only one export writes to it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from crawler.errors import AlreadyRunning, DiskTrouble
from crawler.system import lock_file

LOCK: Final = ".lock"
_FLAGS: Final = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC


class LockedDirectory:
    """Creates and locks a directory; the lock is held until `close` or the end of the process."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._failure: DiskTrouble | None = None
        with self.reporting_failures("Nothing was exported"):
            path.mkdir(parents=True, exist_ok=True)
            self._file = os.fdopen(os.open(path / LOCK, _FLAGS, 0o666), "wb")
        if not lock_file(self._file):
            self._file.close()
            raise AlreadyRunning(f"{path}: another export is writing there; nothing was changed. Wait for its end.")

    @contextmanager
    def reporting_failures(self, state: str) -> Iterator[None]:
        """Turn an OSError of the block into `DiskTrouble` that says in what state the directory is.

        After one failure all further blocks fail: data is lost, and nothing may go on as if it were there. For example,
        a second fsync of a file succeeds even if its data could not be written.
        """
        if self._failure is not None:
            raise self._failure
        try:
            yield
        except OSError as error:
            self._failure = DiskTrouble(
                f"{self.path}: cannot be written ({error.strerror}). {state}. Check the directory and the disk, then "
                "export again."
            )
            raise self._failure from error

    def close(self) -> None:
        self._file.close()
