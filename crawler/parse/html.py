"""Parse an HTML page into title, main text, links, metadata and robots directives.

The page is parsed once, by the rules of the HTML Standard, so that the crawler sees the page as browsers do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from math import inf

import turbohtml
from turbohtml import Document

from crawler.items import ROBOTS_TOKEN, TextBlock
from crawler.parse import directives
from crawler.parse.charset import decode
from crawler.parse.directives import Directives
from crawler.parse.language import NO_LANGUAGE, Language, identify_language
from crawler.parse.links import MOST_LINKS, Canonicalize, HtmlLink, base_of, links_of, urls_in
from crawler.parse.main_text.extractors import DEFAULT, UNRECORDED, extract, name_with_versions, recorded_methods
from crawler.parse.main_text.outline import outline
from crawler.parse.main_text.result import NO_TEXT, MainText, ParsedPage, main_text_from_weights
from crawler.parse.metadata.metadata import NO_METADATA, Metadata, metadata_of
from crawler.urls import canonical

_DAY = 86_400.0  # tolerance for time zones
_MOST_WORDS_OF_LOGIN = 60  # a page that asks for a password and says little else is a login

_OPENING = re.compile(
    rb"(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?\s*+(?:(?><!--.*?-->|<\?xml[^>]*>)\s*+)*+"
    rb"<(?:!doctype\s+html|html|head|body|title|meta|link|script|style|base|iframe|frameset"
    rb"|h[1-6]|div|span|font|table|form|center|ul|ol|p|a|b|br|hr|img)[\s/>]",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Options for parsing pages."""

    extractor: str = DEFAULT  # the method that extracts the main text
    second: str = ""  # the method to use where the first is not sure of its result
    context: bool = True  # links have their position on the page and the words around them
    links_in_data: bool = False  # take URLs that only JSON-LD has as links
    links_in_text: bool = False  # take URLs in the text as links
    skip_rel: tuple[str, ...] = ("nofollow", "sponsored")  # links with one of these words are not followed

    @property
    def extractor_recorded(self) -> str:
        """What is recorded of the extraction of a main text."""
        return name_with_versions(self.extractor, self.second)

    def as_recorded(self, extractor: str) -> Reading:
        """Return these options with the methods by which a main text was once extracted, as far as there are any."""
        if not extractor:  # what the user has chosen was probably chosen then, too
            return replace(self, extractor=UNRECORDED) if self.extractor == DEFAULT else self
        methods = recorded_methods(extractor)
        return self if methods is None else replace(self, extractor=methods[0], second=methods[1])

    def follows(self, link: HtmlLink) -> bool:
        """Whether to crawl a link: not the action of a form, nor a link with a rel of `skip_rel`."""
        if link.tag == "form":
            return False
        return not link.rel or not any(word in self.skip_rel for word in link.rel.split())


DEFAULT_READING = Reading()


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredText:
    """What a store has of a main text, with which it can be had again in less time."""

    weights: bytes  # of the blocks
    is_right: Callable[[str], bool]  # whether this was the text


NOTHING_STORED = StoredText(weights=b"", is_right=bool)


@dataclass(frozen=True, slots=True, kw_only=True)
class Html:
    """A parsed page."""

    title: str = ""  # the text of <title>, else the best title found
    blocks: Sequence[TextBlock] = ()  # all text, each block with its importance
    main_text: str = ""  # the text of the important blocks, a line each
    is_sure: bool = False  # the main text is probably right
    weights: bytes = b""  # with which the main text can be extracted again in half the time
    links: Sequence[HtmlLink] = ()  # in document order, each URL once
    base: str = ""  # the URL against which links are resolved
    canonical: str | None = None
    directives: Directives = directives.NONE
    metadata: Metadata = NO_METADATA
    language_details: Language = NO_LANGUAGE
    encoding: str = ""
    encoding_source: str = ""
    is_login: bool = False
    problem: str = ""
    format: str = "html"

    @property
    def all_text(self) -> str:
        """The text of all blocks, a line each."""
        return "\n".join([block.text for block in self.blocks])

    @property
    def noindex(self) -> bool:
        return self.directives.noindex

    @property
    def nofollow(self) -> bool:
        return self.directives.nofollow

    @property
    def language(self) -> str:
        return self.language_details.code

    @property
    def published(self) -> float | None:
        return self.metadata.published

    @property
    def modified(self) -> float | None:
        return self.metadata.modified

    @property
    def author(self) -> str:
        return ", ".join(self.metadata.authors)

    @property
    def description(self) -> str:
        return self.metadata.description


