"""A directory of increments: each file holds what came after the one before it, and is whole or not there.

`000000000000-000000001200.jsonl` holds what the change feed says from behind version 0 to 1200. Read in the order of
their names, the files give the collection as it was at the last version. What a format cannot say of deletions is in
`000000000000-000000001200.deleted`, one id a line: leave those out after the documents of the file have been read. Such
a list that has no file beside it is what a kill left: what it says is true, and is said again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import BinaryIO, Final

from crawler.errors import DiskTrouble
from crawler.export.formats import DELETED, DocumentsOnlyWriter, FileFormat, deleted_lines
from crawler.export.locked_directory import LockedDirectory
from crawler.files import PART, sync_directory, sync_file
from crawler.items import ExportEntry, RejectedDocument

_EVERY: Final = 100_000
_UNFINISHED = re.compile(r"\.[0-9]{12,}\.\w+" + re.escape(PART))
_FINISHED = r"[0-9]{12,}-([0-9]{12,})\."


def last_version(directory: Path, suffix: str) -> int | None:
    """The version up to which the files there hold everything; None if there are none."""
    name = re.compile(_FINISHED + re.escape(suffix))
    found = [name.fullmatch(entry.name) for entry in directory.iterdir()] if directory.is_dir() else []
    return max((int(match[1]) for match in found if match), default=None)


class DirectorySink:
    """A new file at each acknowledgement, unless nothing was put since the last."""

    def __init__(self, directory: Path, form: FileFormat, after: int, every: int = _EVERY) -> None:
        self.every = every
        self._directory = directory
        self._format = form
        self._first = self._last = after
        self._file: BinaryIO | None = None
        self._writer: DocumentsOnlyWriter | None = None
        self._place = LockedDirectory(directory)
        try:
            with self._told():
                self._remove_unfinished()
        except DiskTrouble:
            self._place.close()
            raise

    def put(self, entry: ExportEntry) -> None:
        with self._told():
            if self._writer is None:
                self._file = self._part(self._format.suffix).open("xb")
                self._writer = DocumentsOnlyWriter(self._format, self._file)
            self._writer.write(entry)
            self._last = entry.version

    def acknowledge(self) -> Sequence[RejectedDocument]:
        with self._told():
            if self._writer is None or self._file is None:
                return ()
            self._writer.finish()
            if self._writer.deleted:
                self._write_deleted(self._writer.deleted)
            sync_file(self._file)
            self._name(self._format.suffix)
            sync_directory(self._directory)
            self._file.close()
            self._file = self._writer = None
            self._first = self._last
        return ()

    def close(self) -> None:
        file, self._file, self._writer = self._file, None, None
        with suppress(OSError):
            self._remove_unfinished()
            if file is not None:
                file.close()  # what is in its buffer may not fit on the disk
        self._place.close()

    def _remove_unfinished(self) -> None:
        """What killed processes left; no living one writes here but this."""
        for entry in self._directory.iterdir():
            if _UNFINISHED.fullmatch(entry.name):
                entry.unlink()

    def _write_deleted(self, ids: dict[str, None]) -> None:
        """Before the documents: a file of those that has its name has its list, too."""
        with self._part(DELETED).open("xb") as file:
            file.write(deleted_lines(ids))
            sync_file(file)
        self._name(DELETED)
        sync_directory(self._directory)

    def _part(self, suffix: str) -> Path:
        return self._directory / f".{self._first:012}.{suffix}{PART}"

    def _name(self, suffix: str) -> None:
        self._part(suffix).replace(self._directory / f"{self._first:012}-{self._last:012}.{suffix}")

    def _told(self) -> AbstractContextManager[None]:
        return self._place.told(f"All files there are whole; what came after version {self._first} is not in them")
