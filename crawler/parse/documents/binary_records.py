"""Iterate over the records, with type and length, of the binary Office formats."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

_HEAD = struct.Struct("<HHI")
_CONTAINER = 0xF


class SlideRecord(NamedTuple):
    """A record of PowerPoint or of a drawing; a container has records as its content."""

    kind: int
    instance: int
    start: int
    end: int
    is_container: bool


def slide_records(data: bytes, start: int, end: int) -> Iterator[SlideRecord]:
    """Iterate over the records between two offsets, without descending into containers."""
    end = min(end, len(data))
    while start + _HEAD.size <= end:
        version, kind, length = _HEAD.unpack_from(data, start)
        body = start + _HEAD.size
        yield SlideRecord(kind, version >> 4, body, min(body + length, end), version & 0xF == _CONTAINER)
        start = body + length


def packed_number(raw: bytes) -> float:
    """Decode an RK number of Excel: four bytes with the upper half of a float, or an integer, or 1/100 of either.

    >>> packed_number(b"\\x0f\\x00\\x00\\x00"), packed_number(b"\\x00\\x00\\xf0\\x3f")
    (0.03, 1.0)
    """
    bits = int.from_bytes(raw, "little")
    if bits & 2:
        number = float(int.from_bytes(raw, "little", signed=True) >> 2)
    else:
        number = struct.unpack("<d", struct.pack("<Q", (bits & 0xFFFFFFFC) << 32))[0]
    return number / 100 if bits & 1 else number


def sheet_records(data: bytes, start: int = 0) -> Iterator[tuple[int, bytes]]:
    """Iterate over the records of an Excel stream as (kind, data)."""
    while start + 4 <= len(data):
        kind, length = struct.unpack_from("<HH", data, start)
        yield kind, data[start + 4 : start + 4 + length]
        start += 4 + length