def looks_like_html(body: bytes, content_type: str | None) -> bool:
    """Whether to parse a body as HTML: by its content type, or, without one, by its beginning.

    >>> looks_like_html(b"", "Text/HTML; charset=x"), looks_like_html(b"<p>", "text/plain")
    (True, False)
    >>> looks_like_html(b"<p>", None)
    True
    """
    essence = (content_type or "").partition(";")[0].partition(",")[0].strip().lower()
    if "/" in essence:
        return essence in ("text/html", "application/xhtml+xml")
    return _OPENING.match(body[:2048].replace(b"\0", b"")) is not None


def parse_html(
    body: bytes,
    url: str,
    content_type: str | None = None,
    *,
    reading: Reading = DEFAULT_READING,
    canonicalize: Canonicalize = canonical.canonicalize,
    now: float = inf,
    stored: StoredText = NOTHING_STORED,
) -> Html:
    """Parse a page that was fetched from this URL; never raises. Dates later than `now` (plus a day) are ignored."""
    decoded = decode(body, content_type)
    if not decoded.text:
        return Html(encoding=decoded.encoding, encoding_source=decoded.source)
    document = turbohtml.parse(decoded.text, positions=False)
    base = base_of(document, url)
    links, problem = links_of(
        document, base, decoded.encoding, canonicalize, context=reading.context, in_data=reading.links_in_data
    )
    document.remove("template")  # its content is not text of the page unless a script inserts it
    metadata = metadata_of(document, url, base, latest=now + _DAY)
    robots_directives = directives.parse(_robots_metas(document))
    asks_password = any((field.attr("type") or "").lower() == "password" for field in document.iter_elements("input"))
    found = _main_text(ParsedPage(html=decoded.text, document=document, url=url), reading, stored)
    if reading.links_in_text:
        links = _add_urls_in_text("\n".join(block.text for block in found.blocks), links, base, canonicalize)
    return Html(
        title=metadata.plain_title or metadata.title,
        blocks=found.blocks,
        main_text=found.text,
        is_sure=found.is_sure,
        weights=found.weights,
        links=links,
        base=base,
        canonical=canonicalize(metadata.canonical, base) if metadata.canonical else None,
        directives=robots_directives,
        metadata=metadata,
        language_details=identify_language(found.text, metadata.language_declared),
        encoding=decoded.encoding,
        encoding_source=decoded.source,
        is_login=asks_password and len(found.text.split(None, _MOST_WORDS_OF_LOGIN)) < _MOST_WORDS_OF_LOGIN,
        problem=problem,
    )


def main_text_of(
    body: bytes,
    url: str,
    content_type: str | None,
    reading: Reading = DEFAULT_READING,
    stored: StoredText = NOTHING_STORED,
    *,
    with_blocks: bool = True,
) -> tuple[MainText, Directives]:
    """Extract only the main text and the robots directives of a page, in half the time of `parse_html`.

    With what is stored of an earlier extraction it takes a quarter, and the text may then come without blocks.
    """
    decoded = decode(body, content_type)
    if not decoded.text:
        return NO_TEXT, directives.NONE
    document = turbohtml.parse(decoded.text, positions=False)
    document.remove("template")
    robots_directives = directives.parse(_robots_metas(document))
    source = ParsedPage(html=decoded.text, document=document, url=url)
    return _main_text(source, reading, stored, with_blocks=with_blocks), robots_directives


def _main_text(source: ParsedPage, reading: Reading, stored: StoredText, *, with_blocks: bool = True) -> MainText:
    if stored.weights:
        parts = outline(source.document, text_only=True)
        found = main_text_from_weights(parts, stored.weights, with_blocks=with_blocks)
        if found is not None and stored.is_right(found.text):
            return found
    return extract(source, reading.extractor, reading.second)


def _add_urls_in_text(text: str, links: list[HtmlLink], base: str, canonicalize: Canonicalize) -> list[HtmlLink]:
    known = {link.url for link in links}
    found = (canonicalize(written, base) for _, written in urls_in(text))
    new = dict.fromkeys(url for url in found if url is not None and url not in known)
    return links + [HtmlLink(url, "", "", "text") for url in islice(new, max(MOST_LINKS - len(links), 0))]


def _robots_metas(document: Document) -> list[str]:
    """The contents of the robots metas for all crawlers and for ours."""
    return [
        meta.attr("content") or ""
        for meta in document.iter_elements("meta")
        if (meta.attr("name") or "").strip().lower() in ("robots", ROBOTS_TOKEN)
    ]
