"""MinHash sketches: estimate the similarity of two documents from a few hundred bytes of each.

MinHash orders all possible shingles at random and keeps the first (the minimum) of each document. The minima of two
documents are equal with a probability that is their Jaccard coefficient; over many orders, the share of equal minima
estimates it. Here a single order serves for all (one-permutation hashing): the shingles are distributed over bins, and
each bin keeps its minimum (Li, Owen and Zhang 2012). A bin that stays empty borrows the minimum of another bin, drawn
once and the same for every document (optimal densification, Shrivastava 2017). This takes one pass and is as exact as
that many permutations: a tenth more exact for documents of a few hundred shingles, since no shingle counts twice, and a
fifth less for those of forty.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from crawler.duplicates.shingles import SHINGLE_WORDS, shingles
from crawler.duplicates.words import Hashes, mix_bits, word_hashes

PERMUTATIONS: Final = 200
_RANDOM_DONORS: Final = 64  # randomly drawn bins that an empty bin tries before it tries all others in turn
_LOW_HALF: Final = np.uint64(0xFFFFFFFF)
_HALF: Final = np.uint64(32)
_EMPTY: Final = np.uint64(0xFFFFFFFFFFFFFFFF)

MinHashes = NDArray[np.uint16]


@dataclass(frozen=True, slots=True, eq=False)
class Sketch:
    """A MinHash sketch: `marks` are the low 16 bits of each bin's minimum; none for a document without words."""

    marks: MinHashes

    def to_bytes(self) -> bytes:
        return self.marks.astype("<u2").tobytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> Sketch:
        return cls(np.frombuffer(data, dtype="<u2"))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sketch) and np.array_equal(self.marks, other.marks)

    def __hash__(self) -> int:
        return hash(self.to_bytes())


def sketch(text: str, *, shingle: int = SHINGLE_WORDS, permutations: int = PERMUTATIONS) -> Sketch:
    """The sketch of a text, with shingles of `shingle` words and `permutations` bins."""
    return sketch_of_shingles(shingles(word_hashes(text), shingle), permutations)


def sketch_of_shingles(hashes: Hashes, permutations: int = PERMUTATIONS) -> Sketch:
    """The sketch of shingles in any order; repeated ones make no difference."""
    return Sketch(bin_minima(hashes, permutations).astype(np.uint16))


def bin_minima(hashes: Hashes, permutations: int = PERMUTATIONS) -> Hashes:
    """The minimum of each bin: a sample of the shingles that agrees between documents as often as their shingles do."""
    if not len(hashes):
        return hashes
    # A hash's upper half, multiplied by the number of bins, gives the bin and the order in it; its lower half is the
    # value that is kept.
    spread = (hashes >> _HALF) * np.uint64(permutations)
    bins = (spread >> _HALF).astype(np.intp)
    minima = np.full(permutations, _EMPTY, dtype=np.uint64)
    np.minimum.at(minima, bins, (spread << _HALF) | (hashes & _LOW_HALF))
    return _fill_empty_bins(minima)


def similarity(one: Sketch, other: Sketch) -> float:
    """Estimate the Jaccard coefficient of two documents' shingles from their sketches.

    >>> text = " ".join(map(str, range(500)))
    >>> similarity(sketch(text), sketch(text)), similarity(sketch(text), sketch("")), similarity(sketch(""), sketch(""))
    (1.0, 0.0, 0.0)
    """
    if not len(one.marks) or not len(other.marks):
        return 0.0
    if len(one.marks) != len(other.marks):
        raise ValueError(f"sketches of {len(one.marks)} and {len(other.marks)} permutations cannot be compared")
    return float(np.count_nonzero(one.marks == other.marks)) / len(one.marks)


def _fill_empty_bins(minima: Hashes) -> Hashes:
    """Give each empty bin the minimum of the first donor bin that has one."""
    empty = np.flatnonzero(minima == _EMPTY)
    if not len(empty):
        return minima
    is_filled = minima != _EMPTY
    filled = minima.copy()
    for donors_of in _donor_bins(len(minima)):
        donors = donors_of[empty]
        can_lend = is_filled[donors]
        filled[empty[can_lend]] = _borrowed_minima(minima[donors[can_lend]], empty[can_lend])
        empty = empty[~can_lend]
        if not len(empty):
            break
    return filled


def _borrowed_minima(minima: Hashes, borrowers: NDArray[np.intp]) -> Hashes:
    """Hash a borrowed minimum with the borrower's number: two bins with the same donor must not agree by that alone."""
    return mix_bits(minima + borrowers.astype(np.uint64))


@cache
def _donor_bins(bins: int) -> list[NDArray[np.intp]]:
    """For each bin its first donor, its second …: random bins, the same for all documents, and then every other bin."""
    numbers = mix_bits(np.arange(_RANDOM_DONORS * bins, dtype=np.uint64) + np.uint64(1)).reshape(_RANDOM_DONORS, bins)
    drawn = (((numbers >> _HALF) * np.uint64(bins)) >> _HALF).astype(np.intp)
    places = np.arange(bins, dtype=np.intp)
    return [*drawn, *((places + step) % bins for step in range(1, bins))]
