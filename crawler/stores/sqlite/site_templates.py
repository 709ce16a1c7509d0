"""Which hosts put the same words on all their pages? What is known of it, and what is still to be found out."""

from __future__ import annotations

import array
from collections.abc import Collection, Mapping, Sequence
from itertools import accumulate
from typing import Any

import apsw

from crawler.duplicates.template import MAX_PAGES, MIN_PAGES, may_have_template, template_fingerprint
from crawler.items import Kind, Tier
from crawler.stores.contract.commits import VisitResult
from crawler.stores.contract.documents import DocumentRow
from crawler.stores.contract.similarity import TemplateJob, TemplateResult, UndecidedPage
from crawler.stores.sqlite.document_rows import find_document
from crawler.stores.sqlite.originals import Originals
from crawler.stores.sqlite.similarity_doubts import similar_page
from crawler.stores.sqlite.similarity_index import NONE, SimilarityIndex, sketch_in

_MOST_SKETCHED = 32  # pages that are read again at a time
_MOST_BYTES = 8 * 1024 * 1024  # of their bodies, as on the wire
_UNDECIDED = -1  # in place of a template's mark: its page must be compared with others

# Pages with the words of others say nothing of what is common to all; those that only seem to may do so for their template.
_SAMPLE = f"""
SELECT s.id, s.document, s.sketch FROM sketches s JOIN documents d ON d.id = s.document
WHERE s.host = ? AND (d.tier IS NULL OR d.tier > {Tier.TEXT:d}) AND d.body_bytes <= 250000 ORDER BY s.id DESC LIMIT ?
"""


def add_jobs(connection: apsw.Connection, batch: Sequence[VisitResult]) -> Collection[int]:
    """Hosts that have come to seem to have a template, or of which pages came that still have it in their sketches."""
    marks: dict[int, list[int]] = {}  # of the templates that were taken out of each page
    for settled in batch:
        visit, page = settled.visited.visit, settled.visited.page
        if page is not None and page.sketch and visit.kind is Kind.PAGE:
            marks.setdefault(visit.key.host, []).append(page.template)
    if not marks:
        return ()
    rows: list[Any] = connection.execute(
        "SELECT h.host, h.pages, h.template FROM carray(?) c CROSS JOIN hosts h ON h.host = c.value",
        (apsw.carray(array.array("q", sorted(marks))),),
    ).fetchall()
    hosts = [host for host, pages, known in rows if _has_to_learn(connection, host, pages, known, marks[host])]
    connection.executemany("INSERT OR IGNORE INTO template_jobs VALUES (?)", [(host,) for host in hosts])
    return hosts


def hosts_with_jobs(connection: apsw.Connection, owner: str) -> list[int]:
    rows = connection.execute(
        """SELECT l.host FROM template_jobs l JOIN hosts h ON h.host = l.host JOIN partitions p ON p.id = h.partition
           WHERE p.owner = ?""",
        (owner,),
    )
    return [host for (host,) in rows]


def next_job(connection: apsw.Connection, host: int) -> TemplateJob | None:
    if connection.execute("SELECT 1 FROM template_jobs WHERE host = ?", (host,)).get is None:
        return None
    template: bytes | None = connection.execute("SELECT template FROM hosts WHERE host = ?", (host,)).get
    rows = _sample(connection, host) if template is None else _behind(connection, host, template_fingerprint(template))
    if not rows:
        connection.execute("DELETE FROM template_jobs WHERE host = ?", (host,))
        return None
    found = [(number, _document(connection, document)) for number, document, _ in rows]
    sizes = accumulate(document.body_bytes for _, document in found)
    pages = [page for page, size in zip(found, sizes, strict=True) if size <= _MOST_BYTES] or found[:1]
    return TemplateJob(host=host, template=template, pages=pages)


def store_template(
    connection: apsw.Connection, index: SimilarityIndex, learned: TemplateResult, now: float
) -> list[UndecidedPage]:
    if not learned.template:  # none was found: it is looked for again when there are more pages
        connection.execute("DELETE FROM template_jobs WHERE host = ?", (learned.host,))
        return []
    connection.execute("UPDATE hosts SET template = ? WHERE host = ?", (learned.template, learned.host))
    changed = {}
    for number, (document, sketch) in learned.sketches.items():
        entry = index.entry_of(number)
        if entry is not None and entry.document == document:
            changed[number] = entry._replace(template=learned.mark, sketch=sketch or entry.sketch)
            index.enter(number, changed[number])
    copies = Originals(connection, index, now)
    unsure = []
    for number, entry in changed.items():
        like = index.judge(number, entry.sketch, {}, doubting=True) if entry.indexed else NONE
        if like.doubts:
            candidates = [similar_page(connection, candidate) for candidate in like.doubts]
            page = _document(connection, entry.document)
            unsure.append(UndecidedPage(id=number, document=page, template=learned.template, candidates=candidates))
            index.enter(number, entry._replace(template=_UNDECIDED))
        else:
            copies.judge_again(number)
    index.write()
    return unsure


def decide(
    connection: apsw.Connection,
    index: SimilarityIndex,
    unsure: UndecidedPage,
    compared: Mapping[int, float],
    now: float,
) -> None:
    entry = index.entry_of(unsure.id)
    if entry is not None and entry.document == unsure.document.id:
        index.enter(unsure.id, entry._replace(template=template_fingerprint(unsure.template)))
        Originals(connection, index, now).judge_again(unsure.id, compared)
        index.write()


def _sample(connection: apsw.Connection, host: int) -> list[Any]:
    return connection.execute(_SAMPLE, (host, MAX_PAGES)).fetchall()


def _behind(connection: apsw.Connection, host: int, mark: int) -> list[Any]:
    """Pages whose sketches still have the template in them."""
    return connection.execute(
        "SELECT id, document, sketch FROM sketches WHERE host = ? AND template <> ? LIMIT ?",
        (host, mark, _MOST_SKETCHED),
    ).fetchall()


def _has_to_learn(
    connection: apsw.Connection, host: int, pages: int, template: bytes | None, marks: Sequence[int]
) -> bool:
    """Whether its template is to be learned, or was while these pages were on their way.

    It is looked for each time that the number of the host's pages has doubled, until one is found.
    """
    if template is not None:
        mark = template_fingerprint(template)
        return any(own != mark for own in marks)
    has_doubled = (pages // MIN_PAGES).bit_length() > ((pages - len(marks)) // MIN_PAGES).bit_length()
    return has_doubled and may_have_template(
        [sketch_in(row[2]) for row in connection.execute(_SAMPLE, (host, MIN_PAGES))]
    )


def _document(connection: apsw.Connection, document: int) -> DocumentRow:
    found = find_document(connection, document)
    assert found is not None, "documents are never removed"
    return found
