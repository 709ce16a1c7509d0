"""Which documents of a collection may be near-duplicates of one? All sketches are looked at, so any threshold will do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import nsmallest
from math import sqrt
from typing import Final, NamedTuple

import numpy as np

from crawler.duplicates.bands import STORED
from crawler.duplicates.minhash import PERMUTATIONS

_DEVIATIONS: Final = 3.0  # standard deviations: further off is one estimate in some hundreds


class SearchCandidate(NamedTuple):
    """A document that may be one."""

    number: int  # as in urls
    document: int
    estimate: float


class NearestDocuments(NamedTuple):
    """Those with the highest estimates, the highest first; and how many more there are."""

    candidates: list[SearchCandidate]
    more: int


def nearest(
    sketch: bytes, blocks: Iterable[Sequence[tuple[int, int, bytes]]], floor: float, most: int
) -> NearestDocuments:
    """Go through blocks of (number, document, sketch) once; estimates below the floor do not count."""
    own = np.frombuffer(sketch, dtype=STORED)["marks"]
    kept: list[SearchCandidate] = []
    count = 0
    for block in blocks:
        rows = [row for row in block if len(row[2]) == STORED.itemsize]
        if not rows:
            continue
        marks = np.frombuffer(b"".join(row[2] for row in rows), dtype=STORED)["marks"]
        shares = np.count_nonzero(marks == own, axis=1) / PERMUTATIONS
        near = np.flatnonzero(shares >= floor).tolist()
        count += len(near)
        kept += [SearchCandidate(*rows[place][:2], float(shares[place])) for place in near]
        kept = nsmallest(most, kept, key=lambda candidate: (-candidate.estimate, candidate.number))
    return NearestDocuments(kept, count - len(kept))


def floor_for(threshold: float) -> float:
    """The least estimate that a document of this similarity has, but for few.

    >>> round(floor_for(0.8), 3), round(floor_for(0.98), 2), floor_for(1.0)
    (0.715, 0.95, 1.0)
    """
    return threshold - _DEVIATIONS * sqrt(threshold * (1 - threshold) / PERMUTATIONS)
