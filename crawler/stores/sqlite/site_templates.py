"""Templates: text that most pages of a host share is extracted, stored, and removed from sketches."""

from __future__ import annotations

import array
from collections.abc import Collection, Mapping, Sequence
from itertools import accumulate
from typing import Any

import apsw

from crawler.duplicates.template import MAX_PAGES, MIN_PAGES, may_have_template, template_fingerprint
from crawler.items import Tier
from crawler.stores.contract.commits import VisitResult
from crawler.stores.contract.documents import DocumentRow
from crawler.stores.contract.similarity import TemplateJob, TemplateResult, UndecidedPage
from crawler.stores.sqlite.document_rows import find_document, sketch_of
from crawler.stores.sqlite.originals import Originals
from crawler.stores.sqlite.similarity_doubts import similar_page
from crawler.stores.sqlite.similarity_index import NO_DUPLICATE, SimilarityIndex, sketch_in

_PAGES_PER_JOB = 32  # pages whose sketches are made again
_BYTES_PER_JOB = 8 * 1024 * 1024  # of the bodies, as on the wire
_UNDECIDED = -1  # in place of a template's fingerprint: the page must be compared with others

# Exact copies are left out: they say nothing about a template. Near-duplicates may be similar because of it.
_SAMPLE = f"""
SELECT s.id, s.document, s.sketch FROM sketches s JOIN documents d ON d.id = s.document
WHERE s.host = ? AND (d.tier IS NULL OR d.tier > {Tier.TEXT:d}) AND d.body_bytes <= 250000 ORDER BY s.id DESC LIMIT ?
"""


def add_jobs(connection: apsw.Connection, batch: Sequence[VisitResult]) -> Collection[int]:
    """Add template jobs for the hosts of a batch that need one, and return these hosts.

    That is a host whose pages seem to share a template, or with new sketches from which it was not removed.
    """
    fingerprints: dict[int, list[int]] = {}  # host → of the templates that were removed from its pages
    for result in batch:
        page = result.visited.page
        if page is not None and sketch_of(result.visited):
            fingerprints.setdefault(result.visited.visit.key.host, []).append(page.template)
    if not fingerprints:
        return ()
    rows: list[Any] = connection.execute(
        "SELECT h.host, h.pages, h.template FROM carray(?) c CROSS JOIN hosts h ON h.host = c.value",
        (apsw.carray(array.array("q", sorted(fingerprints))),),
    ).fetchall()
    hosts = [
        host for host, pages, template in rows if _needs_job(connection, host, pages, template, fingerprints[host])
    ]
    connection.executemany("INSERT OR IGNORE INTO template_jobs VALUES (?)", [(host,) for host in hosts])
    return hosts


def hosts_with_jobs(connection: apsw.Connection, owner: str) -> list[int]:
    """Return this owner's hosts with a template job."""
    rows = connection.execute(
        """SELECT l.host FROM template_jobs l JOIN hosts h ON h.host = l.host JOIN partitions p ON p.id = h.partition
           WHERE p.owner = ?""",
        (owner,),
    )
    return [host for (host,) in rows]


def next_job(connection: apsw.Connection, host: int) -> TemplateJob | None:
    """Return the next job of a host: extract its template, or remove it from sketches; None if all is done."""
    if connection.execute("SELECT 1 FROM template_jobs WHERE host = ?", (host,)).get is None:
        return None
    template: bytes | None = connection.execute("SELECT template FROM hosts WHERE host = ?", (host,)).get
    rows = (
        _sample(connection, host)
        if template is None
        else _with_old_sketches(connection, host, template_fingerprint(template))
    )
    if not rows:
        connection.execute("DELETE FROM template_jobs WHERE host = ?", (host,))
        return None
    found = [(number, _document(connection, document)) for number, document, _ in rows]
    sizes = accumulate(document.body_bytes for _, document in found)
    pages = [page for page, size in zip(found, sizes, strict=True) if size <= _BYTES_PER_JOB] or found[:1]
    return TemplateJob(host=host, template=template, pages=pages)


def store_template(
    connection: apsw.Connection, index: SimilarityIndex, result: TemplateResult, now: float
) -> list[UndecidedPage]:
    """Store a template and sketches without it, and return the pages that must be compared with others."""
    if not result.template:  # none was found; it is tried again when the host has more pages
        connection.execute("DELETE FROM template_jobs WHERE host = ?", (result.host,))
        return []
    connection.execute("UPDATE hosts SET template = ? WHERE host = ?", (result.template, result.host))
    changed = {}
    for number, (document, sketch) in result.sketches.items():
        entry = index.entry_of(number)
        if entry is not None and entry.document == document:
            changed[number] = entry._replace(template=result.mark, sketch=sketch or entry.sketch)
            index.enter(number, changed[number])
    originals = Originals(connection, index, now)
    undecided = []
    for number, entry in changed.items():
        verdict = index.judge(number, entry.sketch, {}, may_defer=True) if entry.indexed else NO_DUPLICATE
        if verdict.undecided:
            candidates = [similar_page(connection, candidate) for candidate in verdict.undecided]
            page = _document(connection, entry.document)
            undecided.append(UndecidedPage(id=number, document=page, template=result.template, candidates=candidates))
            index.enter(number, entry._replace(template=_UNDECIDED))
        else:
            originals.judge_again(number)
    index.write()
    return undecided


def decide(
    connection: apsw.Connection,
    index: SimilarityIndex,
    undecided_page: UndecidedPage,
    compared: Mapping[int, float],
    now: float,
) -> None:
    """Set the original of a page after its text was compared."""
    entry = index.entry_of(undecided_page.id)
    if entry is not None and entry.document == undecided_page.document.id:
        index.enter(undecided_page.id, entry._replace(template=template_fingerprint(undecided_page.template)))
        Originals(connection, index, now).judge_again(undecided_page.id, compared)
        index.write()


def _sample(connection: apsw.Connection, host: int) -> list[Any]:
    return connection.execute(_SAMPLE, (host, MAX_PAGES)).fetchall()


def _with_old_sketches(connection: apsw.Connection, host: int, fingerprint: int) -> list[Any]:
    """Return pages from whose sketches the template was not removed."""
    return connection.execute(
        "SELECT id, document, sketch FROM sketches WHERE host = ? AND template <> ? LIMIT ?",
        (host, fingerprint, _PAGES_PER_JOB),
    ).fetchall()


def _needs_job(
    connection: apsw.Connection, host: int, pages: int, template: bytes | None, fingerprints: Sequence[int]
) -> bool:
    """Whether a host needs a template job: to extract a template, or because pages were sketched with another one.

    Until a template is found, it is tried each time that the number of the host's pages has doubled.
    """
    if template is not None:
        current = template_fingerprint(template)
        return any(fingerprint != current for fingerprint in fingerprints)
    has_doubled = (pages // MIN_PAGES).bit_length() > ((pages - len(fingerprints)) // MIN_PAGES).bit_length()
    return has_doubled and may_have_template(
        [sketch_in(row[2]) for row in connection.execute(_SAMPLE, (host, MIN_PAGES))]
    )


def _document(connection: apsw.Connection, document: int) -> DocumentRow:
    found = find_document(connection, document)
    assert found is not None, "documents are never removed"
    return found
