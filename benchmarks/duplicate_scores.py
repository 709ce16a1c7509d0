"""Score MinHash and simhash on pairs of documents, for the comparison of methods."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crawler.duplicates.evaluation import DocumentPairs, Quality, Verdicts, compare_pairs, minhash_matrix, quality
from crawler.duplicates.minhash import PERMUTATIONS
from crawler.duplicates.simhash import simhash_of_words


def estimates(corpus: DocumentPairs, permutations: int = PERMUTATIONS) -> NDArray[np.float64]:
    """Return MinHash's estimate of the similarity of each pair."""
    return compare_pairs(
        corpus, minhash_matrix(corpus.sets, permutations), lambda one, other: (one == other).mean(axis=1)
    )


def agreements(corpus: DocumentPairs, bits: int) -> NDArray[np.float64]:
    """Count the bits in which the simhashes of each pair agree."""
    numbers = [simhash_of_words(words, bits).to_bytes(bits // 8, "little") for words in corpus.words]
    rows = np.frombuffer(b"".join(numbers), dtype=np.uint8).reshape(len(numbers), -1)
    return compare_pairs(
        corpus, rows, lambda one, other: bits - np.bitwise_count(one ^ other).sum(axis=1, dtype=np.int64)
    )


def best_cut(values: NDArray[np.float64], truth: Verdicts) -> tuple[float, Quality]:
    """Return the limit with the best F1 on these very pairs, which is known only with hindsight."""
    cuts = {float(cut): quality(values >= cut, truth) for cut in np.unique(values[truth])}
    return max(cuts.items(), key=lambda item: item[1].f1)
