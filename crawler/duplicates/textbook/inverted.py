"""Which documents share fingerprints with this one? An inverted index answers without comparing it to all.

It is plain dictionaries in memory, good for some thousands of documents: a corpus, a course's submissions, a test. The
crawl has an index of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from typing import Generic, NamedTuple, TypeVar

Document = TypeVar("Document", bound=Hashable)


class CopyCandidate(NamedTuple, Generic[Document]):
    """A document that may be a copy, and how much it has in common."""

    document: Document
    shared: int  # different fingerprints that both have
    of_smaller: float  # the share of them in the document that has fewer: 1 if that is contained in the other
    of_union: float  # the share of them in all that either has (Jaccard): 1 if both have the same


class _Posted(NamedTuple):
    order: int  # in which documents were added, for who is named first among equals
    fingerprints: frozenset[int]


class InvertedIndex(Generic[Document]):
    """From fingerprints to documents. How often a document repeats a fingerprint does not count.

    >>> index = InvertedIndex[str]()
    >>> index.add("a rose", [1, 2, 3]), index.add("a poem", [2, 3, 4, 5])
    (None, None)
    >>> [(found.document, found.shared, found.of_union) for found in index.candidates([2, 3, 4, 5, 6])]
    [('a poem', 4, 0.8), ('a rose', 2, 0.3333333333333333)]
    """

    def __init__(self) -> None:
        self._documents: dict[Document, _Posted] = {}
        self._postings: dict[int, set[Document]] = {}
        self._added = 0

    def __len__(self) -> int:
        return len(self._documents)

    def __contains__(self, document: object) -> bool:
        return document in self._documents

    def add(self, document: Document, fingerprints: Iterable[int]) -> None:
        """Remember the document with these fingerprints, and no longer with those that it had before."""
        self.remove(document)
        posted = _Posted(self._added, frozenset(fingerprints))
        self._added += 1
        self._documents[document] = posted
        for fingerprint in posted.fingerprints:
            self._postings.setdefault(fingerprint, set()).add(document)

    def remove(self, document: Document) -> None:
        """Forget the document, if it is known."""
        posted = self._documents.pop(document, None)
        for fingerprint in posted.fingerprints if posted else ():
            documents = self._postings[fingerprint]
            documents.remove(document)
            if not documents:
                del self._postings[fingerprint]

    def candidates(self, fingerprints: Iterable[int], at_least: int = 1) -> list[CopyCandidate[Document]]:
        """The documents that share so many fingerprints and at least one: those that share most first."""
        asked = frozenset(fingerprints)
        shared = Counter(document for one in asked for document in self._postings.get(one, ()))
        found = [
            self._candidate(document, count, len(asked)) for document, count in shared.items() if count >= at_least
        ]
        return sorted(found, key=lambda one: (-one.shared, -one.of_union, self._documents[one.document].order))

    def _candidate(self, document: Document, shared: int, asked: int) -> CopyCandidate[Document]:
        size = len(self._documents[document].fingerprints)
        return CopyCandidate(document, shared, shared / min(size, asked), shared / (size + asked - shared))
