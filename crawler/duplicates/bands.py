"""Which documents are worth comparing? Those that agree in a whole band of their sketches, or nearly in their simhashes.

A band is a run of marks, told by one number. Two documents of similarity s agree in a band of r marks with the
probability s to the power of r, so with b bands they meet with 1 - (1 - s^r)^b: a step that can be put where it is wanted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np

from crawler.duplicates.minhash import PERMUTATIONS, Marks, Sketch
from crawler.duplicates.words import Hashes, mixed

SURE: Final = 0.985  # at the threshold itself, so many pairs meet; above it soon all
_BELOW: Final = 0.3  # that far below the threshold …
_RARE: Final = 0.1  # … few do
STORED: Final = np.dtype([("marks", "<u2", (PERMUTATIONS,)), ("simhash", "<u8")])  # as stores keep a sketch
_HALF: Final = np.uint64(0xFFFFFFFF)
SIMHASH_PARTS: Final = (
    2  # halves of 64 bits: numbers that differ in one bit agree in one, half of those that differ in two
)
_SIMHASH: Final = 1 << 15  # the first number of keys that are none of bands


class Bands(NamedTuple):
    """How a sketch is cut."""

    number: int
    rows: int

    def meets(self, similarity: float) -> float:
        """The chance that two documents of this similarity agree in a band.

        >>> Bands(9, 9).meets(0.9) > 0.985, Bands(9, 9).meets(0.5) < 0.02
        (True, True)
        """
        return float(1.0 - (1.0 - similarity**self.rows) ** self.number)


@lru_cache(maxsize=64)
def bands_for(threshold: float, permutations: int) -> Bands:
    """The fewest bands in which nearly all pairs at the threshold meet and few do that are far below it.

    >>> bands_for(0.9, 200), bands_for(0.8, 200)
    (Bands(number=9, rows=9), Bands(number=23, rows=8))
    """
    enough = [
        bands
        for rows in range(1, permutations + 1)
        if (bands := _fewest(threshold, rows, permutations // rows)) is not None
    ]
    selective = [bands for bands in enough if bands.meets(max(threshold - _BELOW, 0.0)) <= _RARE]
    if selective:
        return min(selective)
    return max(enough, key=lambda bands: bands.rows, default=Bands(permutations, 1))


def _fewest(threshold: float, rows: int, most: int) -> Bands | None:
    cuts = (Bands(count, rows) for count in range(1, most + 1))
    return next((bands for bands in cuts if bands.meets(threshold) >= SURE), None)


def keys_of(sketches: Sequence[bytes], bands: Bands) -> list[list[int]]:
    """The keys of documents, as stores keep sketches and keys: signed, and different ones for different bands."""
    rows = np.frombuffer(b"".join(sketches), dtype=STORED)
    columns = [*band_columns(rows["marks"], bands), *simhash_columns(rows["simhash"])]
    found: list[list[int]] = np.stack(columns, axis=1).view(np.int64).tolist()
    return found


def band_columns(marks: Marks, bands: Bands) -> Iterator[Hashes]:
    """The keys of many documents, band by band: equal where all marks of a band are."""
    factors = mixed(np.arange(1, bands.rows + 1, dtype=np.uint64))
    for number in range(bands.number):
        own = marks[:, number * bands.rows : (number + 1) * bands.rows]
        yield _numbered((own * factors).sum(axis=1, dtype=np.uint64), number)


def simhash_columns(simhashes: Hashes) -> Iterator[Hashes]:
    """The same for each half of a simhash."""
    for number, half in enumerate((simhashes & _HALF, simhashes >> np.uint64(32))):
        yield _numbered(half, _SIMHASH + number)


def estimates(one: Sketch, others: list[Sketch]) -> list[float]:
    """How similar one is to each of several, of which some may have no words."""
    filled = [other.marks for other in others if len(other.marks)]
    if not filled or not len(one.marks):
        return [0.0] * len(others)
    shares = iter((np.stack(filled) == one.marks).mean(axis=1).tolist())
    return [next(shares) if len(other.marks) else 0.0 for other in others]


def _numbered(keys: Hashes, number: int) -> Hashes:
    return mixed(mixed(keys) + np.uint64(number))
