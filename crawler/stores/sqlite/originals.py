"""Which of several pages with one content stands for all, and what if it goes?

A copy points to its original, never to another copy. When an original goes, changes, or meets a better URL for what it
shows, its copies get another one, and the change feed says so of each.
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

_MOST_MOVED = (
    100  # copies that are given another original because a page names it: a chain of such pages would never end
)
_NOT_COMPARED: Mapping[int, float] = {}


class OriginalPage(NamedTuple):
    """The page that had a content first."""

    document: int
    links_digest: int
    similarity: float
    tier: Tier


class _Page(NamedTuple):
    """What a URL has now."""

    id: int  # as in urls
    key: Key
    claim: CanonicalClaim
    document: int
    body_digest: bytes
    text_digest: bytes


_NOW = """
SELECT u.id, u.host, u.rest, u.url, d.metadata, d.id, d.body_digest, d.text_digest
FROM documents d JOIN urls u ON u.host = d.host AND u.rest = d.rest
"""
# `COMPLETE_PAGE` of documents d.
IS_COMPLETE = f"d.kind = {Kind.PAGE:d} AND d.reason = {Reason.OK:d}"
# What the feed says that its URL has, if it is a whole page; it may be looked for again in vain before it counts as gone.
IS_SHOWN = f"""
{IS_COMPLETE} AND d.id = (
    SELECT iif(c.change = '{ChangeEvent.DELETE}', NULL, c.document) FROM changes c WHERE c.host = d.host AND c.rest = d.rest
    ORDER BY c.version DESC LIMIT 1)
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
    """URLs of the pages that are copies of what a URL has."""
    rows = connection.execute(
        f"SELECT u.url FROM documents d JOIN urls u ON u.host = d.host AND u.rest = d.rest {_COPIES} ORDER BY u.url",
        key,
    )
    return [url for (url,) in rows]


