"""What does a body say, whatever its format?"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import turbohtml

from crawler.items import TextBlock
from crawler.parse.documents import Document, convert, format_of
from crawler.parse.html import DEFAULT_READING, Html, Reading, parse_html
from crawler.parse.links import Canonicalize
from crawler.parse.main_text.extractors import extract
from crawler.parse.main_text.result import ParsedPage
from crawler.urls import canonical

ParsedBody = Html | Document


def text_of(parsed: ParsedBody) -> str:
    """The main text of a page, all of another document."""
    return parsed.main_text if isinstance(parsed, Html) else parsed.text


def blocks_of(parsed: ParsedBody) -> Sequence[TextBlock]:
    """All text in parts: that of a page by what it matters, of another document all matters alike."""
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
) -> ParsedBody:
    """A page, or a document of another format. Any bytes give an answer: that of a format that is not read has no text."""
    if format_of(body, url, content_type) == "html":
        return parse_html(body, url, content_type, reading=reading, canonicalize=canonicalize, now=now)
    return convert(body, url, content_type)
