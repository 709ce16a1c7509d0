"""A document as the set of its shingles: all runs of a few words, each as one 64-bit number."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from crawler.duplicates.words import Hashes, mixed, word_hashes

SIZE: Final = 5  # words
_BASE: Final = np.uint64(0xD6E8FEB86659FD93)  # odd: the hash of a run is a polynomial over those of its words


def shingles(words: Hashes, size: int = SIZE) -> Hashes:
    """One for each run of so many words, as often as it occurs; a text that has fewer is one run.

    >>> len(set(shingles(word_hashes("a rose is a rose is a rose"), 4).tolist()))
    3
    """
    count = len(words) - size + 1
    if count < 1:
        return shingles(words, len(words)) if len(words) else words
    runs = words[:count].copy()
    for place in range(1, size):
        runs *= _BASE
        runs += words[place : place + count]
    return mixed(runs)


def shingle_set(text: str, size: int = SIZE) -> Hashes:
    """Of a text: sorted, each once."""
    return np.unique(shingles(word_hashes(text), size))


def without(own: Hashes, others: Hashes) -> Hashes:
    """Those of a set that are not in another; both are sorted."""
    if not len(others) or not len(own):
        return own
    places = np.searchsorted(others, own)
    is_new: NDArray[np.bool] = others[np.minimum(places, len(others) - 1)] != own
    return own[is_new]
