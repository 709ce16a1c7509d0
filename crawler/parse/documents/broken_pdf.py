"""Repair truncated PDF files, whose list of pages is lost with their end.

PDFium finds objects by itself where the cross-reference table is missing. What it lacks is appended: a list of all the
pages in the file, and the objects inside object streams, which it does not search.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from itertools import islice

from crawler.parse.documents.draft import MOST_PARTS

_OBJECT = re.compile(rb"(\d{1,9})[ \t\r\n]+(\d{1,5})[ \t\r\n]+obj\b")
_IS_PAGE = re.compile(rb"/Type\s*/Page\b(?!s)")
_OBJECT_STREAM = re.compile(rb"/Type\s*/ObjStm\b")
_COUNT, _FIRST = re.compile(rb"/N\s+(\d{1,5})\b"), re.compile(rb"/First\s+(\d{1,7})\b")
_STREAM = re.compile(rb"stream\r?\n")
_LONGEST_HEAD = 4_096
_MOST_OBJECTS = 200_000
_LONGEST_PACKED = 1 << 20
_MOST_UNPACKED = 16 << 20
_COST_OF_ATTEMPT = 16_384  # bytes charged for each attempt, so that there are about a thousand at most


def repair_pdf(body: bytes) -> bytes:
    """Append a catalog and a list of pages to a truncated file; empty if no page is left."""
    pages, highest, packed = _scan_objects(body)
    if not pages:
        return b""
    catalog = max(highest, *packed) + 1 if packed else highest + 1
    kids = " ".join(f"{number} 0 R" for number in pages[:MOST_PARTS])
    added = b"".join(b"%d 0 obj\n%b\nendobj\n" % (number, data) for number, data in packed.items())
    end = (
        f"{catalog} 0 obj\n<</Type/Catalog/Pages {catalog + 1} 0 R>>\nendobj\n"
        f"{catalog + 1} 0 obj\n<</Type/Pages/Count {len(pages[:MOST_PARTS])}/Kids[{kids}]"
        "/MediaBox[0 0 612 792]>>\nendobj\n"
        f"trailer\n<</Root {catalog} 0 R/Size {catalog + 2}>>\nstartxref\n0\n%%EOF\n"
    )
    return body + b"\nendstream\nendobj\n" + added + end.encode("ascii")


def _scan_objects(body: bytes) -> tuple[list[int], int, dict[int, bytes]]:
    """Scan for objects: the numbers of all pages, the highest number, and the objects in object streams."""
    pages: list[int] = []
    packed: dict[int, bytes] = {}
    highest, room = 0, _MOST_UNPACKED
    for found in islice(_OBJECT.finditer(body), _MOST_OBJECTS):
        number, start = int(found[1]), found.end()
        end = body.find(b"endobj", start, start + _LONGEST_HEAD)
        head = body[start : end if end >= 0 else start + _LONGEST_HEAD]
        stream = _STREAM.search(head)
        highest = max(highest, number)
        if stream is None:
            pages += [number] if _IS_PAGE.search(head) else []
        elif room > 0 and _OBJECT_STREAM.search(head, 0, stream.start()):
            data = _inflate(body, start + stream.end(), room)
            room -= len(data) + _COST_OF_ATTEMPT
            packed.update(_objects_in_stream(head, data))
    pages += [number for number, data in packed.items() if _IS_PAGE.search(data)]
    return pages, highest, packed


def _inflate(body: bytes, start: int, most: int) -> bytes:
    try:
        return zlib.decompressobj().decompress(body[start : start + _LONGEST_PACKED], most)
    except zlib.error:
        return b""


def _objects_in_stream(head: bytes, data: bytes) -> Iterator[tuple[int, bytes]]:
    """The objects in an object stream; their numbers and offsets precede them (ISO 32000 §7.5.7)."""
    count, first = _COUNT.search(head), _FIRST.search(head)
    if count is None or first is None:
        return
    start = int(first[1])
    numbers = [
        int(number) for number in data[:start].split()[: 2 * int(count[1])] if number.isdigit() and len(number) < 10
    ]
    places = [*numbers[1::2], len(data) - start]
    for number, begin, end in zip(numbers[::2], places, places[1:], strict=False):
        yield number, data[start + begin : start + end]
