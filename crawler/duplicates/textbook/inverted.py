"""An inverted index of fingerprints: finds the documents that share some with a given one, without comparing it to all.

It consists of plain dictionaries in memory, for some thousands of documents: a corpus, a course's submissions, a test.
The crawl has an index of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from typing import Generic, NamedTuple, TypeVar

Document = TypeVar("Document", bound=Hashable)


class CopyCandidate(NamedTuple, Generic[Document]):
    """A document that may be a copy, and how many fingerprints it shares."""

    document: Document
    shared: int  # different fingerprints that both have
    of_smaller: float  # divided by those of the smaller document: 1 if it is contained in the other
    of_union: float  # divided by those that either has (Jaccard): 1 if both have the same


class _IndexedDocument(NamedTuple):
    order: int  # in which documents were added; breaks ties
    fingerprints: frozenset[int]


class InvertedIndex(Generic[Document]):
    """Maps fingerprints to documents; how often a document repeats a fingerprint does not count.

    >>> index = InvertedIndex[str]()
    >>> index.add("a rose", [1, 2, 3]), index.add("a poem", [2, 3, 4, 5])
    (None, None)
    >>> [(found.document, found.shared, found.of_union) for found in index.candidates([2, 3, 4, 5, 6])]
    [('a poem', 4, 0.8), ('a rose', 2, 0.3333333333333333)]
    """

    def __init__(self) -> None:
        self._documents: dict[Document, _IndexedDocument] = {}
        self._postings: dict[int, set[Document]] = {}
        self._added = 0

    def __len__(self) -> int:
        return len(self._documents)

    def __contains__(self, document: object) -> bool:
        return document in self._documents

    def add(self, document: Document, fingerprints: Iterable[int]) -> None:
        """Index the document with these fingerprints, instead of those that it had before."""
        self.remove(document)
        indexed = _IndexedDocument(self._added, frozenset(fingerprints))
        self._added += 1
        self._documents[document] = indexed
        for fingerprint in indexed.fingerprints:
            self._postings.setdefault(fingerprint, set()).add(document)

    def remove(self, document: Document) -> None:
        """Remove the document, if it is indexed."""
        indexed = self._documents.pop(document, None)
        for fingerprint in indexed.fingerprints if indexed else ():
            documents = self._postings[fingerprint]
            documents.remove(document)
            if not documents:
                del self._postings[fingerprint]

    def candidates(self, fingerprints: Iterable[int], at_least: int = 1) -> list[CopyCandidate[Document]]:
        """The documents that share `at_least` fingerprints (never none) with these; those that share the most first."""
        query = frozenset(fingerprints)
        shared = Counter(document for one in query for document in self._postings.get(one, ()))
        candidates = [
            self._candidate(document, count, len(query)) for document, count in shared.items() if count >= at_least
        ]
        return sorted(candidates, key=lambda one: (-one.shared, -one.of_union, self._documents[one.document].order))

    def _candidate(self, document: Document, shared: int, query_size: int) -> CopyCandidate[Document]:
        size = len(self._documents[document].fingerprints)
        return CopyCandidate(document, shared, shared / min(size, query_size), shared / (size + query_size - shared))
