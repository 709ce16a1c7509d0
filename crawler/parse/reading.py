"""Parse a response body of any format: HTML pages and converted documents behind one interface."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import turbohtml

from crawler.items import TextBlock
from crawler.parse.documents import Document, convert, format_of
from crawler.parse.html import DEFAULT_READING, NOTHING_STORED, Html, Reading, StoredText, parse_html
from crawler.parse.links import Canonicalize
from crawler.parse.main_text.extractors import extract
from crawler.parse.main_text.result import ParsedPage
from crawler.urls import canonical

ParsedBody = Html | Document


def text_of(parsed: ParsedBody) -> str:
    """The text to index: the main text of a page, all text of another document."""
    return parsed.main_text if isinstance(parsed, Html) else parsed.text


def blocks_of(parsed: ParsedBody) -> Sequence[TextBlock]:
    """All text in blocks: those of a page have their importance, those of other documents are equally important."""
    if isinstance(parsed, Html):
        return parsed.blocks
    document = turbohtml.parse(parsed.html, positions=False)
    return extract(ParsedPage(html=parsed.html, document=document), "everything").blocks


def parse_body(
    body: bytes,
    url: str,
    content_type: str | None = None,
    *,
    reading: Reading = DEFAULT_READING,
    canonicalize: Canonicalize = canonical.canonicalize,
    now: float = inf,
    stored: StoredText = NOTHING_STORED,
) -> ParsedBody:
    """Parse a page, or convert a document of another format; an unsupported format yields a document without text."""
    if format_of(body, url, content_type) == "html":
        return parse_html(body, url, content_type, reading=reading, canonicalize=canonicalize, now=now, stored=stored)
    return convert(body, url, content_type)
