"""How alike are two documents, told from a few hundred bytes of each?

MinHash: order all shingles there could be at random, and of each document keep the first. Two documents keep the same with
a probability that is their Jaccard coefficient; do it many times, and the share of agreements is an estimate of it.
Here one order serves for all: the shingles are dealt into bins, and each bin keeps its first (Li, Owen and Zhang 2012).
A bin that stays empty borrows from another one that the same draw names for every document (Shrivastava 2017). That takes
one pass and is as exact as so many permutations: for documents of a few hundred shingles a tenth more so, since no shingle
counts twice, for those of forty a fifth less.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from crawler.duplicates.shingles import SIZE, shingles
from crawler.duplicates.words import Hashes, mixed, word_hashes

PERMUTATIONS: Final = 200
_DRAWS: Final = 64  # bins that an empty one asks before it goes along the row
_LOW: Final = np.uint64(0xFFFFFFFF)
_HALF: Final = np.uint64(32)
_EMPTY: Final = np.uint64(0xFFFFFFFFFFFFFFFF)

Marks = NDArray[np.uint16]


@dataclass(frozen=True, slots=True, eq=False)
class Sketch:
    """16 bits of the first shingle of each bin; none at all of a document without words."""

    marks: Marks

    def to_bytes(self) -> bytes:
        return self.marks.astype("<u2").tobytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> Sketch:
        return cls(np.frombuffer(data, dtype="<u2"))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sketch) and np.array_equal(self.marks, other.marks)

    def __hash__(self) -> int:
        return hash(self.to_bytes())


def sketch(text: str, *, shingle: int = SIZE, permutations: int = PERMUTATIONS) -> Sketch:
    """Of a text; with shingles of so many words, and so many bins."""
    return sketch_of(shingles(word_hashes(text), shingle), permutations)


def sketch_of(found: Hashes, permutations: int = PERMUTATIONS) -> Sketch:
    """Of shingles in any order; it does not matter how often each is among them."""
    return Sketch(firsts(found, permutations).astype(np.uint16))


def firsts(found: Hashes, permutations: int = PERMUTATIONS) -> Hashes:
    """The first shingle of each bin: a sample that documents have in common as far as they have their shingles."""
    if not len(found):
        return found
    # Multiplied by the number of bins, the upper half of a number is a bin and a place in it; the lower half is its mark.
    spread = (found >> _HALF) * np.uint64(permutations)
    bins = (spread >> _HALF).astype(np.intp)
    first = np.full(permutations, _EMPTY, dtype=np.uint64)
    np.minimum.at(first, bins, (spread << _HALF) | (found & _LOW))
    return _filled(first)


def similarity(one: Sketch, other: Sketch) -> float:
    """An estimate of the Jaccard coefficient of two documents' shingles.

    >>> text = " ".join(map(str, range(500)))
    >>> similarity(sketch(text), sketch(text)), similarity(sketch(text), sketch("")), similarity(sketch(""), sketch(""))
    (1.0, 0.0, 0.0)
    """
    if not len(one.marks) or not len(other.marks):
        return 0.0
    if len(one.marks) != len(other.marks):
        raise ValueError(f"sketches of {len(one.marks)} and {len(other.marks)} permutations cannot be compared")
    return float(np.count_nonzero(one.marks == other.marks)) / len(one.marks)


def _filled(first: Hashes) -> Hashes:
    """With what empty bins borrow."""
    empty = np.flatnonzero(first == _EMPTY)
    if not len(empty):
        return first
    is_filled = first != _EMPTY
    filled = first.copy()
    for draw in _draws(len(first)):
        asked = draw[empty]
        answers = is_filled[asked]
        filled[empty[answers]] = _lent(first[asked[answers]], empty[answers])
        empty = empty[~answers]
        if not len(empty):
            break
    return filled


def _lent(marks: Hashes, borrowers: NDArray[np.intp]) -> Hashes:
    """What is borrowed looks different in each bin: two that ask the same one must not agree by that alone."""
    return mixed(marks + borrowers.astype(np.uint64))


@cache
def _draws(bins: int) -> list[NDArray[np.intp]]:
    """Which bin each asks first, second …; drawn once and for all, and then all others in turn, so that each ends."""
    numbers = mixed(np.arange(_DRAWS * bins, dtype=np.uint64) + np.uint64(1)).reshape(_DRAWS, bins)
    drawn = (((numbers >> _HALF) * np.uint64(bins)) >> _HALF).astype(np.intp)
    places = np.arange(bins, dtype=np.intp)
    return [*drawn, *((places + step) % bins for step in range(1, bins))]
