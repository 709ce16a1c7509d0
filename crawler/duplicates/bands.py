"""Locality-sensitive hashing: select the pairs of documents that are worth comparing by the keys that they share.

A band is a run of a sketch's minhashes, hashed to one key. Two documents of similarity s agree in a band of r minhashes
with probability s^r, so with b bands they share a key with probability 1 - (1 - s^r)^b: a step that can be placed at
the threshold. The halves of a simhash are keys as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np

from crawler.duplicates.minhash import PERMUTATIONS, MinHashes, Sketch
from crawler.duplicates.words import Hashes, mix_bits

RECALL_AT_THRESHOLD: Final = 0.985  # share of pairs right at the threshold that must share a key; above it soon all do
_FAR_BELOW: Final = 0.3  # at this distance below the threshold …
_MAX_FALSE_CANDIDATES: Final = 0.1  # … at most this share of pairs may share a key
# A sketch as stores keep it.
SKETCH_DTYPE: Final = np.dtype([("minhashes", "<u2", (PERMUTATIONS,)), ("simhash", "<u8")])
_LOW_HALF: Final = np.uint64(0xFFFFFFFF)
# Halves of 64 bits: simhashes that differ in one bit agree in one half, and so do half of those that differ in two.
SIMHASH_PARTS: Final = 2
_FIRST_SIMHASH_BAND: Final = 1 << 15  # keys of simhash halves are numbered from here, after all bands


class Bands(NamedTuple):
    """How a sketch is divided: the number of bands, and the minhashes (rows) of each."""

    number: int
    rows: int

    def collision_probability(self, similarity: float) -> float:
        """The probability that two documents of this similarity agree in at least one band.

        >>> Bands(9, 9).collision_probability(0.9) > 0.985, Bands(9, 9).collision_probability(0.5) < 0.02
        (True, True)
        """
        return float(1.0 - (1.0 - similarity**self.rows) ** self.number)


@lru_cache(maxsize=64)
def bands_for(threshold: float, permutations: int) -> Bands:
    """The fewest bands with which nearly all pairs at the threshold share a key and few that are far below it do.

    >>> bands_for(0.9, 200), bands_for(0.8, 200)
    (Bands(number=9, rows=9), Bands(number=23, rows=8))
    """
    enough = [
        bands
        for rows in range(1, permutations + 1)
        if (bands := _fewest_bands(threshold, rows, permutations // rows)) is not None
    ]
    selective = [
        bands
        for bands in enough
        if bands.collision_probability(max(threshold - _FAR_BELOW, 0.0)) <= _MAX_FALSE_CANDIDATES
    ]
    if selective:
        return min(selective)
    return max(enough, key=lambda bands: bands.rows, default=Bands(permutations, 1))


def _fewest_bands(threshold: float, rows: int, most: int) -> Bands | None:
    cuts = (Bands(count, rows) for count in range(1, most + 1))
    return next((bands for bands in cuts if bands.collision_probability(threshold) >= RECALL_AT_THRESHOLD), None)


def document_keys(sketches: Sequence[bytes], bands: Bands) -> list[list[int]]:
    """All keys of each document, from sketches as stores keep them: signed 64-bit numbers, different for each band."""
    rows = np.frombuffer(b"".join(sketches), dtype=SKETCH_DTYPE)
    columns = [*minhash_key_columns(rows["minhashes"], bands), *simhash_key_columns(rows["simhash"])]
    keys: list[list[int]] = np.stack(columns, axis=1).view(np.int64).tolist()
    return keys


def minhash_key_columns(minhashes: MinHashes, bands: Bands) -> Iterator[Hashes]:
    """The keys of many documents, one column per band: two keys are equal if all minhashes of the band are."""
    factors = mix_bits(np.arange(1, bands.rows + 1, dtype=np.uint64))
    for number in range(bands.number):
        own = minhashes[:, number * bands.rows : (number + 1) * bands.rows]
        yield _key_in_band((own * factors).sum(axis=1, dtype=np.uint64), number)


def simhash_key_columns(simhashes: Hashes) -> Iterator[Hashes]:
    """The keys of many documents, one column per half of the simhash."""
    for number, half in enumerate((simhashes & _LOW_HALF, simhashes >> np.uint64(32))):
        yield _key_in_band(half, _FIRST_SIMHASH_BAND + number)


def estimate_similarities(one: Sketch, others: list[Sketch]) -> list[float]:
    """Estimate the similarity of one sketch to each of several; it is 0 to the sketch of a document without words."""
    filled = [other.marks for other in others if len(other.marks)]
    if not filled or not len(one.marks):
        return [0.0] * len(others)
    shares = iter((np.stack(filled) == one.marks).mean(axis=1).tolist())
    return [next(shares) if len(other.marks) else 0.0 for other in others]


def _key_in_band(keys: Hashes, number: int) -> Hashes:
    """Hash the band's number into its keys, so that equal values in different bands get different keys."""
    return mix_bits(mix_bits(keys) + np.uint64(number))
