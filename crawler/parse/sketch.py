"""Do two pages say almost the same? A page's words as few numbers, by which that can be told later."""

from __future__ import annotations

import re
import struct
from heapq import nsmallest

from xxhash import xxh3_64_intdigest

SIZE = 64  # numbers kept: the least of all, so that both pages keep the same ones of what they have in common
_RUN = 3  # words that count as one
_WORD = re.compile(r"[^\W\d_]+")


def sketch(text: str, url: str) -> bytes:
    """Of the words but those of the URL, which pages for what is not there like to repeat. Empty if there are none."""
    named = set(_WORD.findall(url.lower()))
    words = [word for word in _WORD.findall(text.lower()) if word not in named]
    runs = {" ".join(words[at : at + _RUN]) for at in range(max(len(words) - _RUN + 1, 1))} - {""}
    least = nsmallest(SIZE, {xxh3_64_intdigest(run.encode("utf-8", "surrogatepass")) for run in runs})
    return struct.pack(f"<{len(least)}Q", *least)


def similarity(one: bytes, other: bytes) -> float:
    """The share of the runs of words that two pages have in common, as far as their sketches tell.

    >>> text = "We are sorry but there is no such page here any more"
    >>> similarity(sketch(text, "http://a.test/b"), sketch(text + " b", "http://a.test/b"))
    1.0
    """
    ours, theirs = (set(struct.unpack(f"<{len(half) // 8}Q", half)) for half in (one, other))
    if not ours or not theirs:
        return 0.0
    least = nsmallest(SIZE, ours | theirs)
    return sum(number in ours and number in theirs for number in least) / len(least)
