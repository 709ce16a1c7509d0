"""The readers of answers, one for each kind: sitemap, feed, HTML page, other documents."""

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
from crawler.content.relevance import RelevanceJudge
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

_MOST_WEIGHTS = 2_000  # bytes of a page's weights that are stored
MOST_FEEDS = 10  # of a page that are followed
LONGEST_DESCRIPTION = 500  # characters that are stored
# Metadata of a document for which `Page` has fields.
_FIELDS_OF_PAGE = frozenset({"encoding", "encoding_source", "language", "created", "modified"})
_BEGINNING = 2_048  # bytes in which the root element of a sitemap must begin
_SITEMAP = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?(?:(?><!--.*?-->)\s*+|(?><\?.*?\?>)\s*+)*+"
    rb"<(?:\w+:)?(?:urlset|sitemapindex)\b",
    re.DOTALL,
)
FEWEST_DIGEST_WORDS = 20  # a shorter text gets no digest: different pages may have the same by chance


class UnpackedAnswer(NamedTuple):
    """The input of a reader: an answer with its codings undone."""

    page: Page  # so far: media type, digests, validators
    data: bytes  # the body, codings undone
    content_type: str
    format: str | None  # by media type, file name and content; None = no format that is read
    visit: Visit
    directives: Directives  # of its headers
    scope: Scope
    reading: Reading
    now: float  # when it was fetched
    relevance: RelevanceJudge | None  # of a focused crawl

    @property
    def is_html(self) -> bool:
        return self.format == "html" or (not self.data and looks_like_html(b"", self.content_type))


class ReadAnswer(NamedTuple):
    """The output of a reader."""

    page: Page
    directives: Directives = NO_DIRECTIVES  # of its headers and of the document
    is_login: bool = False
    verdict: Reason | None = None  # why it must not be indexed
    is_list: bool = False  # it is a sitemap or a feed, or was expected to be one


def _read_expected_sitemap(answer: UnpackedAnswer) -> ReadAnswer | None:
    """Read the answer to a visit to a sitemap."""
    if answer.visit.kind is not Kind.SITEMAP:
        return None
    return _expected_list(answer, read_sitemap(answer.page, answer.data, answer.visit, answer.scope, answer.now))


def _read_expected_feed(answer: UnpackedAnswer) -> ReadAnswer | None:
    """Read the answer to a visit to a feed."""
    return _expected_list(answer, _feed_of(answer)) if answer.visit.kind is Kind.FEED else None


def _read_unexpected_feed(answer: UnpackedAnswer) -> ReadAnswer | None:
    """Read a feed where a page was expected."""
    if answer.is_html or not looks_like_feed(answer.data, answer.content_type):
        return None
    page = _feed_of(answer)
    return ReadAnswer(page, is_list=True) if page is not None else None


def _read_unexpected_sitemap(answer: UnpackedAnswer) -> ReadAnswer | None:
    """Read a sitemap where a page was expected."""
    if (
        answer.is_html
        or not _SITEMAP.match(answer.data[:_BEGINNING])
        or looks_like_feed(answer.data, answer.content_type)
    ):
        return None
    page = read_sitemap(answer.page, answer.data, answer.visit, answer.scope, answer.now)
    return ReadAnswer(page, is_list=True) if page is not None else None


def _read_html(answer: UnpackedAnswer) -> ReadAnswer | None:
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
    robots = directives.merged(answer.directives, html.directives)
    return ReadAnswer(_with_html(answer, html, follow=not robots.nofollow), robots, html.is_login)


def _read_document(answer: UnpackedAnswer) -> ReadAnswer | None:
    """Convert a document of another format: PDF, office, mail, archive, plain text."""
    if answer.format is None:
        return None
    document = convert(answer.data, answer.visit.url, answer.content_type)
    return ReadAnswer(_with_document(answer, document, follow=not answer.directives.nofollow), answer.directives)


# Tried in this order, until one does not return None. For a new kind of content, add a reader here.
READERS: Sequence[Callable[[UnpackedAnswer], ReadAnswer | None]] = (
    _read_expected_sitemap,
    _read_expected_feed,
    _read_unexpected_feed,
    _read_unexpected_sitemap,
    _read_html,
    _read_document,
)


def _expected_list(answer: UnpackedAnswer, found: Page | None) -> ReadAnswer:
    """Return the list that was found, or the verdict that the answer is not a list."""
    if found is not None:
        return ReadAnswer(found, is_list=True)
    return ReadAnswer(_no_list(answer.page, answer.visit, answer.scope), verdict=Reason.NOT_A_LIST, is_list=True)


def _feed_of(answer: UnpackedAnswer) -> Page | None:
    return read_feed(answer.page, answer.data, answer.visit, answer.content_type, answer.scope, answer.now)


