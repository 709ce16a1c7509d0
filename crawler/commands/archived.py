"""An archived answer read back: its bytes as they came, and what they say as we understand it now."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from crawler.archive.reading import read_block
from crawler.errors import CrawlError, DiskTrouble
from crawler.items import Fetched, Reason, State
from crawler.options import Options
from crawler.parse import directives
from crawler.parse.coding import plain_body
from crawler.parse.directives import Directives
from crawler.parse.html import Html, Reading
from crawler.parse.reading import Read, read
from crawler.stores.contract import DocumentRow, Place, Store
from crawler.stores.open import open_store
from crawler.urls.keys import key_of

_HEAD = re.compile(rb".*?\r?\n\r?\n", re.DOTALL)  # some servers end their lines with LF alone


@dataclass(frozen=True, slots=True, kw_only=True)
class Archived:
    """What a server sent."""

    url: str
    head: bytes  # status line and headers, with the empty line
    body: bytes  # as on the wire: neither transfer nor content coding undone

    @property
    def headers(self) -> list[tuple[str, str]]:
        return Fetched(url=self.url, reason=Reason.OK, started=0, ended=0, head=self.head).headers

    @property
    def content_type(self) -> str:
        return next((value for name, value in self.headers if name == "content-type"), "")


def read_archived(store: Store, directory: Path, document: DocumentRow) -> Archived:
    """Read a document from the archive, or `DiskTrouble`. A copy was kept without its body, which is that of the first."""
    head, body = _parts(_block(directory, document.place))
    if document.body_of is not None:
        first = store.find_document(document.body_of)
        assert first is not None, "documents are never removed from under their copies"
        _, body = _parts(_block(directory, first.place))
    return Archived(url=document.url, head=head, body=body)


def newest_archived(options: Options, text: str) -> tuple[Archived, DocumentRow]:
    """The newest answer of a URL, or `CrawlError` that says why there is none."""
    url = options.urls.new_policy().canonicalize(text)
    if url is None:
        raise CrawlError(f"{text}: nothing that is ever crawled; `scrapy why` tells what is wrong with it.")
    store = open_store(options.store, read_only=True)
    try:
        document = archived_versions(store, url)[-1]
        return read_archived(store, options.warc_directory, document), document
    finally:
        store.close()


def archived_versions(store: Store, url: str) -> list[DocumentRow]:
    """The oldest first; at least one, or `CrawlError` that says why there is none."""
    row = store.find_url(key_of(url))
    if row is not None and row.url != url:
        raise CrawlError(f"{url}: could not be kept, it has the same key as {row.url}, which was found first.")
    versions = store.documents(key_of(url))
    if not versions:
        raise CrawlError(f"{url}: {_why_not(store, url)}; `scrapy why {url}` tells more.")
    return versions[::-1]


def _why_not(store: Store, url: str) -> str:
    row = store.find_url(key_of(url))
    if row is None:
        return "not archived and not known: it is no seed, and no page that was fetched links to it"
    then = " and not visited yet" if row.state is State.WAITING and row.visited is None else ""
    return f"not archived: {row.state.name.lower()}, {row.reason.meaning} ({row.reason.name.lower()}){then}"


def plain_of(archived: Archived) -> tuple[bytes, str]:
    """The body without its codings, and the type that the server gives it."""
    return plain_body(archived.body, archived.headers).data, archived.content_type


def read_again(archived: Archived, reading: Reading) -> Read:
    """What a document says, as it is understood now."""
    body, content_type = plain_of(archived)
    return read(body, archived.url, content_type, reading=reading)


def asked_of(archived: Archived, found: Read) -> Directives:
    """What a document and its headers ask of crawlers."""
    asked = directives.from_headers(value for name, value in archived.headers if name == "x-robots-tag")
    return directives.merged(asked, found.directives) if isinstance(found, Html) else asked


def _block(directory: Path, place: Place) -> bytes:
    try:
        return read_block(directory, place.segment, place.offset, place.length)
    except DiskTrouble:
        # A crawl that runs may have given the file its name just while it was looked for.
        return read_block(directory, place.segment, place.offset, place.length)


def _parts(block: bytes) -> tuple[bytes, bytes]:
    found = _HEAD.match(block)
    return (block[: found.end()], block[found.end() :]) if found else (block, b"")
