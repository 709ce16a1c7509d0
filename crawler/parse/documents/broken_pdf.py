"""PDF whose end is missing: the end holds the list of pages, without which nothing can be found.

PDFium looks for objects by itself where their table is missing. So it gets what was lost: a list of all the pages that
are there, and the objects that lie packed in others, which it would not look into.
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
_COST_OF_ATTEMPT = 16_384  # bytes that each attempt counts for: a thousand of them are enough


def repair_pdf(body: bytes) -> bytes:
    """The file with an end; nothing if no page is left."""
    pages, highest, packed = _scan_objects(body)
    if not pages:
        return b""
    catalog = max(highest, *packed) + 1 if packed else highest + 1
    kids = " ".join(f"{number} 0 R" for number in pages[:MOST_PARTS])
    added = b"".join(b"%d 0 obj\n%b\nendobj\n" % (number, data) for number, data in packed.items())
    end = (
        f"{catalog} 0 obj\n<</Type/Catalog/Pages {catalog + 1} 0 R>>\nendobj\n"
        f"{catalog + 1} 0 obj\n<</Type/Pages/Count {len(pages[:MOST_PARTS])}/Kids[{kids}]/MediaBox[0 0 612 792]>>\nendobj\n"
        f"trailer\n<</Root {catalog} 0 R/Size {catalog + 2}>>\nstartxref\n0\n%%EOF\n"
    )
    return body + b"\nendstream\nendobj\n" + added + end.encode("ascii")


def _scan_objects(body: bytes) -> tuple[list[int], int, dict[int, bytes]]:
    """The numbers of all pages, the highest number, and the objects that were packed in others."""
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
    """Numbers and places of objects stand before them (ISO 32000 §7.5.7)."""
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
