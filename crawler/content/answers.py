"""An archived answer read back: its bytes as they came, and what they say as we understand it now."""

from __future__ import annotations

from dataclasses import dataclass

from crawler.items import Fetched, Reason
from crawler.parse import directives
from crawler.parse.coding import plain_body
from crawler.parse.directives import Directives
from crawler.parse.html import Html, Reading
from crawler.parse.reading import ParsedBody, parse_body


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


def plain_of(archived: ArchivedAnswer) -> tuple[bytes, str]:
    """The body without its codings, and the type that the server gives it."""
    headers = archived.headers
    content_type = next((value for name, value in headers if name == "content-type"), "")
    return plain_body(archived.body, headers).data, content_type


def read_again(archived: ArchivedAnswer, reading: Reading) -> ParsedBody:
    """What a document says, as it is understood now."""
    body, content_type = plain_of(archived)
    return parse_body(body, archived.url, content_type, reading=reading)


def asked_of(archived: ArchivedAnswer, found: ParsedBody) -> Directives:
    """What a document and its headers ask of crawlers."""
    asked = directives.from_headers(value for name, value in archived.headers if name == "x-robots-tag")
    return directives.merged(asked, found.directives) if isinstance(found, Html) else asked
