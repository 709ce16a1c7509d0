"""An archived answer, and how to parse it again with the current code."""

from __future__ import annotations

from dataclasses import dataclass

from crawler.items import Fetched, Reason
from crawler.parse import directives
from crawler.parse.coding import plain_body
from crawler.parse.directives import Directives
from crawler.parse.html import NOTHING_STORED, Html, Reading, StoredText
from crawler.parse.reading import ParsedBody, parse_body


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivedAnswer:
    """The bytes of an answer, as the archive has them."""

    url: str
    head: bytes  # status line and headers, with the empty line
    body: bytes  # as on the wire: neither transfer nor content coding undone

    @property
    def headers(self) -> list[tuple[str, str]]:
        return Fetched(url=self.url, reason=Reason.OK, started=0, ended=0, head=self.head).headers

    @property
    def content_type(self) -> str:
        return next((value for name, value in self.headers if name == "content-type"), "")


def plain_body_of(archived: ArchivedAnswer) -> tuple[bytes, str]:
    """Return the body with its codings undone, and its Content-Type."""
    headers = archived.headers
    content_type = next((value for name, value in headers if name == "content-type"), "")
    return plain_body(archived.body, headers).data, content_type


def parse_archived(archived: ArchivedAnswer, reading: Reading, stored: StoredText = NOTHING_STORED) -> ParsedBody:
    """Parse an archived answer with the current code."""
    body, content_type = plain_body_of(archived)
    return parse_body(body, archived.url, content_type, reading=reading, stored=stored)


def directives_of(archived: ArchivedAnswer, parsed: ParsedBody) -> Directives:
    """Return the robots directives of the headers and of the document together."""
    of_headers = directives.from_headers(value for name, value in archived.headers if name == "x-robots-tag")
    return directives.merged(of_headers, parsed.directives) if isinstance(parsed, Html) else of_headers
