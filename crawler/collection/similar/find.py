"""Which documents of the collection say almost the same as one that is given? Sketches tell where to look, texts decide."""

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

_SPARE = 20  # candidates more than are wanted whose texts are compared: some estimates are too high


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarDocument:
    """A document that says almost the same."""

    document: DocumentRow
    similarity: float
    tier: Tier
    original: str | None  # URL of what the crawl takes it for a duplicate of
    differences: Differences | None = None  # None if it could not be read


class SimilarDocuments(NamedTuple):
    """The most similar first."""

    found: list[SimilarDocument]
    more: int  # than were wanted, as far as is known
    is_short: bool  # too short for anything but copies


def find_similar(
    collection: Collection, own: ComparableDocument, rule: DuplicateRule, most: int, progress: Progress
) -> SimilarDocuments:
    """Up to so many documents at other URLs whose similarity reaches the rule's threshold."""
    copies = {like.document.id: like for like in _copies(collection, own, most + _SPARE)}
    sketch = own.sketch(rule)
    more = 0
    if sketch and collection.reader.features is ComparedFeatures.CODE:
        others = list(_programs(collection, own, rule, progress))
    elif sketch:
        near = find_nearest_sketches(
            sketch, _counted(collection, progress), lowest_estimate(rule.threshold), most + _SPARE
        )
        wanted = [candidate for candidate in near.candidates if candidate.document not in copies]
        others, more = [], near.more
        for done, candidate in enumerate(wanted):
            progress("reading texts", done, len(wanted))
            others += _compared(collection, own, candidate.number, candidate.estimate, rule)
    else:
        others = []
    found = [like for like in (*copies.values(), *others) if like.document.url != own.name]
    unique = {like.document.id: like for like in reversed(found)}.values()  # a copy is known for sure
    order = sorted(unique, key=lambda like: (-like.similarity, like.tier, like.document.url))
    return SimilarDocuments(order[:most], more + len(order[most:]), not sketch)


def _copies(collection: Collection, own: ComparableDocument, most: int) -> Iterator[SimilarDocument]:
    for document in collection.store.documents.with_digests(own.body_digest, own.text_digest, most):
        tier = Tier.BODY if document.body_digest == own.body_digest else Tier.TEXT
        yield SimilarDocument(
            document=document,
            similarity=1.0,
            tier=tier,
            original=_original(collection, document),
            differences=Differences([], []),
        )


def _compared(
    collection: Collection, own: ComparableDocument, number: int, estimate: float, rule: DuplicateRule
) -> Iterator[SimilarDocument]:
    """A page, if it is one; where it cannot be read, by the estimate."""
    page = collection.store.similarity.find_sketched(number)
    if page is None or page.document.url == own.name:
        return
    other = collection.read(page.document, page.template)
    similarity = own.similarity(other, rule) if other is not None else estimate
    if similarity >= rule.threshold:
        yield _like(collection, own, page.document, other, similarity)


def _programs(
    collection: Collection, own: ComparableDocument, rule: DuplicateRule, progress: Progress
) -> Iterator[SimilarDocument]:
    """Sketches are of words, so programs are read, all of them."""
    for number, other in SourceCodeDocuments(collection, rule).all(progress):
        if other.name != own.name and (similarity := own.similarity(other, rule)) >= rule.threshold:
            document = collection.store.documents.find(number)
            assert document is not None, "documents are never removed"
            yield _like(collection, own, document, other, similarity)


def _like(
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
        original=_original(collection, document),
        differences=differences(own.text, other.text) if other is not None else None,
    )


def _original(collection: Collection, document: DocumentRow) -> str | None:
    if document.duplicate_of is None:
        return None
    original = collection.store.documents.find(document.duplicate_of)
    return original.url if original is not None else None


def _counted(collection: Collection, progress: Progress) -> Iterator[list[tuple[int, int, bytes]]]:
    of, done = collection.store.similarity.count_sketches(), 0
    for block in collection.store.similarity.sketches():
        yield list(block)
        done += len(block)
        progress("reading sketches", done, of)
