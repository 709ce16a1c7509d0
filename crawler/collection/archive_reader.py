"""Read answers back from the archive: by document, or the newest of a URL, or say why there is none."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from crawler.archive.reading import read_block, read_block_at
from crawler.content.answers import ArchivedAnswer
from crawler.errors import CrawlError, DiskTrouble
from crawler.files import PLACE
from crawler.items import State
from crawler.options import Options
from crawler.stores.contract.archive import ArchivePosition
from crawler.stores.contract.documents import DocumentRow
from crawler.stores.contract.store import Store
from crawler.stores.open import open_store
from crawler.urls.keys import key_of

_OUTLINK = re.compile(rb"^outlink: (\S+) L\r?$", re.MULTILINE)
_HEAD = re.compile(rb".*?\r?\n\r?\n", re.DOTALL)  # some servers end their lines with LF alone


def read_archived(store: Store, directory: Path, document: DocumentRow) -> ArchivedAnswer:
    """Read a document from the archive, or raise `DiskTrouble`; the body of a copy is that of its original."""
    if not document.has_body:
        raise CrawlError(
            f"{document.url}: off topic, so only its links and digests are archived (FOCUS_ARCHIVE=kept). "
            f"`scrapy why {document.url}` tells more."
        )
    head, body = _parts(_block(store, directory, document.position))
    if document.body_of is not None:
        first = store.documents.find(document.body_of)
        assert first is not None, "documents are never removed from under their copies"
        _, body = _parts(_block(store, directory, first.position))
    return ArchivedAnswer(url=document.url, head=head, body=body)


def read_outlinks(store: Store, directory: Path, document: DocumentRow) -> list[str]:
    """Return the URLs to which a page linked when it was fetched, from the archive, or raise `DiskTrouble`."""
    place = document.position
    offset = place.offset + place.length if document.has_body else place.offset  # the record behind that of the answer
    block = _from_any_directory(store, directory, lambda where: read_block_at(where, place.segment, offset))
    is_answer = block.startswith(b"HTTP/")  # of another visit; this one's has no metadata
    return [] if is_answer else [url.decode("utf-8", "surrogateescape") for url in _OUTLINK.findall(block)]


def newest_archived(options: Options, text: str) -> tuple[ArchivedAnswer, DocumentRow]:
    """The newest archived answer of a URL; `CrawlError` says why there is none."""
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
    """All archived versions of a URL, the oldest first; `CrawlError` says why there are none."""
    row = store.urls.find(key_of(url))
    if row is not None and row.url != url:
        raise CrawlError(f"{url}: could not be kept, it has the same key as {row.url}, which was found first.")
    versions = store.documents.versions(key_of(url))
    if not versions:
        raise CrawlError(f"{url}: {_why_not_archived(store, url)}; `scrapy why {url}` tells more.")
    return versions[::-1]


def _why_not_archived(store: Store, url: str) -> str:
    """The state of a URL that explains why it has no archived version."""
    row = store.urls.find(key_of(url))
    if row is None:
        return "not archived and not known: it is no seed, and no page that was fetched links to it"
    then = " and not visited yet" if row.state is State.WAITING and row.visited is None else ""
    return f"not archived: {row.state.name.lower()}, {row.reason.meaning} ({row.reason.name.lower()}){then}"


def _block(store: Store, directory: Path, place: ArchivePosition) -> bytes:
    return _from_any_directory(
        store, directory, lambda where: read_block(where, place.segment, place.offset, place.length)
    )


def _from_any_directory(store: Store, directory: Path, read: Callable[[Path], bytes]) -> bytes:
    try:
        return read(directory)
    except DiskTrouble:
        # A crawl that runs may have given the file its name just while it was looked for; or another crawl directory
        # of this store has written it.
        for other in (directory, *_other_directories(store, directory)):
            with suppress(DiskTrouble):
                return read(other)
        raise


def _other_directories(store: Store, directory: Path) -> list[Path]:
    """Return where the other crawl directories of this store keep their files; a copy of ours is no other one."""
    try:
        own = (directory.parent / PLACE).read_text(encoding="utf-8").strip()
    except OSError:  # a crawl of an older version, which has one directory
        own = ""
    return [Path(path) for place, path in store.archive.directories().items() if place != own]


def _parts(block: bytes) -> tuple[bytes, bytes]:
    found = _HEAD.match(block)
    return (block[: found.end()], block[found.end() :]) if found else (block, b"")
