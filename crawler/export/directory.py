"""A sink that writes a directory of increments: each file has the changes after the previous one, and is never partial.

`000000000000-000000001200.jsonl` has the changes of the feed after version 0 up to 1200. Read in the order of their
names, the files give the collection as it was at the last version. If the format has no deletions, their ids are in
`000000000000-000000001200.deleted`, one per line: remove these after reading the documents of the file. A list without
a file beside it was left by a kill: its ids are correct, and the next export lists them again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import BinaryIO, Final

from crawler.errors import DiskTrouble
from crawler.export.formats import DELETED_SUFFIX, DocumentsOnlyWriter, FileFormat, deleted_lines
from crawler.export.locked_directory import LockedDirectory
from crawler.files import PART, sync_directory, sync_file
from crawler.items import ExportEntry, RejectedDocument

_ACKNOWLEDGE_EVERY: Final = 100_000
_PART_NAME = re.compile(r"\.[0-9]{12,}\.\w+" + re.escape(PART))
_FILE_NAME = r"[0-9]{12,}-([0-9]{12,})\."


def last_version(directory: Path, suffix: str) -> int | None:
    """The version up to which the files of a directory have all changes; None if there are no files."""
    name = re.compile(_FILE_NAME + re.escape(suffix))
    matches = [name.fullmatch(entry.name) for entry in directory.iterdir()] if directory.is_dir() else []
    return max((int(match[1]) for match in matches if match), default=None)


class DirectorySink:
    """Writes a new file at each acknowledgement, unless nothing was put since the last one."""

    def __init__(
        self, directory: Path, form: FileFormat, after: int, acknowledge_every: int = _ACKNOWLEDGE_EVERY
    ) -> None:
        self.acknowledge_every = acknowledge_every
        self._directory = directory
        self._format = form
        self._first = self._last = after
        self._file: BinaryIO | None = None
        self._writer: DocumentsOnlyWriter | None = None
        self._place = LockedDirectory(directory)
        try:
            with self._reporting_failures():
                self._remove_unfinished()
        except DiskTrouble:
            self._place.close()
            raise

    def put(self, entry: ExportEntry) -> None:
        with self._reporting_failures():
            if self._writer is None:
                self._file = self._part_path(self._format.suffix).open("xb")
                self._writer = DocumentsOnlyWriter(self._format, self._file)
            self._writer.write(entry)
            self._last = entry.version

    def acknowledge(self) -> Sequence[RejectedDocument]:
        with self._reporting_failures():
            if self._writer is None or self._file is None:
                return ()
            self._writer.finish()
            if self._writer.deleted:
                self._write_deleted(self._writer.deleted)
            sync_file(self._file)
            self._rename_part(self._format.suffix)
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
                file.close()  # fails if its buffer does not fit on the disk
        self._place.close()

    def _remove_unfinished(self) -> None:
        """Remove what killed processes left; this process holds the lock, so no other one is writing."""
        for entry in self._directory.iterdir():
            if _PART_NAME.fullmatch(entry.name):
                entry.unlink()

    def _write_deleted(self, ids: dict[str, None]) -> None:
        """Write the list of deleted ids, before the documents get their final name: every named file has its list."""
        with self._part_path(DELETED_SUFFIX).open("xb") as file:
            file.write(deleted_lines(ids))
            sync_file(file)
        self._rename_part(DELETED_SUFFIX)
        sync_directory(self._directory)

    def _part_path(self, suffix: str) -> Path:
        return self._directory / f".{self._first:012}.{suffix}{PART}"

    def _rename_part(self, suffix: str) -> None:
        self._part_path(suffix).replace(self._directory / f"{self._first:012}-{self._last:012}.{suffix}")

    def _reporting_failures(self) -> AbstractContextManager[None]:
        return self._place.reporting_failures(
            f"All files there are whole; what came after version {self._first} is not in them"
        )
