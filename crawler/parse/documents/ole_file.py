"""OLE2 files are opened with olefile, and their main stream is salvaged if the directory is lost."""

from __future__ import annotations

import struct
from io import BytesIO
from typing import Any

import olefile

# What olefile raises on corrupt files, such as those whose directory is a long chain or a cycle.
OLEFILE_ERRORS = (
    OSError,
    ValueError,
    LookupError,
    ArithmeticError,
    TypeError,
    AttributeError,
    RecursionError,
    struct.error,
)
SMALLEST = olefile.MINIMAL_OLEFILE_SIZE
_HEADER = 512  # bytes, before the first stream
_FIRST_STREAMS = {
    b"\xec\xa5": "worddocument",
    b"\x09\x08\x10\x00": "workbook",
    b"\x09\x08\x08\x00": "book",
    b"\x0f\x00\xe8\x03": "powerpoint document",
}


def salvage_main_stream(body: bytes) -> dict[str, bytes]:
    """Recover the main stream if the directory is lost: programs write it first, and the directory last."""
    name = next((name for mark, name in _FIRST_STREAMS.items() if body.startswith(mark, _HEADER)), None)
    return {name: body[_HEADER:]} if name is not None else {}


def open_ole(body: bytes) -> Any:
    """Open an OLE2 file with olefile; ValueError if its tables claim more sectors than the file has.

    olefile would read such tables in cycles.
    """
    counts = [int.from_bytes(body[at : at + 4], "little") for at in (44, 64, 72)]
    if max(counts) > len(body) // 512:
        raise ValueError("tables that are larger than the file")
    return olefile.OleFileIO(BytesIO(body))


def top_names(body: bytes) -> frozenset[str]:
    """The names of the top-level streams and storages, in lower case."""
    try:
        with open_ole(body.ljust(SMALLEST, b"\0")) as file:
            return frozenset(path[0].lower() for path in file.listdir())
    except OLEFILE_ERRORS:
        return frozenset(salvage_main_stream(body))
