"""The change feed as documents: what of the collection somebody is to have, read from store and archive in the order of versions."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from crawler.collection.archive_reader import read_archived
from crawler.content.answers import ArchivedAnswer, asked_of, read_again
from crawler.content.readers import main_text_digest
from crawler.errors import DiskTrouble
from crawler.items import (
    ChangeEvent,
    DeletedDocument,
    DeletionEvidence,
    ExportedDocument,
    ExportEntry,
    OutLink,
    Reason,
    RejectedDocument,
    TextBlock,
    identifier,
)
from crawler.options import Options
from crawler.parse import directives
from crawler.parse.coding import plain_body
from crawler.parse.directives import Directives
from crawler.parse.html import Html, main_text_of
from crawler.parse.reading import ParsedBody, blocks_of, text_of
from crawler.stores.contract.changes import PublishedChange
from crawler.stores.contract.documents import DocumentRow
from crawler.stores.contract.store import Store
from crawler.urls.hosts import host_of, matches
from crawler.urls.keys import key_of

KEEP, FOLD = "keep", "fold"  # what becomes of duplicates
_BLOCK = 1_000  # changes that are read at a time: no reading is so long that it would hold up a crawl

# Why a document has gone, in the words of whoever keeps an index. What is not among them is no evidence.
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
    Reason.ROBOTS_DENIED: DeletionEvidence.ROBOTS,
    Reason.FORBIDDEN: DeletionEvidence.PRIVATE,
    Reason.LOGIN_WALL: DeletionEvidence.PRIVATE,
    Reason.REDIRECTED: DeletionEvidence.REDIRECTED,
    Reason.NOT_A_PAGE: DeletionEvidence.NOT_A_PAGE,
    Reason.UNWANTED_TYPE: DeletionEvidence.NOT_A_PAGE,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What of the collection, and what of each document."""

    hosts: Sequence[str] = ()  # shell patterns; none = all
    languages: Sequence[str] = ()  # codes; none = all
    duplicates: str = KEEP  # marked as such, or their originals stand for them
    blocks: bool = False
    links: bool = False
    fields: Sequence[str] = ()  # none = all

    def written(self) -> str:
        """As it is kept with a checkpoint: with another one the sink would have some of both."""
        facts = {name: getattr(self, name) for name in self.__slots__}
        return json.dumps({name: value for name, value in facts.items() if value}, sort_keys=True)

    def has(self, published: PublishedChange, document: DocumentRow) -> bool:
        return self._has_host(published.url) and (not self.languages or document.language in self.languages)

    def folds(self, original: str) -> bool:
        """Whether an original stands for its duplicates: not if it is not there itself."""
        return self.duplicates == FOLD and self._has_host(original)

    def _has_host(self, url: str) -> bool:
        return not self.hosts or matches(host_of(url), self.hosts)


class ChangeFeed:
    """Goes through the changes once, and counts."""

    def __init__(self, store: Store, options: Options, selection: Selection) -> None:
        self._store = store
        self._options = options
        self._selection = selection
        self.counts: Counter[str] = Counter()
        self.version = 0  # of the last change that was looked at
        self.unreadable: list[RejectedDocument] = []  # since somebody last took them
        self.must_have_files = False  # an archive without some of its files is not gone round

    def snapshot(self, since: int | None) -> Iterator[ExportEntry]:
        """The collection at one moment, or what of it is other than at a version. Deletions only with such a version."""
        for published in self._store.changes.published(since or 0):
            yield from self._entries(published, with_deletions=since is not None)

    def increments(self, since: int, until: int) -> Iterator[ExportEntry]:
        """What has changed between two versions, as it was at the second."""
        told = since
        while block := list(self._store.changes.published(since, until, _BLOCK, told)):
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
        """None if the archive does not have it."""
        document, selection = published.document, self._selection
        if document is None:
            return _deleted(
                published, EVIDENCE.get(published.reason, DeletionEvidence.UNKNOWN), published.detail or None
            )
        if not selection.has(published, document):
            return _deleted(published, DeletionEvidence.NOT_SELECTED, None)
        if published.duplicate_of is not None and selection.folds(published.duplicate_of):
            return _deleted(published, DeletionEvidence.DUPLICATE, published.duplicate_of)
        try:
            return self._read(published, document)
        except DiskTrouble as error:
            if self.must_have_files and isinstance(error.__cause__, FileNotFoundError):
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

    def _read(self, published: PublishedChange, document: DocumentRow) -> ExportedDocument:
        archived = read_archived(self._store, self._options.warc_directory, document)
        content, selection = self._content(document, archived), self._selection
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
            text=content.text,
            blocks=content.blocks if selection.blocks else None,
            format=document.format,
            problem=document.problem,
            metadata=document.metadata,
            noarchive=content.asked.noarchive,
            language=document.language,
            digest=document.body_digest,
            duplicate_of=published.duplicate_of,
            similarity=document.similarity,
            tier=document.tier.name.lower() if document.tier is not None else None,
            anchors=self._store.documents.anchors(published.key),
            links=content.links if selection.links else None,
        )

    def _content(self, document: DocumentRow, archived: ArchivedAnswer) -> _Content:
        """What is in no table: half of what there is to read of a page is, and is not read again."""
        reading, selection = self._options.reading, self._selection
        if document.format == "html" and not selection.links:
            headers = archived.headers
            in_head = directives.from_headers(value for name, value in headers if name == "x-robots-tag")
            content_type = next((value for name, value in headers if name == "content-type"), "")
            body = plain_body(archived.body, headers).data
            weights, digest = document.weights, document.text_digest
            main, asked = main_text_of(
                body,
                document.url,
                content_type,
                reading,
                weights if digest else b"",
                lambda text: main_text_digest(text) == digest,
                with_blocks=selection.blocks,
            )
            return _Content(main.text, main.blocks, directives.merged(in_head, asked), ())
        found = read_again(archived, reading)
        return _Content(
            text_of(found),
            blocks_of(found) if selection.blocks else (),
            asked_of(archived, found),
            [OutLink(key_of(url), url, anchor, rel) for url, anchor, rel in _links_of(found)],
        )


class _Content(NamedTuple):
    text: str
    blocks: Sequence[TextBlock]
    asked: Directives
    links: Sequence[OutLink]


def _links_of(found: ParsedBody) -> list[tuple[str, str, str]]:
    if isinstance(found, Html):
        return [(link.url, link.anchor, link.rel) for link in found.links]
    return [(link.url, link.anchor, "") for link in found.links]


def _deleted(published: PublishedChange, evidence: DeletionEvidence, target: str | None) -> DeletedDocument:
    return DeletedDocument(
        version=published.version, key=published.key, url=published.url, evidence=evidence, target=target
    )
