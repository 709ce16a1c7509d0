"""Reads one archived record by its segment and offset."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from isal import isal_zlib

from crawler.archive.segments import OPEN
from crawler.errors import DiskTrouble

_MEMBER = 65_536  # bytes that are read at a time of a record whose length is not known


def read_block(directory: Path, segment: str, offset: int, length: int) -> bytes:
    """Return the content block of the record at an offset; for a response, head and body as they were received."""
    with _opened(directory, segment, offset) as descriptor:
        return _block_of(isal_zlib.decompress(os.pread(descriptor, length, offset), 31))


def read_block_at(directory: Path, segment: str, offset: int) -> bytes:
    """Return the content block of the record at an offset, however long it is."""
    member, parts = isal_zlib.decompressobj(31), []
    with _opened(directory, segment, offset) as descriptor:
        while not member.eof:
            packed = os.pread(descriptor, _MEMBER, offset)
            if not packed:
                raise OSError("the file ends within it")
            parts.append(member.decompress(packed))
            offset += len(packed)
    return _block_of(b"".join(parts))


@contextmanager
def _opened(directory: Path, segment: str, offset: int) -> Iterator[int]:
    """Open an archive file, which may still be written; errors of the disk and of damaged records are `DiskTrouble`."""
    path = f"{directory}/{segment}"
    try:
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            path += OPEN
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            yield descriptor
        finally:
            os.close(descriptor)
    except (OSError, isal_zlib.error) as error:  # type: ignore[misc]  # its stub does not say that it is an exception
        raise DiskTrouble(f"{path}: no WARC record at byte {offset} ({error}).") from error


def _block_of(record: bytes) -> bytes:
    return record.partition(b"\r\n\r\n")[2][:-4]
