"""Measure precision and recall of near-duplicate detection on pairs of documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from crawler.duplicates.bands import bands_for, minhash_key_columns, simhash_key_columns
from crawler.duplicates.cascade import DuplicateRule
from crawler.duplicates.datasketch_minhash import datasketch_matrix
from crawler.duplicates.jaccard import jaccard
from crawler.duplicates.minhash import PERMUTATIONS, MinHashes, bin_minima, sketch_of_shingles
from crawler.duplicates.page_sketch import sample_simhash
from crawler.duplicates.words import Hashes

THRESHOLDS: Final = tuple(step / 100 for step in range(50, 101, 5))
_PAIRS_PER_BLOCK: Final = 20_000  # compared at a time, to limit memory
Verdicts = NDArray[np.bool]
Numbers = NDArray[np.float64]


class Quality(NamedTuple):
    """Precision, recall and F1 of a method on some pairs."""

    precision: float
    recall: float
    f1: float


class CascadeDecisions(NamedTuple):
    """The cascade's decision on each pair, and what it took to reach it."""

    is_duplicate: Verdicts
    is_candidate: Verdicts  # the pair shares a key, or is an exact copy
    needed_texts: Verdicts  # the estimate was too close to the threshold


class EvaluationRow(NamedTuple):
    """The quality of sketches alone, of the whole cascade, and of another method at one threshold."""

    threshold: float
    duplicates: int  # by the labels
    sketch: Quality
    cascade: Quality
    met: float  # share of pairs that the cascade compared at all
    needed_texts: float  # share of pairs whose texts it compared
    datasketch: Quality | None = None  # of the library's MinHash alone, if it was asked for


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DocumentPairs:
    """Documents, and pairs of them given as indices into the lists of documents."""

    words: Sequence[Hashes]
    sets: Sequence[Hashes]  # of shingles
    one: NDArray[np.intp]
    other: NDArray[np.intp]


class PairEvidence:
    """Estimates, keys and exact similarities of the pairs: all that decisions at any threshold are based on."""

    def __init__(self, pairs: DocumentPairs, *, with_datasketch: bool = False) -> None:
        self._pairs = pairs
        self.datasketch_estimates: Numbers | None = None
        if with_datasketch:
            rows = datasketch_matrix(pairs.sets)
            self.datasketch_estimates = compare_pairs(pairs, rows, lambda one, other: (one == other).mean(axis=1))
        self._minhashes = minhash_matrix(pairs.sets)
        self._simhashes = np.array([sample_simhash(bin_minima(own)) for own in pairs.sets], dtype=np.uint64)
        self._digests = np.array([xxh3_64_intdigest(words.tobytes()) for words in pairs.words], dtype=np.uint64)
        self._lengths = np.array([len(words) for words in pairs.words], dtype=np.int64)
        self._exact = np.full(len(pairs.one), np.nan)
        self.estimates = compare_pairs(pairs, self._minhashes, lambda one, other: (one == other).mean(axis=1))

    def are_copies(self) -> Verdicts:
        """Pairs with the same words in the same order; documents without words are no copies of each other."""
        same: Verdicts = self._digests[self._pairs.one] == self._digests[self._pairs.other]
        return same & self.are_long(1)

    def are_long(self, fewest_words: int) -> Verdicts:
        """Pairs in which both documents have at least this many words."""
        is_long = self._lengths >= fewest_words
        both: Verdicts = is_long[self._pairs.one] & is_long[self._pairs.other]
        return both

    def share_keys(self, threshold: float) -> Verdicts:
        """Pairs that share a key of the index, with the bands for this threshold."""
        bands = bands_for(threshold, PERMUTATIONS)
        columns = [*minhash_key_columns(self._minhashes, bands), *simhash_key_columns(self._simhashes)]
        keys = np.stack(columns, axis=1)
        return compare_pairs(self._pairs, keys, lambda one, other: (one == other).any(axis=1)).astype(np.bool)

    def exact_similarities(self, which: Verdicts) -> Numbers:
        """The exact Jaccard coefficients of these pairs, each computed once and cached."""
        pairs = self._pairs
        for pair in np.flatnonzero(which & np.isnan(self._exact)).tolist():
            self._exact[pair] = jaccard(pairs.sets[pairs.one[pair]], pairs.sets[pairs.other[pair]])
        return self._exact[which]


def cascade(evidence: PairEvidence, rule: DuplicateRule) -> CascadeDecisions:
    """Decide on all pairs as a crawl does.

    Exact copies are duplicates at once. Pairs that share a key are decided by the estimate, or by the exact coefficient
    if the estimate is too close to the threshold. Pairs without a common key, or with too few words, are no duplicates.
    """
    copies = evidence.are_copies()
    candidates = (evidence.share_keys(rule.threshold) & evidence.are_long(rule.fewest_words)) | copies
    undecided = candidates & ~copies & (np.abs(evidence.estimates - rule.threshold) <= rule.margin)
    is_duplicate = copies | (candidates & (evidence.estimates > rule.threshold))
    is_duplicate[undecided] = evidence.exact_similarities(undecided) >= rule.threshold
    return CascadeDecisions(is_duplicate, candidates, undecided)


def sweep_thresholds(
    evidence: PairEvidence,
    truth_at: Callable[[float], Verdicts],
    rule_at: Callable[[float], DuplicateRule],
    thresholds: Sequence[float],
) -> Iterator[EvaluationRow]:
    """Evaluate the sketches alone and the cascade at each threshold, against the labels that hold there."""
    for threshold in thresholds:
        truth, decisions = truth_at(threshold), cascade(evidence, rule_at(threshold))
        yield EvaluationRow(
            threshold=threshold,
            duplicates=int(truth.sum()),
            sketch=quality(evidence.estimates >= threshold, truth),
            cascade=quality(decisions.is_duplicate, truth),
            met=float(decisions.is_candidate.mean()),
            needed_texts=float(decisions.needed_texts.mean()),
            datasketch=quality(evidence.datasketch_estimates >= threshold, truth)
            if evidence.datasketch_estimates is not None
            else None,
        )


def quality(verdicts: Verdicts, truth: Verdicts) -> Quality:
    """Precision, recall and F1 of verdicts; without positive verdicts precision is 1, without true ones recall.

    >>> quality(np.array([True, True, False, False]), np.array([True, False, True, True]))
    Quality(precision=0.5, recall=0.3333333333333333, f1=0.4)
    """
    right = int((verdicts & truth).sum())
    precision = right / int(verdicts.sum()) if verdicts.any() else 1.0
    recall = right / int(truth.sum()) if truth.any() else 1.0
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return Quality(precision, recall, f1)


def minhash_matrix(sets: Sequence[Hashes], permutations: int = PERMUTATIONS) -> MinHashes:
    """The minhashes of many documents, one row each; rows of documents without words agree nowhere with each other."""
    rows = np.zeros((len(sets), permutations), dtype=np.uint16)
    for place, shingles in enumerate(sets):
        rows[place] = sketch_of_shingles(shingles, permutations).marks if len(shingles) else place % (1 << 16)
    return rows


def compare_pairs(
    pairs: DocumentPairs, rows: NDArray[Any], compare: Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]]
) -> Numbers:
    """Compare the rows of both documents of each pair, block by block to limit memory."""
    results = np.empty(len(pairs.one), dtype=np.float64)
    for at in range(0, len(results), _PAIRS_PER_BLOCK):
        part = slice(at, at + _PAIRS_PER_BLOCK)
        results[part] = compare(rows[pairs.one[part]], rows[pairs.other[part]])
    return results
