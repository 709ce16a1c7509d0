"""The original of a group of duplicates is chosen, and replaced when it changes or is gone.

A copy points to its original, never to another copy. When an original is deleted, changes, or a copy with a better URL
is found, its copies get another original, and the change feed has an entry for each.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import apsw

from crawler.duplicates.minhash import similarity
from crawler.duplicates.preference import CanonicalClaim, best_urls_first, is_better_url
from crawler.items import ChangeEvent, Key, Kind, Reason, Tier
from crawler.stores.contract.documents import DocumentRow
from crawler.stores.sqlite.document_rows import find_document
from crawler.stores.sqlite.similarity_index import SimilarityIndex, sketch_in

# Copies that get another original because a page declares it as canonical: a chain of such pages would never end.
_MOST_REASSIGNED = 100
_NOT_COMPARED: Mapping[int, float] = {}


class OriginalPage(NamedTuple):
    """The original of a page, and how their duplication was found."""

    document: int
    links_digest: int
    similarity: float
    tier: Tier


class _Page(NamedTuple):
    """The current page of a URL."""

    id: int  # as in urls
    key: Key
    claim: CanonicalClaim
    document: int
    body_digest: bytes
    text_digest: bytes


_CURRENT_PAGE = """
SELECT u.id, u.host, u.rest, u.url, d.metadata, d.id, d.body_digest, d.text_digest
FROM documents d JOIN urls u ON u.host = d.host AND u.rest = d.rest
"""
# `COMPLETE_PAGE` of documents d.
IS_COMPLETE = f"d.kind = {Kind.PAGE:d} AND d.reason = {Reason.OK:d}"
# A complete page that is the current document of its URL in the change feed.
IS_SHOWN = f"""
{IS_COMPLETE} AND d.id = (
    SELECT iif(c.change = '{ChangeEvent.DELETE}', NULL, c.document) FROM changes c
    WHERE c.host = d.host AND c.rest = d.rest ORDER BY c.version DESC LIMIT 1)
"""
_COPIES = f"""
JOIN documents o ON o.id = d.duplicate_of
WHERE o.host = ? AND o.rest = ? AND NOT (d.host = o.host AND d.rest = o.rest) AND {IS_SHOWN}
"""

_SAME_DIGEST = f"""
SELECT id FROM (
    SELECT d.id, d.host, d.rest, d.kind, d.reason FROM documents d
    WHERE d.body_digest = ?1 AND {IS_COMPLETE} AND d.body_bytes > 0
    UNION
    SELECT d.id, d.host, d.rest, d.kind, d.reason FROM documents d
    WHERE d.text_digest = ?2 AND {IS_COMPLETE} AND d.text_digest <> x''
) d WHERE {IS_SHOWN} ORDER BY id LIMIT ?3
"""


def duplicates(connection: apsw.Connection, key: Key) -> list[str]:
    """Return the URLs of the copies of a URL's page."""
    rows = connection.execute(
        f"SELECT u.url FROM documents d JOIN urls u ON u.host = d.host AND u.rest = d.rest {_COPIES} ORDER BY u.url",
        key,
    )
    return [url for (url,) in rows]


