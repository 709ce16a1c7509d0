"""Read one archived answer back by its place."""

from __future__ import annotations

from pathlib import Path

from isal import isal_zlib

from crawler.archive.segments import OPEN
from crawler.errors import DiskTrouble


def read_block(directory: Path, segment: str, offset: int, length: int) -> bytes:
    """The content block of the record at a place: for a response, head and body as they came."""
    path = directory / segment
    if not path.exists():
        path = directory / (segment + OPEN)
    try:
        with path.open("rb") as file:
            file.seek(offset)
            record = isal_zlib.decompress(file.read(length), 31)
    except (OSError, isal_zlib.error) as error:  # type: ignore[misc]  # its stub does not say that it is an exception
        raise DiskTrouble(f"{path}: no WARC record at byte {offset} ({error}).") from error
    return record.partition(b"\r\n\r\n")[2][:-4]
