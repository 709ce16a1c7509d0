"""Which pairs does a method call near-duplicates, and how often is it right?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.duplicate_sets import Corpus
from benchmarks.extraction_sets import Quality, harmonic_mean
from crawler.duplicates.bands import MOST_DIFFERENT, band_keys, bands_for, simhash_keys
from crawler.duplicates.cascade import Rule
from crawler.duplicates.exact import jaccard
from crawler.duplicates.minhash import PERMUTATIONS, similarity, sketch_of
from crawler.duplicates.simhash import agreeing_bits, simhash_of_words

_AT_ONCE = 20_000  # pairs
Said = NDArray[np.bool]
Compare = Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]]


class Cascade(NamedTuple):
    """What the sketches, and the texts where these are in doubt, say of each pair."""

    said: Said
    is_candidate: Said
    needed_texts: Said


def estimates(corpus: Corpus, permutations: int = PERMUTATIONS) -> NDArray[np.float64]:
    """What MinHash takes the similarity of each pair for."""
    marks = np.stack([sketch_of(found, permutations).marks for found in corpus.sets])
    return _by_pair(corpus, marks, lambda one, other: (one == other).mean(axis=1))


def agreements(corpus: Corpus, bits: int) -> NDArray[np.float64]:
    """In how many bits the simhashes of each pair agree."""
    numbers = [simhash_of_words(words, bits).to_bytes(bits // 8, "little") for words in corpus.words]
    rows = np.frombuffer(b"".join(numbers), dtype=np.uint8).reshape(len(numbers), -1)
    return _by_pair(corpus, rows, lambda one, other: bits - np.bitwise_count(one ^ other).sum(axis=1, dtype=np.int64))


def cascade(corpus: Corpus, threshold: float) -> Cascade:
    """Candidates by their keys, then the estimate, then the count. Who never meets is none."""
    rule, bands = Rule(threshold=threshold), bands_for(threshold, PERMUTATIONS)
    sketches = [sketch_of(found) for found in corpus.sets]
    simhashes = [simhash_of_words(words) for words in corpus.words]
    keys = [set(band_keys(sketch, bands)) for sketch in sketches]
    near_keys = [set(simhash_keys(simhash)) for simhash in simhashes]
    said, met, doubted = (np.zeros(len(corpus.one), dtype=np.bool) for _ in range(3))
    for pair, (one, other) in enumerate(zip(corpus.one.tolist(), corpus.other.tolist(), strict=True)):
        if keys[one].isdisjoint(keys[other]) and (
            near_keys[one].isdisjoint(near_keys[other])
            or agreeing_bits(simhashes[one], simhashes[other]) < 64 - MOST_DIFFERENT
        ):
            continue
        verdict = rule.is_duplicate(similarity(sketches[one], sketches[other]))
        met[pair], doubted[pair] = True, verdict is None
        said[pair] = jaccard(corpus.sets[one], corpus.sets[other]) >= threshold if verdict is None else verdict
    return Cascade(said, met, doubted)


def quality(said: Said, truth: Said) -> Quality:
    """Of all that is called a duplicate, what is; of all that is, what is called so.

    >>> quality(np.array([True, True, False, False]), np.array([True, False, True, True]))[:2]
    (0.5, 0.3333333333333333)
    """
    right = int((said & truth).sum())
    precision = right / int(said.sum()) if said.any() else 1.0
    recall = right / int(truth.sum()) if truth.any() else 1.0
    return Quality(precision, recall, harmonic_mean(precision, recall))


def best_cut(values: NDArray[np.float64], truth: Said) -> tuple[float, Quality]:
    """The value from which on pairs are best called duplicates: known only with hindsight."""
    cuts = {float(cut): quality(values >= cut, truth) for cut in np.unique(values[truth])}
    return max(cuts.items(), key=lambda item: item[1].f1)


def _by_pair(corpus: Corpus, rows: NDArray[Any], compare: Compare) -> NDArray[np.float64]:
    """Rows of documents, compared; not all pairs at once, for the memory's sake."""
    pairs = zip(_parts(corpus.one), _parts(corpus.other), strict=True)
    return np.concatenate([compare(rows[one], rows[other]) for one, other in pairs]).astype(np.float64)


def _parts(numbers: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    return [numbers[at : at + _AT_ONCE] for at in range(0, len(numbers), _AT_ONCE)]
