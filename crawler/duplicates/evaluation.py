"""How often is a method right about which pairs are near-duplicates?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from crawler.duplicates.bands import band_columns, bands_for, simhash_columns
from crawler.duplicates.cascade import DuplicateRule
from crawler.duplicates.jaccard import jaccard
from crawler.duplicates.minhash import PERMUTATIONS, Marks, firsts, sketch_of
from crawler.duplicates.page_sketch import sample_simhash
from crawler.duplicates.words import Hashes

THRESHOLDS: Final = tuple(step / 100 for step in range(50, 101, 5))
_AT_ONCE: Final = 20_000  # pairs
Said = NDArray[np.bool]
Numbers = NDArray[np.float64]


class Quality(NamedTuple):
    """Of a method, on some pairs."""

    precision: float
    recall: float
    f1: float


class CascadeDecisions(NamedTuple):
    """What the sketches, and the texts where these are in doubt, say of each pair."""

    said: Said
    is_candidate: Said
    needed_texts: Said


class EvaluationRow(NamedTuple):
    """Both methods at one threshold."""

    threshold: float
    duplicates: int  # that there are, in truth
    sketch: Quality
    cascade: Quality
    met: float  # share of pairs that the cascade compared at all
    needed_texts: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DocumentPairs:
    """Documents, and pairs of them by their places."""

    words: Sequence[Hashes]
    sets: Sequence[Hashes]  # of shingles
    one: NDArray[np.intp]
    other: NDArray[np.intp]


class PairEvidence:
    """What there is to decide by, whatever the threshold."""

    def __init__(self, pairs: DocumentPairs) -> None:
        self._pairs = pairs
        self._marks = marks_of(pairs.sets)
        self._simhashes = np.array([sample_simhash(firsts(own)) for own in pairs.sets], dtype=np.uint64)
        self._digests = np.array([xxh3_64_intdigest(words.tobytes()) for words in pairs.words], dtype=np.uint64)
        self._lengths = np.array([len(words) for words in pairs.words], dtype=np.int64)
        self._counted = np.full(len(pairs.one), np.nan)
        self.estimates = by_pair(pairs, self._marks, lambda one, other: (one == other).mean(axis=1))

    def are_copies(self) -> Said:
        """Pairs with the same words in the same order; nothing is a copy of nothing."""
        same: Said = self._digests[self._pairs.one] == self._digests[self._pairs.other]
        return same & self.are_long(1)

    def are_long(self, fewest_words: int) -> Said:
        """Pairs of which neither has too few words to be compared."""
        is_long = self._lengths >= fewest_words
        both: Said = is_long[self._pairs.one] & is_long[self._pairs.other]
        return both

    def meet(self, threshold: float) -> Said:
        """Pairs that share a key, as in the index."""
        bands = bands_for(threshold, PERMUTATIONS)
        columns = [*band_columns(self._marks, bands), *simhash_columns(self._simhashes)]
        keys = np.stack(columns, axis=1)
        return by_pair(self._pairs, keys, lambda one, other: (one == other).any(axis=1)).astype(np.bool)

    def counted(self, which: Said) -> Numbers:
        """The Jaccard coefficients of these pairs, each counted once."""
        pairs = self._pairs
        for pair in np.flatnonzero(which & np.isnan(self._counted)).tolist():
            self._counted[pair] = jaccard(pairs.sets[pairs.one[pair]], pairs.sets[pairs.other[pair]])
        return self._counted[which]


def cascade(evidence: PairEvidence, rule: DuplicateRule) -> CascadeDecisions:
    """As a crawl does it: copies at once; then who shares a key, by the estimate, or by the count where that leaves doubts.

    Who never meets, or has too few words, is no duplicate.
    """
    copies = evidence.are_copies()
    met = (evidence.meet(rule.threshold) & evidence.are_long(rule.fewest_words)) | copies
    doubted = met & ~copies & (np.abs(evidence.estimates - rule.threshold) <= rule.margin)
    said = copies | (met & (evidence.estimates > rule.threshold))
    said[doubted] = evidence.counted(doubted) >= rule.threshold
    return CascadeDecisions(said, met, doubted)


def sweep(
    evidence: PairEvidence,
    truth_at: Callable[[float], Said],
    rule_at: Callable[[float], DuplicateRule],
    thresholds: Sequence[float],
) -> Iterator[EvaluationRow]:
    """Both methods at each threshold, against what is true there."""
    for threshold in thresholds:
        truth, found = truth_at(threshold), cascade(evidence, rule_at(threshold))
        yield EvaluationRow(
            threshold=threshold,
            duplicates=int(truth.sum()),
            sketch=quality(evidence.estimates >= threshold, truth),
            cascade=quality(found.said, truth),
            met=float(found.is_candidate.mean()),
            needed_texts=float(found.needed_texts.mean()),
        )


def quality(said: Said, truth: Said) -> Quality:
    """Of all that is called a duplicate, what is; of all that is, what is called so.

    >>> quality(np.array([True, True, False, False]), np.array([True, False, True, True]))
    Quality(precision=0.5, recall=0.3333333333333333, f1=0.4)
    """
    right = int((said & truth).sum())
    precision = right / int(said.sum()) if said.any() else 1.0
    recall = right / int(truth.sum()) if truth.any() else 1.0
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return Quality(precision, recall, f1)


def marks_of(sets: Sequence[Hashes], permutations: int = PERMUTATIONS) -> Marks:
    """A row for each document. Those without words agree with nobody: one has zeros, the next ones, and so on."""
    rows = np.zeros((len(sets), permutations), dtype=np.uint16)
    for place, found in enumerate(sets):
        rows[place] = sketch_of(found, permutations).marks if len(found) else place % (1 << 16)
    return rows


def by_pair(
    pairs: DocumentPairs, rows: NDArray[Any], compare: Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]]
) -> Numbers:
    """Rows of documents, compared; not all pairs at once, for the memory's sake."""
    found = np.empty(len(pairs.one), dtype=np.float64)
    for at in range(0, len(found), _AT_ONCE):
        part = slice(at, at + _AT_ONCE)
        found[part] = compare(rows[pairs.one[part]], rows[pairs.other[part]])
    return found
