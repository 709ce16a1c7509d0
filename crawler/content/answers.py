"""An archived answer read back: its bytes as they came, and what they say as we understand it now."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from crawler.archive.reading import read_block
from crawler.errors import DiskTrouble
from crawler.items import Fetched, Reason
from crawler.parse import directives
from crawler.parse.coding import plain_body
from crawler.parse.directives import Directives
from crawler.parse.html import Html, Reading
from crawler.parse.reading import Read, read

if TYPE_CHECKING:  # content processes read answers too, and start without all that a store needs
    from crawler.stores.contract.archive import ArchivePosition
    from crawler.stores.contract.documents import DocumentRow
    from crawler.stores.contract.store import Store

_HEAD = re.compile(rb".*?\r?\n\r?\n", re.DOTALL)  # some servers end their lines with LF alone


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivedAnswer:
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


def read_archived(store: Store, directory: Path, document: DocumentRow) -> ArchivedAnswer:
    """Read a document from the archive, or `DiskTrouble`. A copy was kept without its body, which is that of the first."""
    head, body = _parts(_block(directory, document.position))
    if document.body_of is not None:
        first = store.documents.find(document.body_of)
        assert first is not None, "documents are never removed from under their copies"
        _, body = _parts(_block(directory, first.position))
    return ArchivedAnswer(url=document.url, head=head, body=body)


def plain_of(archived: ArchivedAnswer) -> tuple[bytes, str]:
    """The body without its codings, and the type that the server gives it."""
    headers = archived.headers
    content_type = next((value for name, value in headers if name == "content-type"), "")
    return plain_body(archived.body, headers).data, content_type


def read_again(archived: ArchivedAnswer, reading: Reading) -> Read:
    """What a document says, as it is understood now."""
    body, content_type = plain_of(archived)
    return read(body, archived.url, content_type, reading=reading)


def asked_of(archived: ArchivedAnswer, found: Read) -> Directives:
    """What a document and its headers ask of crawlers."""
    asked = directives.from_headers(value for name, value in archived.headers if name == "x-robots-tag")
    return directives.merged(asked, found.directives) if isinstance(found, Html) else asked


def _block(directory: Path, place: ArchivePosition) -> bytes:
    try:
        return read_block(directory, place.segment, place.offset, place.length)
    except DiskTrouble:
        # A crawl that runs may have given the file its name just while it was looked for.
        return read_block(directory, place.segment, place.offset, place.length)


def _parts(block: bytes) -> tuple[bytes, bytes]:
    found = _HEAD.match(block)
    return (block[: found.end()], block[found.end() :]) if found else (block, b"")