class Originals:
    """Changes originals and their copies. It belongs to one transaction."""

    def __init__(self, connection: apsw.Connection, index: SimilarityIndex, now: float) -> None:
        self._connection = connection
        self._index = index
        self._now = now

    def replace_if_better(self, document: int, original: int) -> bool:
        """Make a copy the original in place of its own, if its URL is better; return whether it was."""
        new, old = self._page(document), self.shown(original)
        if old is None or new is None or not is_better_url(new.claim, old.claim):
            return False
        copies = self._copies_of(old.key)
        if old.claim.canonical == new.claim.url and len(copies) > _MOST_REASSIGNED:
            return False
        self._make_original(new)
        for page in (old, *(copy for copy in copies if copy.document != document)):
            self._assign_original(page, [new])
        return True

    def reassign_copies(self, key: Key) -> None:
        """Find originals again for the copies of a page that has changed or was deleted."""
        copies = {copy.claim: copy for copy in self._copies_of(key)}
        originals = [page for page in [self._original_for(key)] if copies and page is not None]
        for claim in best_urls_first(list(copies)):
            originals += self._assign_original(copies[claim], originals)

    def judge_again(self, number: int, compared: Mapping[int, float] = _NOT_COMPARED) -> None:
        """Find the original and the copies of a page again, after the template was removed from its sketch."""
        row = self._connection.execute(
            """SELECT d.id, d.tier, o.host, o.rest FROM sketches s JOIN documents d ON d.id = s.document
               LEFT JOIN documents o ON o.id = d.duplicate_of WHERE s.id = ?""",
            (number,),
        ).get
        page = self._page(row[0]) if row is not None else None
        if page is None or row[1] in (Tier.BODY, Tier.TEXT):
            return
        if row[1] is not None:
            original = self._original_for(Key(*row[2:]))
            self._assign_original(page, [original] if original is not None else [])
        else:
            if (found := self._find_near_duplicate(page, compared)) is not None:
                self._make_copy(page, found.document, found.similarity, found.tier)
            self.reassign_copies(page.key)

    def _assign_original(self, page: _Page, originals: Sequence[_Page]) -> list[_Page]:
        """Make a page a copy of one of the originals or of another similar page; else return it as an original."""
        for original in originals:
            same = self._same_content(page, original)
            if same is not None:
                self._make_copy(page, original.document, *same)
                return []
        found = self._find_near_duplicate(page, _NOT_COMPARED)
        if found is not None:
            self._make_copy(page, found.document, found.similarity, found.tier)
            return []
        self._make_original(page)
        return [page]

    def _same_content(self, page: _Page, original: _Page) -> tuple[float, Tier] | None:
        """Return similarity and tier of two pages that were duplicates; None if they are none any more.

        Where sketches do not decide, they still are.
        """
        if page.body_digest == original.body_digest:
            return 1.0, Tier.BODY
        if page.text_digest and page.text_digest == original.text_digest:
            return 1.0, Tier.TEXT
        own, other = self._index.entry_of(page.id), self._index.entry_of(original.id)
        if own is None or other is None or not self._index.rule.threshold:
            return None
        share = similarity(sketch_in(own.sketch), sketch_in(other.sketch))
        return None if self._index.rule.is_duplicate(share) is False else (share, Tier.SKETCH)

    def _find_near_duplicate(self, page: _Page, compared: Mapping[int, float]) -> OriginalPage | None:
        """Return the original of which a page is a near-duplicate, by the similarity index."""
        own = self._index.entry_of(page.id)
        found = self._index.judge(page.id, own.sketch, compared) if own is not None else None
        if found is None or found.original is None or found.tier is None:
            return None
        return OriginalPage(found.original.document, 0, found.similarity, found.tier)

    def _make_copy(self, page: _Page, original: int, share: float, tier: Tier) -> None:
        self._write_original(page, original, share, tier)
        self._index.set_indexed(page.id, indexed=False)

    def _make_original(self, page: _Page) -> None:
        self._write_original(page, None, None, None)
        self._index.set_indexed(page.id, indexed=True)

    def _write_original(self, page: _Page, original: int | None, share: float | None, tier: Tier | None) -> None:
        """Write the original of a page, and a change entry if its original, similarity or tier has changed."""
        before = self._published_original(page.document)
        self._connection.execute(
            "UPDATE documents SET duplicate_of = ?, similarity = ?, tier = ? WHERE id = ?",
            (original, share, tier, page.document),
        )
        current = self._published_original(page.document)
        if current == before:
            return
        change = ChangeEvent.META if current[:2] == before[:2] else ChangeEvent.UPSERT
        self._connection.execute(
            """INSERT INTO changes (host, rest, change, document, at) SELECT ?1, ?2, ?3, ?4, coalesce(
                   (SELECT c.at FROM changes c WHERE c.host = ?1 AND c.rest = ?2
                    ORDER BY c.version DESC LIMIT 1), ?5)""",
            (*page.key, change, page.document, self._now),
        )

    def _published_original(self, document: int) -> tuple[Any, ...]:
        """Return key, similarity and tier of a document's original, as they are published."""
        row: tuple[Any, ...] = self._connection.execute(
            """SELECT o.host, o.rest, d.similarity, d.tier
               FROM documents d LEFT JOIN documents o ON o.id = d.duplicate_of
               WHERE d.id = ?""",
            (document,),
        ).get
        return row

    def _page(self, document: int) -> _Page | None:
        return _page_of(self._connection.execute(f"{_CURRENT_PAGE} WHERE d.id = ?", (document,)).get)

    def shown(self, document: int) -> _Page | None:
        """Return the current page of the URL of a document."""
        return _page_of(
            self._connection.execute(
                f"""{_CURRENT_PAGE} JOIN documents v ON v.host = d.host AND v.rest = d.rest
                    WHERE v.id = ? AND {IS_SHOWN}""",
                (document,),
            ).get
        )

    def _original_for(self, key: Key) -> _Page | None:
        """Return the current page of a URL, or its original if it is a copy."""
        row = self._connection.execute(
            f"SELECT coalesce(d.duplicate_of, d.id) FROM documents d WHERE d.host = ? AND d.rest = ? AND {IS_SHOWN}",
            key,
        ).get
        return self.shown(row) if row is not None else None

    def _copies_of(self, key: Key) -> list[_Page]:
        """Return the pages that are copies of any version of a URL."""
        rows = self._connection.execute(f"{_CURRENT_PAGE} {_COPIES}", key).fetchall()
        return [page for row in rows if (page := _page_of(row)) is not None]


def _page_of(row: Any) -> _Page | None:
    if row is None:
        return None
    number, host, rest, url, metadata, document, body_digest, text_digest = row
    claim = CanonicalClaim(url, json.loads(metadata).get("canonical", ""))
    return _Page(number, Key(host, rest), claim, document, body_digest, text_digest)


def pages_with_digests(
    connection: apsw.Connection, body_digest: bytes, text_digest: bytes, most: int
) -> list[DocumentRow]:
    """Return current pages with this body or this text."""
    rows: list[Any] = connection.execute(_SAME_DIGEST, (body_digest, text_digest, most)).fetchall()
    return [found for (number,) in rows if (found := find_document(connection, number)) is not None]
