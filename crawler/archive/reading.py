"""Reads one archived record by its segment and offset."""

from __future__ import annotations

import os
from pathlib import Path

from isal import isal_zlib

from crawler.archive.segments import OPEN
from crawler.errors import DiskTrouble


def read_block(directory: Path, segment: str, offset: int, length: int) -> bytes:
    """Return the content block of the record at an offset; for a response, head and body as they were received."""
    path = f"{directory}/{segment}"
    try:
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            path += OPEN
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            packed = os.pread(descriptor, length, offset)
        finally:
            os.close(descriptor)
        record = isal_zlib.decompress(packed, 31)
    except (OSError, isal_zlib.error) as error:  # type: ignore[misc]  # its stub does not say that it is an exception
        raise DiskTrouble(f"{path}: no WARC record at byte {offset} ({error}).") from error
    return record.partition(b"\r\n\r\n")[2][:-4]
