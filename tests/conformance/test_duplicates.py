"""Near-duplicates among real revisions are found with high precision and recall."""

from __future__ import annotations

from functools import cache
from random import Random

import numpy as np
import pytest

from benchmarks.duplicate_scores import estimates
from benchmarks.duplicate_sets import Corpus, revisions
from crawler.duplicates.cascade import DuplicateRule
from crawler.duplicates.evaluation import PairEvidence, cascade, quality
from crawler.duplicates.jaccard import jaccard

pytestmark = pytest.mark.needs_shared
LISTED = 0.2  # pairs of lower similarity may be missing from the list


@cache
def corpus() -> Corpus:
    return revisions()


def exact_similarity(pair: int) -> float:
    found = corpus()
    return jaccard(found.sets[found.one[pair]], found.sets[found.other[pair]])


def test_computed_similarities_equal_the_listed_ones() -> None:
    listed = np.flatnonzero(corpus().similarities)
    assert len(listed) > 500
    assert (
        max(abs(exact_similarity(pair) - corpus().similarities[pair]) for pair in listed) < 5.1e-5
    )  # the list has four digits


def test_unlisted_pairs_have_a_low_similarity() -> None:
    unlisted = np.flatnonzero(corpus().similarities == 0.0).tolist()
    assert max(exact_similarity(pair) for pair in Random(1).sample(unlisted, 5_000)) < LISTED


def test_estimates_of_sketches_are_near_the_exact_similarities() -> None:
    listed = corpus().similarities > 0.0
    errors = (estimates(corpus()) - corpus().similarities)[listed]
    assert abs(errors).mean() <= 0.02
    assert abs(errors.mean()) <= 0.005


@pytest.mark.parametrize(("threshold", "precision", "recall"), [(0.9, 0.99, 0.97), (0.8, 0.97, 0.96)])
def test_the_cascade_finds_near_duplicates_among_all_pairs(threshold: float, precision: float, recall: float) -> None:
    found = cascade(PairEvidence(corpus()), DuplicateRule(threshold=threshold))
    measured = quality(found.is_duplicate, corpus().similarities >= threshold)
    assert (measured.precision >= precision, measured.recall >= recall) == (True, True), measured
    assert found.is_candidate.mean() < 0.005  # of two hundred thousand pairs
    assert found.needed_texts.sum() < 0.5 * found.is_candidate.sum()
