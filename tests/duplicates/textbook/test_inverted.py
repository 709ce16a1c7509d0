"""The inverted index finds the same candidates as a comparison with all documents."""

from __future__ import annotations

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.duplicates.textbook import inverted
from crawler.duplicates.textbook.fingerprints import hashes, ngrams
from crawler.duplicates.textbook.inverted import CopyCandidate, InvertedIndex

fingerprints = st.lists(st.integers(0, 20), max_size=12)
collections = st.dictionaries(st.sampled_from("abcdefgh"), fingerprints)


def index_of(documents: dict[str, list[int]]) -> InvertedIndex[str]:
    index = InvertedIndex[str]()
    for document, numbers in documents.items():
        index.add(document, numbers)
    return index


def by_comparing_all(documents: dict[str, list[int]], query: list[int], at_least: int) -> list[CopyCandidate[str]]:
    found = []
    for document, numbers in documents.items():
        shared = len(set(numbers) & set(query))
        if shared >= max(at_least, 1):
            smaller, union = min(len(set(numbers)), len(set(query))), len(set(numbers) | set(query))
            found.append(CopyCandidate(document, shared, shared / smaller, shared / union))
    return sorted(found, key=lambda one: (-one.shared, -one.of_union))


@given(collections, fingerprints, st.integers(0, 6))
def test_candidates_are_those_of_comparing_all(
    documents: dict[str, list[int]], query: list[int], at_least: int
) -> None:
    assert index_of(documents).candidates(query, at_least) == by_comparing_all(documents, query, at_least)


@given(collections, collections, st.sets(st.sampled_from("abcdefgh")), fingerprints)
def test_a_document_is_known_as_it_was_added_last(
    documents: dict[str, list[int]], again: dict[str, list[int]], gone: set[str], query: list[int]
) -> None:
    index = index_of(documents)
    for document, numbers in again.items():
        index.add(document, numbers)
    for document in gone:
        index.remove(document)
    kept = {document: numbers for document, numbers in documents.items() if document not in again.keys() | gone}
    kept |= {document: numbers for document, numbers in again.items() if document not in gone}
    assert index.candidates(query) == by_comparing_all(kept, query, 1)
    assert len(index) == len(kept)
    assert all((document in index) is (document in kept) for document in "abcdefgh")


def test_documents_that_share_most_come_first_and_ties_as_they_were_added() -> None:
    index = index_of({"z": [1, 2], "a": [1, 2], "most": [1, 2, 3, 9], "long": [1, 2, 7, 8]})
    assert [found.document for found in index.candidates([1, 2, 3])] == ["most", "z", "a", "long"]


@pytest.mark.parametrize(
    ("mine", "expected"),
    [
        ([1, 2, 3, 4], ("d", 4, 1.0, 1.0)),
        ([1, 2], ("d", 2, 1.0, 0.5)),
        ([3, 4, 5, 6, 7, 8], ("d", 2, 0.5, 0.25)),
        ([4, 4, 4, 4], ("d", 1, 1.0, 0.25)),
    ],
)
def test_shares(mine: list[int], expected: tuple[str, int, float, float]) -> None:
    assert index_of({"d": [1, 2, 3, 4, 4]}).candidates(mine) == [expected]


POEM = "the sea is calm tonight the tide is full the moon lies fair upon the straits"
REPORT = "the sea was rough this morning and no boat had left the harbour of the town"
ESSAY = "as he says the tide is full the moon lies fair and so on"


def test_a_passage_finds_the_document_that_it_was_copied_from() -> None:
    index = InvertedIndex[str]()
    for text in (POEM, REPORT):
        index.add(text, hashes(ngrams(text.split(), 3)))
    (found,) = index.candidates(hashes(ngrams(ESSAY.split(), 3)), at_least=3)
    assert (found.document, found.shared) == (POEM, 6)


def test_a_document_that_shares_nothing_is_no_candidate() -> None:
    index = index_of({"empty": [], "full": [1]})
    assert index.candidates([], 0) == index.candidates([2], 0) == []


def test_the_examples_are_true() -> None:
    assert doctest.testmod(inverted).failed == 0
