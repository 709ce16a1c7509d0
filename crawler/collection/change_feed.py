"""Turn the change feed into documents and deletions for export, read from store and archive in order of version."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from crawler.collection.archive_reader import read_archived
from crawler.content.answers import ArchivedAnswer, directives_of, parse_archived
from crawler.content.readers import main_text_digest
from crawler.errors import DiskTrouble
from crawler.export.documents import RELEVANCE_DIGITS
from crawler.items import (
    ChangeEvent,
    DeletedDocument,
    DeletionEvidence,
    ExportedDocument,
    ExportEntry,
    Key,
    OutLink,
    Reason,
    RejectedDocument,
    TextBlock,
    Visited,
    identifier,
)
from crawler.options import Options
from crawler.parse import directives
from crawler.parse.coding import plain_body
from crawler.parse.directives import Directives
from crawler.parse.html import NOTHING_STORED, Html, StoredText, main_text_of
from crawler.parse.reading import ParsedBody, blocks_of, text_of
from crawler.stores.contract.changes import PublishedChange
from crawler.stores.contract.documents import DocumentRow
from crawler.stores.contract.store import Store
from crawler.urls.hosts import host_of, matches
from crawler.urls.keys import key_of

KEEP, FOLD = "keep", "fold"  # duplicates: export them, or export only their originals
_CHANGES_PER_READ = 1_000  # in one read transaction: short enough not to hold up a crawl

# The evidence for a deletion by the reason of the URL's state. Other reasons are no evidence that a document has gone.
EVIDENCE: Mapping[Reason | None, DeletionEvidence] = {
    Reason.NOT_FOUND: DeletionEvidence.NOT_FOUND,
    Reason.SOFT_404: DeletionEvidence.NOT_FOUND,
    Reason.CAME_EMPTY: DeletionEvidence.NOT_FOUND,
    Reason.CLIENT_ERROR: DeletionEvidence.NOT_FOUND,
    Reason.BAD_STATUS: DeletionEvidence.NOT_FOUND,
    Reason.BAD_LOCATION: DeletionEvidence.NOT_FOUND,
    Reason.REDIRECT_LOOP: DeletionEvidence.NOT_FOUND,
    Reason.TOO_MANY_REDIRECTS: DeletionEvidence.NOT_FOUND,
    Reason.GONE: DeletionEvidence.GONE,
    Reason.NOINDEX: DeletionEvidence.NOINDEX,
    Reason.OFF_TOPIC: DeletionEvidence.OFF_TOPIC,
    Reason.ROBOTS_DENIED: DeletionEvidence.ROBOTS,
    Reason.FORBIDDEN: DeletionEvidence.PRIVATE,
    Reason.LOGIN_WALL: DeletionEvidence.PRIVATE,
    Reason.REDIRECTED: DeletionEvidence.REDIRECTED,
    Reason.NOT_A_PAGE: DeletionEvidence.NOT_A_PAGE,
    Reason.UNWANTED_TYPE: DeletionEvidence.NOT_A_PAGE,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which documents are exported, and which parts of each."""

    hosts: Sequence[str] = ()  # shell patterns; none = all
    languages: Sequence[str] = ()  # codes; none = all
    duplicates: str = KEEP  # or FOLD
    min_relevance: float | None = None  # to the topic of the crawl; None = all, also those without a relevance
    blocks: bool = False
    links: bool = False
    fields: Sequence[str] = ()  # none = all

    def to_json(self) -> str:
        """As it is stored in a checkpoint: an export with another selection must not continue it."""
        values = {name: getattr(self, name) for name in self.__slots__}
        given = {name: value for name, value in values.items() if value or (name == "min_relevance" and value == 0)}
        return json.dumps(given, sort_keys=True)

    def includes(self, published: PublishedChange, document: DocumentRow) -> bool:
        return (
            self._includes_host(published.url)
            and (not self.languages or document.language in self.languages)
            and self.is_relevant(document)
        )

    def is_relevant(self, document: DocumentRow) -> bool:
        """Whether the relevance of a document, as it is exported, reaches the one that is wanted."""
        relevance = _exported_relevance(document)
        return self.min_relevance is None or (relevance is not None and relevance >= self.min_relevance)

    def folds(self, original: str) -> bool:
        """Whether the duplicates of an original at this URL are left out: not if its host is not selected."""
        return self.duplicates == FOLD and self._includes_host(original)

    def _includes_host(self, url: str) -> bool:
        return not self.hosts or matches(host_of(url), self.hosts)