def _no_list(page: Page, visit: Visit, scope: Scope) -> Page:
    """Return an answer that is no list: as a page, if its URL is in scope and was not our guess /sitemap.xml."""
    is_guess = visit.kind is Kind.SITEMAP and visit.url == f"{origin_of(visit.url)}/sitemap.xml"
    is_page = not is_guess and scope.rejection(visit.url, visit.depth) is None
    return page if is_page else replace(page, kind=visit.kind)


def _with_html(answer: UnpackedAnswer, html: Html, *, follow: bool) -> Page:
    """Return the page with the text, links and metadata of a parsed HTML document."""
    page, scope, reading = answer.page, answer.scope, answer.reading
    followed = [link for link in html.links if reading.follows(link)] if follow else []
    feeds = [link.url for link in followed if link.rel == "feed"][:MOST_FEEDS]
    followed = [link for link in followed if link.rel != "feed"] if feeds else followed
    links = _links(followed, scope, answer.visit.depth + 1)
    page = replace(
        page,
        format="html",
        encoding=html.encoding,
        encoding_source=html.encoding_source,
        title=html.title,
        text=html.main_text,
        language=html.language,
        published=html.published,
        metadata=_metadata_fields(html.metadata),
        text_digest=main_text_digest(html.main_text),
        weights=html.weights if len(html.weights) <= _MOST_WEIGHTS else b"",
        extractor=reading.extractor_recorded,
        links=links,
        links_digest=_links_digest(links),
        feeds=[list_link(scope, url) for url in feeds],
        problem=page.problem or html.problem,
    )
    return _judged(answer, page, followed)


def _judged(answer: UnpackedAnswer, page: Page, links: Sequence[HtmlLink]) -> Page:
    """Return the page with its relevance and the worth of its links, if the crawl has a topic."""
    return answer.relevance.judge(page, answer.visit.url, links) if answer.relevance is not None else page


def _with_document(answer: UnpackedAnswer, document: Document, *, follow: bool) -> Page:
    """Return the page with the text, links and metadata of a converted document."""
    page, visit, scope, now = answer.page, answer.visit, answer.scope, answer.now
    followed: dict[str, HtmlLink] = {}
    for link in document.links if follow else ():
        url = scope.policy.canonicalize(link.url, visit.url)
        if url is not None and (url not in followed or not followed[url].anchor):
            followed[url] = HtmlLink(url, link.anchor[:LONGEST_ANCHOR], "")
    html_links = list(followed.values())[:MOST_LINKS]
    links = _links(html_links, scope, visit.depth + 1)
    facts = document.metadata
    others = {name: value[:LONGEST_DESCRIPTION] for name, value in facts.items() if name not in _FIELDS_OF_PAGE}
    published = plausible_date(facts.get("created", ""), now)
    dates = {"published": published, "modified": plausible_date(facts.get("modified", ""), now)}
    page = replace(
        page,
        format=document.format,
        encoding=facts.get("encoding", ""),
        encoding_source=facts.get("encoding_source", ""),
        title=document.title,
        text=document.text,
        language=language_of(document.text, facts.get("language", "")),
        published=published.seconds if published is not None else None,
        metadata=others | {name: date.iso for name, date in dates.items() if date is not None},
        text_digest=words_digest(document.text),
        links=links,
        links_digest=_links_digest(links),
        problem=page.problem or document.problem,
    )
    return _judged(answer, page, html_links)


def _metadata_fields(metadata: Metadata) -> dict[str, str]:
    """Return the metadata that the store has for each document; the rest can be parsed from the archive."""
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
    found, longest = [], scope.options.max_length
    for url, anchor, *_ in links:
        new_link = _cached_link if len(url) <= longest else _link  # URLs may be megabytes long: too much for a cache
        found.append(new_link(url, anchor, scope.rejection(url, depth)))
    return found


def _link(url: str, anchor: str, refused: Refusal | None) -> Link:
    return Link(key_of(url), url, anchor, refused, link_fingerprint(url, anchor))


_cached_link = lru_cache(maxsize=16_384)(_link)  # pages of a site have most of their links in common


def _links_digest(links: list[Link]) -> int:
    """Return a digest that is equal for pages that link to the same URLs in the same order."""
    numbers = [half for link in links for half in link.key]
    digest = xxh3_64_intdigest(struct.pack(f"<{len(numbers)}q", *numbers))
    return digest - (1 << 64) if digest >= 1 << 63 else digest  # signed, as databases store it


def main_text_digest(text: str) -> bytes:
    """Return `words_digest` of a main text, whose blocks have single spaces already, in a quarter of the time."""
    return _digest(text.replace("\n", " "))


def words_digest(text: str) -> bytes:
    """Return a digest of the words of a text, whatever the white space between them; empty if they are few."""
    return _digest(" ".join(text.split()))


def _digest(text: str) -> bytes:
    if len(text.split(None, FEWEST_DIGEST_WORDS)) < FEWEST_DIGEST_WORDS:
        return b""
    return hashlib.sha256(text.encode("utf-8", "replace")).digest()
