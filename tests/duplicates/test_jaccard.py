"""Jaccard coefficient, containment and cosine agree with their definitions on sets and vectors."""

from __future__ import annotations

import doctest
import re
from collections import Counter
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.duplicates import jaccard as module
from crawler.duplicates.jaccard import containment, cosine, jaccard
from crawler.duplicates.shingles import shingle_set
from crawler.duplicates.words import Hashes

SETS = st.sets(st.integers(0, 2**64 - 1) | st.integers(0, 20))
TEXTS = st.lists(st.sampled_from(["to", "be", "or", "not", "字"])).map(" ".join)


def hashes(numbers: set[int]) -> Hashes:
    return np.array(sorted(numbers), dtype=np.uint64)


@given(SETS, SETS)
def test_jaccard_is_the_share_of_the_union_that_both_have(one: set[int], other: set[int]) -> None:
    expected = len(one & other) / len(one | other) if one and other else 0.0
    assert jaccard(hashes(one), hashes(other)) == expected == jaccard(hashes(other), hashes(one))


@given(SETS, SETS)
def test_containment_is_the_share_of_the_part(part: set[int], whole: set[int]) -> None:
    assert containment(hashes(part), hashes(whole)) == (len(part & whole) / len(part) if part else 0.0)


@given(TEXTS, TEXTS)
def test_cosine_is_that_of_vectors_of_counts(one: str, other: str) -> None:
    here, there = Counter(re.findall(r"\w+", one)), Counter(re.findall(r"\w+", other))
    product = sum(here[word] * there[word] for word in here)
    lengths = sqrt(sum(n * n for n in here.values())) * sqrt(sum(n * n for n in there.values()))
    assert cosine(one, other) == pytest.approx(product / lengths if lengths else 0.0)


def test_a_truncated_copy_is_contained_in_its_original() -> None:
    words = list(map(str, range(100)))
    part, whole = shingle_set(" ".join(words[:54])), shingle_set(" ".join(words))
    assert (containment(part, whole), jaccard(part, whole)) == (1.0, 50 / 96)


def test_the_examples_are_true() -> None:
    assert doctest.testmod(module).failed == 0
