"""An archived answer read back: its bytes as they came, and its text as we understand it now."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from crawler.archive.reading import read_block
from crawler.errors import DiskTrouble
from crawler.items import Fetched, Reason
from crawler.parse import directives
from crawler.parse.charset import decode
from crawler.parse.coding import plain_body
from crawler.parse.directives import Directives
from crawler.parse.html import looks_like_html, parse_html
from crawler.stores.contract import DocumentRow, Place, Store

_HEAD = re.compile(rb".*?\r?\n\r?\n", re.DOTALL)  # some servers end their lines with LF alone


@dataclass(frozen=True, slots=True, kw_only=True)
class Archived:
    """What a server sent."""

    url: str
    head: bytes  # status line and headers, with the empty line
    body: bytes  # as on the wire: neither transfer nor content coding undone


def read_archived(store: Store, directory: Path, document: DocumentRow) -> Archived:
    """Read a document from the archive, or `DiskTrouble`. A copy was kept without its body, which is that of the first."""
    head, body = _parts(_block(directory, document.place))
    if document.body_of is not None:
        first = store.find_document(document.body_of)
        assert first is not None, "documents are never removed from under their copies"
        _, body = _parts(_block(directory, first.place))
    return Archived(url=document.url, head=head, body=body)


def text_of(archived: Archived) -> str | None:
    """The main text of a page, all of a file of text; None if the format has no text that we can read."""
    return read_text(archived)[0]


def read_text(archived: Archived) -> tuple[str | None, Directives]:
    """The text of a document, and what it asks of crawlers."""
    headers = Fetched(url=archived.url, reason=Reason.OK, started=0, ended=0, head=archived.head).headers
    content_type = next((value for name, value in headers if name == "content-type"), "")
    asked = directives.from_headers(value for name, value in headers if name == "x-robots-tag")
    plain = plain_body(archived.body, headers).data
    if looks_like_html(plain, content_type):
        html = parse_html(plain, archived.url, content_type)
        return html.main_text, directives.merged(asked, html.directives)
    if content_type.lstrip().lower().startswith("text/"):
        return decode(plain, content_type).text, asked
    return None, asked


def _block(directory: Path, place: Place) -> bytes:
    try:
        return read_block(directory, place.segment, place.offset, place.length)
    except DiskTrouble:
        # A crawl that runs may have given the file its name just while it was looked for.
        return read_block(directory, place.segment, place.offset, place.length)


def _parts(block: bytes) -> tuple[bytes, bytes]:
    found = _HEAD.match(block)
    return (block[: found.end()], block[found.end() :]) if found else (block, b"")
