"""What does a body say, whatever its format?"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import turbohtml

from crawler.items import TextBlock
from crawler.parse.documents import Document, convert, format_of
from crawler.parse.html import AS_USUAL, Html, Reading, parse_html
from crawler.parse.links import Canonicalize
from crawler.parse.main_text.extractors import extract
from crawler.parse.main_text.result import ParsedPage
from crawler.urls import canonical

Read = Html | Document


def text_of(found: Read) -> str:
    """The main text of a page, all of another document."""
    return found.main_text if isinstance(found, Html) else found.text


def blocks_of(found: Read) -> Sequence[TextBlock]:
    """All text in parts: that of a page by what it matters, of another document all matters alike."""
    if isinstance(found, Html):
        return found.blocks
    document = turbohtml.parse(found.html, positions=False)
    return extract(ParsedPage(html=found.html, document=document), "everything").blocks


def read(
    body: bytes,
    url: str,
    content_type: str | None = None,
    *,
    reading: Reading = AS_USUAL,
    canonicalize: Canonicalize = canonical.canonicalize,
    now: float = inf,
) -> Read:
    """A page, or a document of another format. Any bytes give an answer: that of a format that is not read has no text."""
    if format_of(body, url, content_type) == "html":
        return parse_html(body, url, content_type, reading=reading, canonicalize=canonicalize, now=now)
    return convert(body, url, content_type)
