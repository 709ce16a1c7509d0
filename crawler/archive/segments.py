"""Append records to compound files so that no kill can hurt what was acknowledged.

A file is `<name>.open` while it is written and gets its name when it is full. What is good in it is what the store says
(`SegmentState.length`); bytes beyond that were never acknowledged and are cut off when the crawl is started again. A
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
    """What the store knows of a file."""

    @property
    def name(self) -> str: ...
    @property
    def length(self) -> int: ...
    @property
    def closed(self) -> bool: ...


class SegmentWriter:
    """The files of one worker, one at a time. Not thread-safe; owned by the thread that commits."""

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
        self._step = step
        self._serial = 0
        self._file: FileIO | None = None
        self._good = (0, 0)  # length and records that the store has

    def append(self, records: Sequence[WarcRecord]) -> list[tuple[int, int]]:
        """Write records one after another; (offset, length) of each. Nothing is durable yet."""
        with _disk(self.directory):
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
            with _disk(self.directory):
                os.fsync(self._file.fileno())

    def committed(self) -> None:
        """The store has the present length."""
        self._good = (self.length, self.records)

    def undo(self) -> None:
        """Cut the file back to what the store has."""
        if self._file is not None:
            with _disk(self.directory):
                self._file.seek(self._good[0])
                self._file.truncate()
                self.length, self.records = self._good
                if self._good == (0, 0):
                    self._write(self._file, [self._warcinfo()])
                    self.sync()  # the next commit may bring nothing of its own, and names this length

    @property
    def is_full(self) -> bool:
        return self.length >= self._max_bytes

    def finish(self) -> str:
        """Give the file its name; what was not committed is cut off. The name, or empty if there is no file."""
        file, name, good = self._file, self.name, self._good[0]
        if file is None:
            return ""
        with _disk(self.directory):
            self._step("before rename")
            file.truncate(good)
            os.fsync(file.fileno())
            # Whatever goes wrong from here on, there is nothing left to undo.
            self._file, self.name, self.length, self.records, self._good = None, "", 0, 0, (0, 0)
            file.close()
            path = self.directory / (name + OPEN)
            if good:
                path.rename(self.directory / name)
            else:
                path.unlink()
            sync_directory(self.directory)
            self._step("after rename")
        return name

    def _create(self) -> FileIO:
        self._serial += 1
        name = f"{self._prefix}-{self.slot:03}-{self._serial:05}.warc.gz"
        # Without a buffer: what a full disk did not take must not be offered again when the file is cut back.
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
    """Bring the files that a dead worker left open to what was acknowledged.

    Returns the names of the files that are now whole, and the number of bytes that were cut off. Doing it twice does
    no harm.
    """
    whole, cut = [], 0
    known = {segment.name: segment for segment in segments}
    with _disk(directory):
        for each in segments:  # what could be missing is looked for before anything is changed
            if not each.closed:
                path = directory / (each.name + OPEN)
                _size(path if path.exists() else directory / each.name, each.length)
        for path in sorted(directory.glob(f"*-{slot:03}-*.warc.gz{OPEN}")):
            segment = known.get(path.name.removesuffix(OPEN))
            if segment is None:  # nothing in it was ever acknowledged
                cut += path.stat().st_size
                path.unlink()
                continue
            cut += _cut(path, segment.length)
            path.rename(directory / segment.name)
        for segment in segments:
            if not segment.closed:
                _cut(directory / segment.name, segment.length)
                whole.append(segment.name)
        sync_directory(directory)
    return whole, cut


def _cut(path: Path, length: int) -> int:
    """Truncate a file to its acknowledged length; the bytes that were beyond."""
    size = _size(path, length)
    if size > length:
        with path.open("r+b") as file:
            file.truncate(length)
            os.fsync(file.fileno())
    return size - length


def _size(path: Path, length: int) -> int:
    """The size of a file in which so much was acknowledged."""
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


class _disk:  # noqa: N801
    """What the disk complains of, as an error that says what to do."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, OSError):
            raise DiskTrouble(
                f"{error.filename or self.directory}: writing the archive failed ({error.strerror}). What was committed "
                "is kept; check the disk, then start the crawl again."
            ) from error
