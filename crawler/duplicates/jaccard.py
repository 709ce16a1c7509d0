"""Exact similarity of two documents: Jaccard coefficient, containment and cosine."""

from __future__ import annotations

import numpy as np

from crawler.duplicates.words import Hashes, word_hashes


def jaccard(one: Hashes, other: Hashes) -> float:
    """The size of the intersection of two sorted sets divided by that of their union; 0 if one of them is empty."""
    if not len(one) or not len(other):
        return 0.0
    common = len(np.intersect1d(one, other, assume_unique=True))
    return common / (len(one) + len(other) - common)


def containment(part: Hashes, whole: Hashes) -> float:
    """The share of a set's members that are in another set as well."""
    return len(np.intersect1d(part, whole, assume_unique=True)) / len(part) if len(part) else 0.0


def cosine(one: str, other: str) -> float:
    """The cosine of the angle between two texts as vectors of word counts.

    >>> round(cosine("to be or not to be", "not to be"), 3)
    0.913
    """
    (words, counts), (other_words, other_counts) = (
        np.unique(word_hashes(text), return_counts=True) for text in (one, other)
    )
    if not len(words) or not len(other_words):
        return 0.0
    _, here, there = np.intersect1d(words, other_words, assume_unique=True, return_indices=True)
    product = float(np.dot(counts[here], other_counts[there]))
    return product / float(np.sqrt(np.dot(counts, counts)) * np.sqrt(np.dot(other_counts, other_counts)))
