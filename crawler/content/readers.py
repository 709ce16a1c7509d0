"""Readers of answers: sitemap, feed, HTML page, other documents; each knows what it can read."""

from __future__ import annotations

import hashlib
import re
import struct
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

from msgspec.structs import replace
from xxhash import xxh3_64_intdigest

from crawler.content.lists import list_link, read_feed, read_sitemap
from crawler.items import Kind, Link, Page, Reason, Refusal, Visit
from crawler.parse import directives
from crawler.parse.directives import NONE as NO_DIRECTIVES
from crawler.parse.directives import Directives
from crawler.parse.documents import Document, convert
from crawler.parse.feeds import looks_like_feed
from crawler.parse.html import Html, Reading, looks_like_html, parse_html
from crawler.parse.language import language_of
from crawler.parse.links import LONGEST_ANCHOR, MOST_LINKS, HtmlLink
from crawler.parse.metadata.metadata import Metadata
from crawler.parse.metadata.page_dates import plausible_date
from crawler.urls.hosts import origin_of
from crawler.urls.keys import key_of, link_fingerprint
from crawler.urls.scope import Scope

_MOST_WEIGHTS = 2_000  # that are kept of a page
MOST_FEEDS = 10  # of a page
LONGEST_DESCRIPTION = 500  # that is kept
_IN_COLUMNS = frozenset(
    {"encoding", "encoding_source", "language", "created", "modified"}
)  # facts of a file that have a place of their own
_BEGINNING = 2_048
_SITEMAP = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?(?:(?><!--.*?-->)\s*+|(?><\?.*?\?>)\s*+)*+<(?:\w+:)?(?:urlset|sitemapindex)\b",
    re.DOTALL,
)
TELLING_WORDS = 20  # pages with fewer words may have the same text by chance


class UnpackedAnswer(NamedTuple):
    """An answer with a document, unpacked: what readers get."""

    page: Page  # so far: media type, digests, validators
    data: bytes  # the body without its codings
    content_type: str
    format: str | None  # by name, ending and content; None = none that is read
    visit: Visit
    directives: Directives  # of its headers
    scope: Scope
    reading: Reading
    now: float  # when it was fetched

    @property
    def is_html(self) -> bool:
        return self.format == "html" or (not self.data and looks_like_html(b"", self.content_type))


class ReadAnswer(NamedTuple):
    """What a reader found in an answer."""

    page: Page
    directives: Directives = NO_DIRECTIVES  # of its headers and its own
    is_login: bool = False
    verdict: Reason | None = None  # why it is no document for an index
    is_list: bool = False  # a sitemap or a feed, or meant as one


def _expected_sitemap(answer: UnpackedAnswer) -> ReadAnswer | None:
    """What a visit to a sitemap brought."""
    if answer.visit.kind is not Kind.SITEMAP:
        return None
    return _listing(answer, read_sitemap(answer.page, answer.data, answer.visit, answer.scope, answer.now))


def _expected_feed(answer: UnpackedAnswer) -> ReadAnswer | None:
    """What a visit to a feed brought."""
    return _listing(answer, _feed_in(answer)) if answer.visit.kind is Kind.FEED else None


def _found_feed(answer: UnpackedAnswer) -> ReadAnswer | None:
    """A feed where a page was expected."""
    if answer.is_html or not looks_like_feed(answer.data, answer.content_type):
        return None
    page = _feed_in(answer)
    return ReadAnswer(page, is_list=True) if page is not None else None


def _found_sitemap(answer: UnpackedAnswer) -> ReadAnswer | None:
    """A sitemap where a page was expected."""
    if (
        answer.is_html
        or not _SITEMAP.match(answer.data[:_BEGINNING])
        or looks_like_feed(answer.data, answer.content_type)
    ):
        return None
    page = read_sitemap(answer.page, answer.data, answer.visit, answer.scope, answer.now)
    return ReadAnswer(page, is_list=True) if page is not None else None


def _html(answer: UnpackedAnswer) -> ReadAnswer | None:
    if not answer.is_html:
        return None
    html = parse_html(
        answer.data,
        answer.visit.url,
        answer.content_type,
        reading=answer.reading,
        canonicalize=answer.scope.policy.canonicalize,
        now=answer.now,
    )
    wanted = directives.merged(answer.directives, html.directives)
    page = _with_html(answer.page, html, answer.visit, answer.scope, answer.reading, follow=not wanted.nofollow)
    return ReadAnswer(page, wanted, html.is_login)


def _file(answer: UnpackedAnswer) -> ReadAnswer | None:
    """A document of another format: PDF, office, mail, archive, plain text."""
    if answer.format is None:
        return None
    document = convert(answer.data, answer.visit.url, answer.content_type)
    follow = not answer.directives.nofollow
    page = _with_document(answer.page, document, answer.visit, answer.scope, answer.now, follow=follow)
    return ReadAnswer(page, answer.directives)


# In this order: the first that does not answer None has read it. A new kind of content is a function more.
READERS: Sequence[Callable[[UnpackedAnswer], ReadAnswer | None]] = (
    *(_expected_sitemap, _expected_feed, _found_feed, _found_sitemap),
    *(_html, _file),
)


