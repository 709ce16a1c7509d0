"""What does a page say, and where does it lead?

One parse, by the rules of the HTML Standard, so that we see the page that browsers see.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
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
from crawler.parse.main_text.extractors import DEFAULT, extract
from crawler.parse.main_text.outline import outline
from crawler.parse.main_text.result import NO_TEXT, MainText, ParsedPage, main_text_from_weights
from crawler.parse.metadata.metadata import NO_METADATA, Metadata, metadata_of
from crawler.urls import canonical

_DAY = 86_400.0  # of grace for zones of time
_MOST_WORDS_OF_LOGIN = 60  # a page that asks for a password and says little else is a login

_OPENING = re.compile(
    rb"(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?\s*+(?:(?><!--.*?-->|<\?xml[^>]*>)\s*+)*+"
    rb"<(?:!doctype\s+html|html|head|body|title|meta|link|script|style|base|iframe|frameset"
    rb"|h[1-6]|div|span|font|table|form|center|ul|ol|p|a|b|br|hr|img)[\s/>]",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How pages are read."""

    extractor: str = DEFAULT  # the method that finds the main text
    second: str = ""  # the method that is asked where that one is not sure
    context: bool = True  # links come with where on the page they stand, and the words around them
    links_in_data: bool = False  # URLs that only JSON-LD has are links
    links_in_text: bool = False  # URLs that stand in the text are links
    skip_rel: tuple[str, ...] = ("nofollow", "sponsored")  # links with one of these words are not followed

    def follows(self, link: HtmlLink) -> bool:
        """Whether a link is one to visit: what a form is sent to is an answer to questions that we did not ask."""
        if link.tag == "form":
            return False
        return not link.rel or not any(word in self.skip_rel for word in link.rel.split())


DEFAULT_READING = Reading()


@dataclass(frozen=True, slots=True, kw_only=True)
class Html:
    """Everything a page tells about itself."""

    title: str = ""  # what <title> says, or else the best that can be had
    blocks: Sequence[TextBlock] = ()  # all of its text, each with how much it matters
    main_text: str = ""  # of those that matter, a line each
    is_sure: bool = False  # the main text is probably right
    weights: bytes = b""  # by which the main text can be had again in half the time
    links: Sequence[HtmlLink] = ()  # in document order, each URL once
    base: str = ""  # against which its links are read
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
        """A line for each block."""
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
    """Whether to read this body as HTML: its type says so, or it has none and begins like a page.

    >>> looks_like_html(b"", "Text/HTML; charset=x"), looks_like_html(b"<p>", "text/plain"), looks_like_html(b"<p>", None)
    (True, False, True)
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
) -> Html:
    """Read a page that was fetched from this URL. Any bytes give an answer; dates that lie after now are none."""
    decoded = decode(body, content_type)
    if not decoded.text:
        return Html(encoding=decoded.encoding, encoding_source=decoded.source)
    document = turbohtml.parse(decoded.text, positions=False)
    base = base_of(document, url)
    links, problem = links_of(
        document, base, decoded.encoding, canonicalize, context=reading.context, in_data=reading.links_in_data
    )
    document.remove("template")  # what it holds is no text of the page until a script says so
    metadata = metadata_of(document, url, base, latest=now + _DAY)
    robots_directives = directives.parse(_robots_metas(document))
    asks_password = any((field.attr("type") or "").lower() == "password" for field in document.iter_elements("input"))
    found = extract(ParsedPage(html=decoded.text, document=document, url=url), reading.extractor, reading.second)
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
    weights: bytes = b"",
    is_right: Callable[[str], bool] = bool,
    *,
    with_blocks: bool = True,
) -> tuple[MainText, Directives]:
    """What a page is about and what it asks of crawlers, and no more: half the time of all.

    A quarter, if the weights are known from when it was read before, and what they give `is_right`; then there need be no
    blocks.
    """
    decoded = decode(body, content_type)
    if not decoded.text:
        return NO_TEXT, directives.NONE
    document = turbohtml.parse(decoded.text, positions=False)
    document.remove("template")
    robots_directives = directives.parse(_robots_metas(document))
    source = ParsedPage(html=decoded.text, document=document, url=url)
    parts = outline(document, text_only=True) if weights else ()
    found = main_text_from_weights(parts, weights, with_blocks=with_blocks) if weights else None
    if found is None or not is_right(found.text):
        found = extract(source, reading.extractor, reading.second)
    return found, robots_directives


def _add_urls_in_text(text: str, links: list[HtmlLink], base: str, canonicalize: Canonicalize) -> list[HtmlLink]:
    known = {link.url for link in links}
    found = (canonicalize(written, base) for _, written in urls_in(text))
    new = dict.fromkeys(url for url in found if url is not None and url not in known)
    return links + [HtmlLink(url, "", "", "text") for url in islice(new, max(MOST_LINKS - len(links), 0))]


def _robots_metas(document: Document) -> list[str]:
    """What the page asks of all crawlers, and of us."""
    return [
        meta.attr("content") or ""
        for meta in document.iter_elements("meta")
        if (meta.attr("name") or "").strip().lower() in ("robots", ROBOTS_TOKEN)
    ]
