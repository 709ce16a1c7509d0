"""Pages of a batch that may be duplicates, before its commit: those to be compared with others first, and the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import apsw

from crawler.items import Key, Page
from crawler.stores.contract.commits import VisitResult
from crawler.stores.contract.similarity import SimilarPage
from crawler.stores.sqlite.document_rows import find_document, is_complete_page, sketch_of
from crawler.stores.sqlite.document_writer import DigestLookup, has_exact_copy
from crawler.stores.sqlite.new_urls import url_id
from crawler.stores.sqlite.similarity_index import SimilarCandidate, SimilarityIndex, template

MAX_COMPARISONS = 2  # times that a commit is delayed to compare texts; then the sketch decides


def find_candidates(
    connection: apsw.Connection, index: SimilarityIndex, batch: Sequence[VisitResult]
) -> Mapping[Key, Sequence[SimilarPage]]:
    """Return the possible originals of the visits whose sketches do not decide."""
    sketched = [
        (result, page) for result in batch if (page := result.visited.page) is not None and sketch_of(result.visited)
    ]
    index.look_up({page.sketch for _, page in sketched})
    found: dict[Key, Sequence[SimilarPage]] = {}
    before: list[Page] = []
    for number, (result, page) in enumerate(sketched, start=1):
        visit = result.visited.visit
        own_number = url_id(connection, visit.key) if visit.visited is not None else None
        verdict = index.judge(own_number, page.sketch, result.compared, may_defer=result.comparisons < MAX_COMPARISONS)
        is_exact_copy = verdict.undecided and (
            _is_copied_in(page, before) or has_exact_copy(connection, page, visit.key)
        )
        if verdict.undecided and not is_exact_copy:
            found[visit.key] = [
                similar_page(connection, candidate) for candidate in verdict.undecided if candidate.id > 0
            ]
        elif verdict.original is None:
            index.add_pending(-number, page.sketch)
        before.append(page)
    index.drop_pending()
    return found


def find_copies(connection: apsw.Connection, index: SimilarityIndex, batch: Sequence[VisitResult]) -> set[Key]:
    """Return the visits whose pages seem to be copies, of archived pages or of an earlier one of the batch."""
    complete = [result for result in batch if is_complete_page(result.visited)]
    stored = DigestLookup(connection, complete)
    index.look_up({sketch_of(result.visited) for result in complete} - {b""})
    bodies: set[bytes] = set()  # of earlier pages of the batch
    texts: set[bytes] = set()
    copies: set[Key] = set()
    for number, result in enumerate(complete, start=1):
        visit, page, sketch = result.visited.visit, result.visited.page, sketch_of(result.visited)
        assert page is not None, "it is complete"
        is_copy = page.body_digest in bodies or (page.text_digest in texts and bool(page.text_digest))
        if not is_copy and (page.body_digest in stored.bodies or page.text_digest in stored.texts):
            is_copy = has_exact_copy(connection, page, visit.key)  # it may be its own earlier version
        if not is_copy and sketch:
            own_number = url_id(connection, visit.key) if visit.visited is not None else None
            is_copy = index.judge(own_number, sketch, result.compared).original is not None
        if is_copy:
            copies.add(visit.key)
        elif sketch:
            index.add_pending(-number, sketch)
        bodies.add(page.body_digest)
        texts.add(page.text_digest)
    index.drop_pending()
    return copies


def _is_copied_in(page: Page, before: Sequence[Page]) -> bool:
    """Whether an earlier page of the batch has the same body or the same text."""
    return any(
        other.body_digest == page.body_digest or (page.text_digest and other.text_digest == page.text_digest)
        for other in before
    )


def similar_page(connection: apsw.Connection, candidate: SimilarCandidate) -> SimilarPage:
    """Return a page to compare with, and its position in the archive."""
    document = find_document(connection, candidate.document)
    assert document is not None, "documents are never removed"
    return SimilarPage(id=candidate.id, document=document, template=template(connection, document.key.host))
