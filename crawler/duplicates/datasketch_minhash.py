"""The MinHash of the library datasketch, as a method to compare ours with on labelled pairs."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

from crawler.duplicates.minhash import PERMUTATIONS
from crawler.duplicates.words import Hashes

_BITS = 0xFFFFFFFF  # datasketch orders 32-bit hashes


def is_installed() -> bool:
    return find_spec("datasketch") is not None


def datasketch_matrix(sets: Sequence[Hashes], permutations: int = PERMUTATIONS) -> NDArray[np.uint64]:
    """The minhashes of many documents, one row each, from the same shingles as ours."""
    from datasketch import MinHash  # an optional dependency

    empty = MinHash(num_perm=permutations, hashfunc=lambda shingle: shingle & _BITS)
    rows = np.zeros((len(sets), permutations), dtype=np.uint64)
    for place, shingles in enumerate(sets):
        if len(shingles):
            found = empty.copy()
            found.update_batch(shingles.tolist())
            rows[place] = found.hashvalues
        else:
            rows[place] = place  # documents without words agree nowhere with each other
    return rows
