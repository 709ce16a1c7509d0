"""A small sketch of a page's text, to compare error pages: a bottom-k sketch of hashed word 3-grams."""

from __future__ import annotations

import re
import struct
from heapq import nsmallest

from xxhash import xxh3_64_intdigest

SIZE = 64  # hashes kept: the smallest ones, so that two pages keep the same ones of what they have in common
_RUN = 3  # words of a shingle
_WORD = re.compile(r"[^\W\d_]+")


def soft404_sketch(text: str, url: str) -> bytes:
    """Sketch a text without the words of its URL, which error pages often repeat; empty if no words are left."""
    words_of_url = set(_WORD.findall(url.lower()))
    words = [word for word in _WORD.findall(text.lower()) if word not in words_of_url]
    runs = {" ".join(words[at : at + _RUN]) for at in range(max(len(words) - _RUN + 1, 1))} - {""}
    least = nsmallest(SIZE, {xxh3_64_intdigest(run.encode("utf-8", "surrogatepass")) for run in runs})
    return struct.pack(f"<{len(least)}Q", *least)


def soft404_similarity(one: bytes, other: bytes) -> float:
    """Estimate the resemblance (Jaccard similarity of their shingles) of two pages from their sketches.

    >>> text = "We are sorry but there is no such page here any more"
    >>> soft404_similarity(soft404_sketch(text, "http://a.test/b"), soft404_sketch(text + " b", "http://a.test/b"))
    1.0
    """
    ours, theirs = (set(struct.unpack(f"<{len(half) // 8}Q", half)) for half in (one, other))
    if not ours or not theirs:
        return 0.0
    least = nsmallest(SIZE, ours | theirs)
    return sum(number in ours and number in theirs for number in least) / len(least)