class ChangeFeed:
    """Reads the changes once, in order, and counts them."""

    def __init__(self, store: Store, options: Options, selection: Selection) -> None:
        self._store = store
        self._options = options
        self._selection = selection
        self.counts: Counter[str] = Counter()
        self.version = 0  # of the last change that was read
        self.unreadable: list[RejectedDocument] = []  # documents that the archive does not have; the caller clears it
        self.fail_on_missing_files = False  # raise an error if a file of the archive is missing

    def snapshot(self, since: int | None) -> Iterator[ExportEntry]:
        """All current documents; with `since`, only those that changed after that version, and deletions as well."""
        for published in self._store.changes.published(since or 0):
            yield from self._entries(published, with_deletions=since is not None)

    def increments(self, since: int, until: int) -> Iterator[ExportEntry]:
        """The changes between two versions, with the documents as they were at the second."""
        exported = since
        while block := list(self._store.changes.published(since, until, _CHANGES_PER_READ, exported)):
            for published in block:
                yield from self._entries(published, with_deletions=True)
            since = block[-1].version

    def _entries(self, published: PublishedChange, *, with_deletions: bool) -> Iterator[ExportEntry]:
        self.version = published.version
        entry = self._entry(published)
        if isinstance(entry, DeletedDocument):
            if with_deletions:
                self.counts["deletions"] += 1
                yield entry
        elif entry is not None:
            self.counts["documents"] += 1
            self.counts["duplicates"] += entry.duplicate_of is not None
            yield entry

    def _entry(self, published: PublishedChange) -> ExportEntry | None:
        """The document or deletion for a change; None if the archive does not have the document."""
        document, selection = published.document, self._selection
        if document is None:
            return _deletion(
                published, EVIDENCE.get(published.reason, DeletionEvidence.UNKNOWN), published.detail or None
            )
        if not selection.includes(published, document):
            return _deletion(published, DeletionEvidence.NOT_SELECTED, None)
        if published.duplicate_of is not None and self._folds(published.duplicate_of):
            return _deletion(published, DeletionEvidence.DUPLICATE, published.duplicate_of)
        try:
            return self._read(published, document)
        except DiskTrouble as error:
            if self.fail_on_missing_files and isinstance(error.__cause__, FileNotFoundError):
                raise DiskTrouble(
                    f"{error} What was exported before is noted; restore the file, then export again."
                ) from error
            self.counts["unreadable"] += 1
            self.unreadable.append(
                RejectedDocument(
                    id=identifier(published.key), url=published.url, version=published.version, error=str(error)
                )
            )
            return None

    def _folds(self, original: str) -> bool:
        """Whether the duplicates of this original are left out: not if the original itself is not selected.

        Near-duplicates may lie on both sides of the relevance that is wanted.
        """
        is_folded = self._selection.folds(original)
        if not is_folded or self._selection.min_relevance is None:
            return is_folded
        versions = self._store.documents.versions(key_of(original))
        current = next((version for version in versions if version.reason is Reason.OK), None)
        return current is not None and self._selection.is_relevant(current)

    def _read(self, published: PublishedChange, document: DocumentRow) -> ExportedDocument:
        archived = read_archived(self._store, self._options.warc_directory, document)
        content, selection = self._content(document, archived), self._selection
        return exported_document(
            published,
            document,
            text=content.text,
            noarchive=content.directives.noarchive,
            anchors=self._store.documents.anchors(published.key),
            blocks=content.blocks if selection.blocks else None,
            links=content.links if selection.links else None,
        )

    def _content(self, document: DocumentRow, archived: ArchivedAnswer) -> _Content:
        """Read from the archive what no table has; stored metadata and block weights save half of the work."""
        reading, selection = self._options.reading.as_recorded(document.extractor), self._selection
        stored = stored_text(document)
        if document.format == "html" and not selection.links:
            headers = archived.headers
            in_headers = directives.from_headers(value for name, value in headers if name == "x-robots-tag")
            content_type = next((value for name, value in headers if name == "content-type"), "")
            body = plain_body(archived.body, headers).data
            main, in_page = main_text_of(
                body,
                document.url,
                content_type,
                reading,
                stored if document.extractor or document.text_digest else NOTHING_STORED,
                with_blocks=selection.blocks,
            )
            return _Content(main.text, main.blocks, directives.merged(in_headers, in_page), ())
        page = parse_archived(archived, reading, stored if document.extractor else NOTHING_STORED)
        return _Content(
            text_of(page),
            blocks_of(page) if selection.blocks else (),
            directives_of(archived, page),
            [OutLink(key_of(url), url, anchor, rel) for url, anchor, rel in _links_of(page)],
        )