class Originals:
    """Originals and their copies, in a transaction."""

    def __init__(self, connection: apsw.Connection, index: SimilarityIndex, now: float) -> None:
        self._connection = connection
        self._index = index
        self._now = now

    def prefer(self, document: int, original: int) -> bool:
        """Let a copy whose URL is the better one take the place of its original; whether it did."""
        new, old = self._page(document), self.shown(original)
        if old is None or new is None or not is_better_url(new.claim, old.claim):
            return False
        copies = self._copies_of(old.key)
        if old.claim.canonical == new.claim.url and len(copies) > _MOST_MOVED:
            return False
        self._release(new)
        for page in (old, *(copy for copy in copies if copy.document != document)):
            self._adopt(page, [new])
        return True

    def settle(self, key: Key) -> None:
        """The page of a URL has changed, or is there no more: what was a copy of it may be one of something else."""
        copies = {copy.claim: copy for copy in self._copies_of(key)}
        originals = [page for page in [self._original_for(key)] if copies and page is not None]
        for claim in best_urls_first(list(copies)):
            originals += self._adopt(copies[claim], originals)

    def judge_again(self, number: int, compared: Mapping[int, float] = _NOT_COMPARED) -> None:
        """The sketch of a page has changed, though the page has not: what it is a copy of, or has for copies, may have, too."""
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
            self._adopt(page, [original] if original is not None else [])
        else:
            if (found := self._met(page, compared)) is not None:
                self._point(page, found.document, found.similarity, found.tier)
            self.settle(page.key)

    def _adopt(self, page: _Page, originals: Sequence[_Page]) -> list[_Page]:
        """Point a page to an original that says the same; if there is none, it is one itself, and returned."""
        for original in originals:
            known = self._same(page, original)
            if known is not None:
                self._point(page, original.document, *known)
                return []
        found = self._met(page, _NOT_COMPARED)
        if found is not None:
            self._point(page, found.document, found.similarity, found.tier)
            return []
        self._release(page)
        return [page]

    def _same(self, page: _Page, original: _Page) -> tuple[float, Tier] | None:
        """How it is known of two pages that belonged together that they still do; in doubt they do."""
        if page.body_digest == original.body_digest:
            return 1.0, Tier.BODY
        if page.text_digest and page.text_digest == original.text_digest:
            return 1.0, Tier.TEXT
        own, other = self._index.entry_of(page.id), self._index.entry_of(original.id)
        if own is None or other is None or not self._index.rule.threshold:
            return None
        share = similarity(sketch_in(own.sketch), sketch_in(other.sketch))
        return None if self._index.rule.is_duplicate(share) is False else (share, Tier.SKETCH)

    def _met(self, page: _Page, compared: Mapping[int, float]) -> OriginalPage | None:
        """An original elsewhere that is almost the same."""
        own = self._index.entry_of(page.id)
        found = self._index.judge(page.id, own.sketch, compared) if own is not None else None
        if found is None or found.of is None or found.tier is None:
            return None
        return OriginalPage(found.of.document, 0, found.similarity, found.tier)

    def _point(self, page: _Page, original: int, share: float, tier: Tier) -> None:
        self._note(page, original, share, tier)
        self._index.show(page.id, indexed=False)

    def _release(self, page: _Page) -> None:
        self._note(page, None, None, None)
        self._index.show(page.id, indexed=True)

    def _note(self, page: _Page, original: int | None, share: float | None, tier: Tier | None) -> None:
        """What a page is a copy of, and how alike, is told with it, so if that is other than it was, the change feed says so."""
        before = self._told_of(page.document)
        self._connection.execute(
            "UPDATE documents SET duplicate_of = ?, similarity = ?, tier = ? WHERE id = ?",
            (original, share, tier, page.document),
        )
        now_so = self._told_of(page.document)
        if now_so == before:
            return
        change = ChangeEvent.META if now_so[:2] == before[:2] else ChangeEvent.UPSERT
        self._connection.execute(
            """INSERT INTO changes (host, rest, change, document, at) SELECT ?1, ?2, ?3, ?4, coalesce(
                   (SELECT c.at FROM changes c WHERE c.host = ?1 AND c.rest = ?2 ORDER BY c.version DESC LIMIT 1), ?5)""",
            (*page.key, change, page.document, self._now),
        )

    def _told_of(self, document: int) -> tuple[Any, ...]:
        """The key of its original, and how alike they are."""
        row: tuple[Any, ...] = self._connection.execute(
            """SELECT o.host, o.rest, d.similarity, d.tier FROM documents d LEFT JOIN documents o ON o.id = d.duplicate_of
               WHERE d.id = ?""",
            (document,),
        ).get
        return row

    def _page(self, document: int) -> _Page | None:
        return _page_of(self._connection.execute(f"{_NOW} WHERE d.id = ?", (document,)).get)

    def shown(self, document: int) -> _Page | None:
        """What the URL of a document shows now."""
        return _page_of(
            self._connection.execute(
                f"{_NOW} JOIN documents v ON v.host = d.host AND v.rest = d.rest WHERE v.id = ? AND {IS_SHOWN}",
                (document,),
            ).get
        )

    def _original_for(self, key: Key) -> _Page | None:
        """What a URL shows, or if that is a copy, the page that it is a copy of."""
        row = self._connection.execute(
            f"SELECT coalesce(d.duplicate_of, d.id) FROM documents d WHERE d.host = ? AND d.rest = ? AND {IS_SHOWN}",
            key,
        ).get
        return self.shown(row) if row is not None else None

    def _copies_of(self, key: Key) -> list[_Page]:
        """Pages that are copies of what a URL has or had."""
        rows = self._connection.execute(f"{_NOW} {_COPIES}", key).fetchall()
        return [page for row in rows if (page := _page_of(row)) is not None]


def _page_of(row: Any) -> _Page | None:
    if row is None:
        return None
    number, host, rest, url, metadata, document, body_digest, text_digest = row
    claim = CanonicalClaim(url, json.loads(metadata).get("canonical", ""))
    return _Page(number, Key(host, rest), claim, document, body_digest, text_digest)


def copies(connection: apsw.Connection, body_digest: bytes, text_digest: bytes, most: int) -> list[DocumentRow]:
    rows: list[Any] = connection.execute(_SAME_DIGEST, (body_digest, text_digest, most)).fetchall()
    return [found for (number,) in rows if (found := find_document(connection, number)) is not None]
