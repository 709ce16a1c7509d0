"""Find the near-duplicates of a given document in the collection: sketches select candidates, texts decide."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from crawler.collection.similar.document import ComparableDocument, ComparedFeatures
from crawler.collection.similar.sources import Collection, Progress, SourceCodeDocuments
from crawler.duplicates.cascade import DuplicateRule
from crawler.duplicates.differences import Differences, differences
from crawler.duplicates.search import find_nearest_sketches, lowest_estimate
from crawler.items import Tier
from crawler.stores.contract.documents import DocumentRow

_EXTRA_CANDIDATES = 20  # compared beyond the number of results wanted: some estimates are too high


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarDocument:
    """A copy or near-duplicate of the given document."""

    document: DocumentRow
    similarity: float
    tier: Tier
    original: str | None  # URL of the document that the crawl has recorded as its original
    differences: Differences | None = None  # None if it could not be read


class SimilarDocuments(NamedTuple):
    """The similar documents, the most similar first."""

    documents: list[SimilarDocument]
    more: int  # beyond the number wanted; an estimate
    is_short: bool  # the given document has too few words, so only exact copies were searched for


def find_similar(
    collection: Collection, own: ComparableDocument, rule: DuplicateRule, most: int, progress: Progress
) -> SimilarDocuments:
    """Up to `most` documents at other URLs whose similarity to `own` reaches the rule's threshold."""
    copies = {copy.document.id: copy for copy in _exact_copies(collection, own, most + _EXTRA_CANDIDATES)}
    sketch = own.sketch(rule)
    more = 0
    if sketch and collection.reader.features is ComparedFeatures.CODE:
        others = list(_similar_programs(collection, own, rule, progress))
    elif sketch:
        near = find_nearest_sketches(
            sketch,
            _sketches_with_progress(collection, progress),
            lowest_estimate(rule.threshold),
            most + _EXTRA_CANDIDATES,
        )
        wanted = [candidate for candidate in near.candidates if candidate.document not in copies]
        others, more = [], near.more
        for done, candidate in enumerate(wanted):
            progress("reading texts", done, len(wanted))
            others += _compare_candidate(collection, own, candidate.number, candidate.estimate, rule)
    else:
        others = []
    similar = [each for each in (*copies.values(), *others) if each.document.url != own.name]
    unique = {each.document.id: each for each in reversed(similar)}.values()  # exact copies win over estimates
    order = sorted(unique, key=lambda each: (-each.similarity, each.tier, each.document.url))
    return SimilarDocuments(order[:most], more + len(order[most:]), not sketch)


def _exact_copies(collection: Collection, own: ComparableDocument, most: int) -> Iterator[SimilarDocument]:
    for document in collection.store.documents.with_digests(own.body_digest, own.text_digest, most):
        tier = Tier.BODY if document.body_digest == own.body_digest else Tier.TEXT
        yield SimilarDocument(
            document=document,
            similarity=1.0,
            tier=tier,
            original=_original_url(collection, document),
            differences=Differences([], []),
        )


def _compare_candidate(
    collection: Collection, own: ComparableDocument, number: int, estimate: float, rule: DuplicateRule
) -> Iterator[SimilarDocument]:
    """Yield the candidate if its text is similar enough; if it cannot be read, the estimate decides."""
    page = collection.store.similarity.find_sketched(number)
    if page is None or page.document.url == own.name:
        return
    other = collection.read(page.document, page.template)
    similarity = own.similarity(other, rule) if other is not None else estimate
    if similarity >= rule.threshold:
        yield _similar_document(collection, own, page.document, other, similarity)


def _similar_programs(
    collection: Collection, own: ComparableDocument, rule: DuplicateRule, progress: Progress
) -> Iterator[SimilarDocument]:
    """Compare with every program in the collection: stored sketches are of words, not of program tokens."""
    for number, other in SourceCodeDocuments(collection, rule).read_all(progress):
        if other.name != own.name and (similarity := own.similarity(other, rule)) >= rule.threshold:
            document = collection.store.documents.find(number)
            assert document is not None, "documents are never removed"
            yield _similar_document(collection, own, document, other, similarity)


def _similar_document(
    collection: Collection,
    own: ComparableDocument,
    document: DocumentRow,
    other: ComparableDocument | None,
    similarity: float,
) -> SimilarDocument:
    return SimilarDocument(
        document=document,
        similarity=similarity,
        tier=Tier.COMPARED if other is not None else Tier.SKETCH,
        original=_original_url(collection, document),
        differences=differences(own.text, other.text) if other is not None else None,
    )


def _original_url(collection: Collection, document: DocumentRow) -> str | None:
    if document.duplicate_of is None:
        return None
    original = collection.store.documents.find(document.duplicate_of)
    return original.url if original is not None else None


def _sketches_with_progress(collection: Collection, progress: Progress) -> Iterator[list[tuple[int, int, bytes]]]:
    of, done = collection.store.similarity.count_sketches(), 0
    for block in collection.store.similarity.sketches():
        yield list(block)
        done += len(block)
        progress("reading sketches", done, of)
