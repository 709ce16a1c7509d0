"""Read CSV and similar tables; the delimiter is guessed from the first lines."""

from __future__ import annotations

import csv
from io import StringIO

from crawler.parse.documents.draft import Draft

_DELIMITERS = ";\t|,"  # the comma last: it may be part of a number
_SAMPLE = 20  # lines
_LONGEST_CELL = 1 << 20


def read(body: bytes, draft: Draft) -> None:
    text = draft.decode_text(body).replace("\0", "").replace("\r\n", "\n").replace("\r", "\n")
    csv.field_size_limit(_LONGEST_CELL)
    rows = csv.reader(StringIO(text), delimiter=delimiter_of(text), skipinitialspace=True)
    count = 0
    for row in rows:
        draft.row(row)
        count += 1
        if draft.is_full:
            break
    draft.add_metadata("rows", count)


def delimiter_of(text: str) -> str:
    """Guess the delimiter: the one that splits most of the first lines into the same number of cells, at least two.

    >>> delimiter_of("a;b,c;d\\n1;2,5;3"), delimiter_of("word")
    (';', ',')
    """
    lines = [line for line in text[:20_000].split("\n")[:_SAMPLE] if line.strip()]
    counts = {delimiter: [line.count(delimiter) for line in lines] for delimiter in _DELIMITERS}

    def evenness(delimiter: str) -> tuple[int, int]:
        found = [count for count in counts[delimiter] if count]
        common = max(set(found), key=found.count) if found else 0
        return found.count(common) if common else 0, common

    best = max(_DELIMITERS, key=evenness)
    return best if any(counts[best]) else ","
