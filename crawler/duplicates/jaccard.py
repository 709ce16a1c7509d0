"""How much do two documents have in common, counted and not estimated?"""

from __future__ import annotations

import numpy as np

from crawler.duplicates.words import Hashes, word_hashes


def jaccard(one: Hashes, other: Hashes) -> float:
    """The share of what either of two sets has that both have; sets are sorted. Nothing has nothing in common."""
    if not len(one) or not len(other):
        return 0.0
    common = len(np.intersect1d(one, other, assume_unique=True))
    return common / (len(one) + len(other) - common)


def containment(part: Hashes, whole: Hashes) -> float:
    """The share of a set that another has, too."""
    return len(np.intersect1d(part, whole, assume_unique=True)) / len(part) if len(part) else 0.0


def cosine(one: str, other: str) -> float:
    """Of two texts as vectors that count their words.

    >>> round(cosine("to be or not to be", "not to be"), 3)
    0.913
    """
    (words, counts), (others, their_counts) = (
        np.unique(word_hashes(text), return_counts=True) for text in (one, other)
    )
    if not len(words) or not len(others):
        return 0.0
    _, here, there = np.intersect1d(words, others, assume_unique=True, return_indices=True)
    product = float(np.dot(counts[here], their_counts[there]))
    return product / float(np.sqrt(np.dot(counts, counts)) * np.sqrt(np.dot(their_counts, their_counts)))