def _listing(answer: UnpackedAnswer, listing: Page | None) -> ReadAnswer:
    if listing is not None:
        return ReadAnswer(listing, is_list=True)
    return ReadAnswer(_as_page(answer.page, answer.visit, answer.scope), verdict=Reason.NOT_A_LIST, is_list=True)


def _feed_in(answer: UnpackedAnswer) -> Page | None:
    return read_feed(answer.page, answer.data, answer.visit, answer.content_type, answer.scope, answer.now)


def _as_page(page: Page, visit: Visit, scope: Scope) -> Page:
    """What somebody called a list and is none: a page, if it may be visited as one and is not just a guess of ours."""
    is_guess = visit.kind is Kind.SITEMAP and visit.url == f"{origin_of(visit.url)}/sitemap.xml"
    is_page = not is_guess and scope.rejection(visit.url, visit.depth) is None
    return page if is_page else replace(page, kind=visit.kind)


def _with_html(page: Page, html: Html, visit: Visit, scope: Scope, reading: Reading, *, follow: bool) -> Page:
    """The page with what is on it."""
    followed = [link for link in html.links if reading.follows(link)] if follow else []
    feeds = [link.url for link in followed if link.rel == "feed"][:MOST_FEEDS]
    links = _links([link for link in followed if link.rel != "feed"] if feeds else followed, scope, visit.depth + 1)
    return replace(
        page,
        format="html",
        encoding=html.encoding,
        encoding_source=html.encoding_source,
        title=html.title,
        text=html.main_text,
        language=html.language,
        published=html.published,
        metadata=_told(html.metadata),
        text_digest=main_text_digest(html.main_text),
        weights=html.weights if len(html.weights) <= _MOST_WEIGHTS else b"",
        links=links,
        links_digest=_links_digest(links),
        feeds=[list_link(scope, url) for url in feeds],
        problem=page.problem or html.problem,
    )


def _with_document(page: Page, document: Document, visit: Visit, scope: Scope, now: float, *, follow: bool) -> Page:
    """The page with what is in a file."""
    followed: dict[str, HtmlLink] = {}
    for link in document.links if follow else ():
        url = scope.policy.canonicalize(link.url, visit.url)
        if url is not None and (url not in followed or not followed[url].anchor):
            followed[url] = HtmlLink(url, link.anchor[:LONGEST_ANCHOR], "")
    links = _links(list(followed.values())[:MOST_LINKS], scope, visit.depth + 1)
    facts = document.metadata
    told = {name: value[:LONGEST_DESCRIPTION] for name, value in facts.items() if name not in _IN_COLUMNS}
    published = plausible_date(facts.get("created", ""), now)
    dates = {"published": published, "modified": plausible_date(facts.get("modified", ""), now)}
    return replace(
        page,
        format=document.format,
        encoding=facts.get("encoding", ""),
        encoding_source=facts.get("encoding_source", ""),
        title=document.title,
        text=document.text,
        language=language_of(document.text, facts.get("language", "")),
        published=published.seconds if published is not None else None,
        metadata=told | {name: date.iso for name, date in dates.items() if date is not None},
        text_digest=words_digest(document.text),
        links=links,
        links_digest=_links_digest(links),
        problem=page.problem or document.problem,
    )


def _told(metadata: Metadata) -> dict[str, str]:
    """What is kept in the table of documents of what a page says of itself; the rest is in the archive."""
    facts = {
        "description": metadata.description[:LONGEST_DESCRIPTION],
        "author": ", ".join(metadata.authors),
        "published": metadata.published_iso,
        "modified": metadata.modified_iso,
        "site": metadata.site_name,
        "type": metadata.kind,
        "canonical": metadata.canonical,
        "license": metadata.license,
    }
    return {name: value for name, value in facts.items() if value}


def _links(links: list[HtmlLink], scope: Scope, depth: int) -> list[Link]:
    found, most = [], scope.options.max_length
    for url, anchor, *_ in links:
        link_of = _remembered_link if len(url) <= most else _link  # whole pages of others would fill the memory
        found.append(link_of(url, anchor, scope.rejection(url, depth)))
    return found


def _link(url: str, anchor: str, refused: Refusal | None) -> Link:
    return Link(key_of(url), url, anchor, refused, link_fingerprint(url, anchor))


_remembered_link = lru_cache(maxsize=16_384)(_link)  # pages of a site have most of their links in common


def _links_digest(links: list[Link]) -> int:
    """Equal for pages that link to the same URLs in the same order."""
    numbers = [half for link in links for half in link.key]
    digest = xxh3_64_intdigest(struct.pack(f"<{len(numbers)}q", *numbers))
    return digest - (1 << 64) if digest >= 1 << 63 else digest  # signed, as databases store it


def main_text_digest(text: str) -> bytes:
    """The same as below, of a text whose blocks have single spaces already, in a quarter of the time."""
    return _folded_digest(text.replace("\n", " "))


def words_digest(text: str) -> bytes:
    """Of the words, whatever the white space between them."""
    return _folded_digest(" ".join(text.split()))


def _folded_digest(text: str) -> bytes:
    """The same of words with single spaces between them."""
    if len(text.split(None, TELLING_WORDS)) < TELLING_WORDS:
        return b""
    return hashlib.sha256(text.encode("utf-8", "replace")).digest()
