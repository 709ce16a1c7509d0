"""Which pages of a batch must be compared with others, text by text, before it can be told what they are?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import apsw

from crawler.items import Key, Outcome, Page, Reason
from crawler.stores.contract.commits import VisitResult
from crawler.stores.contract.similarity import SimilarPage
from crawler.stores.sqlite.document_rows import find_document
from crawler.stores.sqlite.document_writer import is_elsewhere
from crawler.stores.sqlite.new_urls import id_of
from crawler.stores.sqlite.similarity_index import SimilarCandidate, SimilarityIndex, template

MOST_LOOKS = 2  # times that a visit is held back; then its sketch decides


def find_candidates(
    connection: apsw.Connection, index: SimilarityIndex, batch: Sequence[VisitResult]
) -> Mapping[Key, Sequence[SimilarPage]]:
    """Of those whose sketches leave it in doubt, the pages that they may be duplicates of."""
    sketched = [
        (settled, page)
        for settled in batch
        if (page := settled.visited.page) is not None and page.sketch and _is_whole(settled)
    ]
    index.look_up({page.sketch for _, page in sketched})
    found: dict[Key, Sequence[SimilarPage]] = {}
    before: list[Page] = []
    for number, (settled, page) in enumerate(sketched, start=1):
        visit = settled.visited.visit
        own = id_of(connection, visit.key) if visit.visited is not None else None
        like = index.judge(own, page.sketch, settled.compared, doubting=settled.comparisons < MOST_LOOKS)
        is_copy = like.doubts and (_is_among(page, before) or is_elsewhere(connection, page, visit.key))
        if like.doubts and not is_copy:
            found[visit.key] = [similar_page(connection, candidate) for candidate in like.doubts if candidate.id > 0]
        elif like.of is None:
            index.expect(-number, page.sketch)
        before.append(page)
    index.expect_no_more()
    return found


def _is_among(page: Page, before: Sequence[Page]) -> bool:
    """Whether one of these has the same bytes or the same words."""
    return any(
        other.body_digest == page.body_digest or (page.text_digest and other.text_digest == page.text_digest)
        for other in before
    )


def _is_whole(settled: VisitResult) -> bool:
    return settled.visited.outcome is Outcome.FETCHED and settled.visited.reason is Reason.OK


def similar_page(connection: apsw.Connection, candidate: SimilarCandidate) -> SimilarPage:
    """A page to compare with, and where it is."""
    document = find_document(connection, candidate.document)
    assert document is not None, "documents are never removed"
    return SimilarPage(id=candidate.id, document=document, template=template(connection, document.key.host))