def stored_text(document: DocumentRow) -> StoredText:
    """Return what the store has of the main text of a page, whatever it was extracted by."""
    digest = document.text_digest
    return StoredText(weights=document.weights, is_right=lambda text: main_text_digest(text) == digest)


class _Content(NamedTuple):
    text: str
    blocks: Sequence[TextBlock]
    directives: Directives
    links: Sequence[OutLink]


def stored_pages(store: Store, visits: Mapping[Key, Visited], after: int) -> dict[Key, ExportedDocument]:
    """Return the pages of visits that were just committed as an export would, without reading the archive.

    `after` is the version of the change feed before the commit. Visits that brought no page are left out.
    """
    found = {}
    for published in store.changes.published(after):
        visited, document = visits.get(published.key), published.document
        if visited is None or visited.page is None or document is None:
            continue
        found[published.key] = exported_document(
            published,
            document,
            text=visited.page.text,
            noarchive=visited.page.metadata.get("robots") == "noarchive",
            anchors=store.documents.anchors(published.key),
        )
    return found


def exported_document(
    published: PublishedChange,
    document: DocumentRow,
    *,
    text: str,
    noarchive: bool,
    anchors: Sequence[tuple[str, str]],
    blocks: Sequence[TextBlock] | None = None,
    links: Sequence[OutLink] | None = None,
) -> ExportedDocument:
    """Return the document of a change, with what no table has."""
    return ExportedDocument(
        version=published.version,
        event=ChangeEvent.UPSERT if published.is_new else ChangeEvent.META,
        key=published.key,
        url=published.url,
        host=host_of(published.url),
        fetched=published.seen,
        status=document.status,
        content_type=document.content_type,
        title=document.title,
        text=text,
        blocks=blocks,
        format=document.format,
        problem=document.problem,
        metadata=document.metadata,
        noarchive=noarchive,
        language=document.language,
        digest=document.body_digest,
        duplicate_of=published.duplicate_of,
        similarity=document.similarity,
        tier=document.tier.name.lower() if document.tier is not None else None,
        anchors=anchors,
        links=links,
        relevance=_exported_relevance(document),
    )


def _exported_relevance(document: DocumentRow) -> float | None:
    return round(document.relevance, RELEVANCE_DIGITS) if document.relevance is not None else None


def _links_of(page: ParsedBody) -> list[tuple[str, str, str]]:
    if isinstance(page, Html):
        return [(link.url, link.anchor, link.rel) for link in page.links]
    return [(link.url, link.anchor, "") for link in page.links]


def _deletion(published: PublishedChange, evidence: DeletionEvidence, target: str | None) -> DeletedDocument:
    return DeletedDocument(
        version=published.version, key=published.key, url=published.url, evidence=evidence, target=target
    )
