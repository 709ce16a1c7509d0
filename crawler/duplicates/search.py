"""Find the stored sketches that are nearest to a given one by a scan over all of them; works for any threshold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import nsmallest
from math import sqrt
from typing import Final, NamedTuple

import numpy as np

from crawler.duplicates.bands import SKETCH_DTYPE
from crawler.duplicates.minhash import PERMUTATIONS

_DEVIATIONS: Final = 3.0  # standard deviations: one estimate in some hundreds is further off


class SearchCandidate(NamedTuple):
    """A document that may be a near-duplicate."""

    number: int  # of its row in the table urls
    document: int
    estimate: float


class NearestDocuments(NamedTuple):
    """The candidates with the highest estimates, the highest first; and how many more reach the floor."""

    candidates: list[SearchCandidate]
    more: int


def find_nearest_sketches(
    sketch: bytes, blocks: Iterable[Sequence[tuple[int, int, bytes]]], floor: float, most: int
) -> NearestDocuments:
    """Scan blocks of (number, document, sketch) once, for up to `most` candidates with estimates of `floor` or more."""
    own = np.frombuffer(sketch, dtype=SKETCH_DTYPE)["minhashes"]
    best: list[SearchCandidate] = []
    count = 0
    for block in blocks:
        rows = [row for row in block if len(row[2]) == SKETCH_DTYPE.itemsize]
        if not rows:
            continue
        minhashes = np.frombuffer(b"".join(row[2] for row in rows), dtype=SKETCH_DTYPE)["minhashes"]
        shares = np.count_nonzero(minhashes == own, axis=1) / PERMUTATIONS
        near = np.flatnonzero(shares >= floor).tolist()
        count += len(near)
        best += [SearchCandidate(*rows[place][:2], float(shares[place])) for place in near]
        best = nsmallest(most, best, key=lambda candidate: (-candidate.estimate, candidate.number))
    return NearestDocuments(best, count - len(best))


def lowest_estimate(threshold: float) -> float:
    """The lowest estimate to expect for a pair of this similarity: threshold minus three standard deviations.

    >>> round(lowest_estimate(0.8), 3), round(lowest_estimate(0.98), 2), lowest_estimate(1.0)
    (0.715, 0.95, 1.0)
    """
    return threshold - _DEVIATIONS * sqrt(threshold * (1 - threshold) / PERMUTATIONS)
