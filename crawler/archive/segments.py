"""Appends WARC records to segment files, so that a killed process loses nothing that was committed.

A file is called `<name>.open` while it is written and is renamed when it is full. The store has its committed length
(`SegmentState.length`); bytes beyond that were never committed and are cut off when the crawl is started again. A
recovered file is never appended to.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from io import FileIO
from pathlib import Path
from typing import Protocol

from crawler.archive.records import warcinfo_record
from crawler.errors import DiskTrouble
from crawler.files import sync_directory
from crawler.items import WarcRecord

OPEN = ".open"


class Segment(Protocol):
    """The row of a segment file in the store."""

    @property
    def name(self) -> str: ...
    @property
    def length(self) -> int: ...
    @property
    def closed(self) -> bool: ...


class SegmentWriter:
    """Writes the segment files of one worker, one at a time. Not thread-safe; owned by the thread that commits."""

    def __init__(
        self,
        directory: Path,
        *,
        prefix: str,
        slot: int,
        max_bytes: int,
        now: Callable[[], float],
        facts: Sequence[tuple[str, str]],
        step: Callable[[str], None] = lambda name: None,
    ) -> None:
        self.slot = slot
        self.name = ""  # of the file being written; empty before the first record
        self.length = 0
        self.records = 0
        self.directory = directory
        self._prefix = prefix
        self._max_bytes = max_bytes
        self._now = now
        self._facts = facts
        self._step = step  # called before and after a rename, so that tests can kill the process there
        self._serial = 0
        self._file: FileIO | None = None
        self._committed_size = (0, 0)  # length and number of records that the store has

    def append(self, records: Sequence[WarcRecord]) -> list[tuple[int, int]]:
        """Write records and return (offset, length) of each. They are durable only after `sync`."""
        with _disk_errors(self.directory):
            file = self._file or self._create()
            places, offset = [], self.length
            for record in records:
                places.append((offset, len(record.data)))
                offset += len(record.data)
            self._write(file, records)
            return places

    def sync(self) -> None:
        """Make everything appended durable."""
        if self._file is not None:
            with _disk_errors(self.directory):
                os.fsync(self._file.fileno())

    def committed(self) -> None:
        """Note that the store has committed the present length."""
        self._committed_size = (self.length, self.records)

    def undo(self) -> None:
        """Truncate the file to the committed length."""
        if self._file is not None:
            with _disk_errors(self.directory):
                self._file.seek(self._committed_size[0])
                self._file.truncate()
                self.length, self.records = self._committed_size
                if self._committed_size == (0, 0):
                    self._write(self._file, [self._warcinfo()])
                    self.sync()  # the next commit may append nothing, and stores this length

    @property
    def is_full(self) -> bool:
        return self.length >= self._max_bytes

    def finish(self) -> str:
        """Close the file at its committed length and rename it; returns its name, or "" if there is no file."""
        file, name, committed_length = self._file, self.name, self._committed_size[0]
        if file is None:
            return ""
        with _disk_errors(self.directory):
            self._step("before rename")
            file.truncate(committed_length)
            os.fsync(file.fileno())
            # Even if something fails from here on, there is nothing left to undo.
            self._file, self.name, self.length, self.records, self._committed_size = None, "", 0, 0, (0, 0)
            file.close()
            path = self.directory / (name + OPEN)
            if committed_length:
                path.rename(self.directory / name)
            else:
                path.unlink()
            sync_directory(self.directory)
            self._step("after rename")
        return name

    def _create(self) -> FileIO:
        self._serial += 1
        name = f"{self._prefix}-{self.slot:03}-{self._serial:05}.warc.gz"
        # Unbuffered: bytes that a full disk rejected must not be written again when the file is truncated.
        self._file = (self.directory / (name + OPEN)).open("xb", buffering=0)
        self.name = name
        sync_directory(self.directory)
        self._write(self._file, [self._warcinfo()])
        return self._file

    def _warcinfo(self) -> WarcRecord:
        return warcinfo_record(self.name, self._now(), self._facts)

    def _write(self, file: FileIO, records: Sequence[WarcRecord]) -> None:
        data = b"".join([record.data for record in records])
        rest = memoryview(data)
        while rest:
            rest = rest[file.write(rest) :]
        self.length += len(data)
        self.records += len(records)


def recover(directory: Path, slot: int, segments: Sequence[Segment]) -> tuple[list[str], int]:
    """Truncate the files that a dead worker left open to their committed length, and give them their final names.

    Returns the names of the files that are now closed, and the number of bytes that were cut off. Repeating it does
    nothing more.
    """
    closed, cut_off = [], 0
    known = {segment.name: segment for segment in segments}
    with _disk_errors(directory):
        for each in segments:  # before anything is changed: a missing byte raises DiskTrouble
            if not each.closed:
                path = directory / (each.name + OPEN)
                _checked_size(path if path.exists() else directory / each.name, each.length)
        for path in sorted(directory.glob(f"*-{slot:03}-*.warc.gz{OPEN}")):
            segment = known.get(path.name.removesuffix(OPEN))
            if segment is None:  # nothing in it was ever committed
                cut_off += path.stat().st_size
                path.unlink()
                continue
            cut_off += _truncate(path, segment.length)
            path.rename(directory / segment.name)
        for segment in segments:
            if not segment.closed:
                _truncate(directory / segment.name, segment.length)
                closed.append(segment.name)
        sync_directory(directory)
    return closed, cut_off


def _truncate(path: Path, length: int) -> int:
    """Truncate a file to its committed length; returns the number of bytes that were beyond it."""
    size = _checked_size(path, length)
    if size > length:
        with path.open("r+b") as file:
            file.truncate(length)
            os.fsync(file.fileno())
    return size - length


def _checked_size(path: Path, length: int) -> int:
    """Return the size of a file; raises DiskTrouble if it is smaller than its committed length."""
    try:
        size = path.stat().st_size
    except FileNotFoundError:
        size = 0
    if size < length:
        raise DiskTrouble(
            f"{path}: {length - size} bytes that were acknowledged are missing (the file has {size}, the store says "
            f"{length}). Nothing was changed; restore the file from a backup."
        )
    return size


class _disk_errors:  # noqa: N801
    """Turns an OSError into a DiskTrouble that says what to do."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, OSError):
            raise DiskTrouble(
                f"{error.filename or self.directory}: writing the archive failed ({error.strerror}). What was "
                "committed is kept; check the disk, then start the crawl again."
            ) from error
