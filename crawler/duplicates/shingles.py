"""Turn a document into its shingles: every run of a few consecutive words, hashed to one 64-bit number."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from crawler.duplicates.words import Hashes, mix_bits, word_hashes

SHINGLE_WORDS: Final = 5
_BASE: Final = np.uint64(0xD6E8FEB86659FD93)  # odd: the hash of a run is a polynomial over those of its words


def shingles(words: Hashes, size: int = SHINGLE_WORDS) -> Hashes:
    """The hash of every run of `size` words, repeated as often as it occurs; a shorter text is one shingle.

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
    return mix_bits(runs)


def shingle_set(text: str, size: int = SHINGLE_WORDS) -> Hashes:
    """The different shingles of a text, sorted."""
    return np.unique(shingles(word_hashes(text), size))


def set_difference(own: Hashes, others: Hashes) -> Hashes:
    """The members of one sorted set that are not in another."""
    if not len(others) or not len(own):
        return own
    places = np.searchsorted(others, own)
    is_new: NDArray[np.bool] = others[np.minimum(places, len(others) - 1)] != own
    return own[is_new]
