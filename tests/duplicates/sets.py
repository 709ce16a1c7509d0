"""Random pairs of shingle sets with a given Jaccard coefficient; and the keys of a single document."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from crawler.duplicates.bands import Bands, minhash_key_columns, simhash_key_columns
from crawler.duplicates.minhash import Sketch
from crawler.duplicates.words import Hashes


def pairs(number: int, size: int, similarity: float, seed: int = 1) -> Iterator[tuple[Hashes, Hashes]]:
    """Pairs of sorted sets of equal size; their Jaccard coefficient is as near as whole numbers allow."""
    chance = np.random.default_rng(seed)
    common = round(2 * size * similarity / (1 + similarity))
    for _ in range(number):
        both = chance.integers(0, 2**64, 2 * size - common, dtype=np.uint64)
        yield np.sort(both[:size]), np.sort(both[size - common :])


def band_keys(sketch: Sketch, bands: Bands) -> list[int]:
    """The keys of one sketch, one per band."""
    return (
        [int(column[0]) for column in minhash_key_columns(sketch.marks.reshape(1, -1), bands)]
        if len(sketch.marks)
        else []
    )


def simhash_keys(simhash: int) -> list[int]:
    return [int(column[0]) for column in simhash_key_columns(np.array([simhash], dtype=np.uint64))]
