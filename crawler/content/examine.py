"""Everything that depends on a page alone, in one call."""

from __future__ import annotations

import hashlib
import re
import struct
from functools import lru_cache

from msgspec.structs import replace
from xxhash import xxh3_64_intdigest

from crawler.archive.records import visit_records
from crawler.content.lists import list_link, read_feed, read_sitemap
from crawler.duplicates.cascade import DuplicateRule
from crawler.duplicates.page_sketch import page_sketch
from crawler.duplicates.template import mark_of as template_mark
from crawler.items import Fetched, Kind, Link, Outcome, Page, Reason, Refusal, Visit, Visited
from crawler.parse import directives
from crawler.parse.coding import MOST_PLAIN, plain_body
from crawler.parse.directives import Directives
from crawler.parse.documents import Document, convert, format_of
from crawler.parse.feeds import looks_like_feed
from crawler.parse.html import AS_USUAL, Html, Reading, looks_like_html, parse_html
from crawler.parse.language import language_of
from crawler.parse.links import LONGEST_ANCHOR, MOST_LINKS, HtmlLink
from crawler.parse.metadata.dates import seconds_of
from crawler.parse.metadata.metadata import Metadata
from crawler.parse.metadata.page_dates import likely_date
from crawler.parse.sitemaps import MOST_BYTES
from crawler.parse.sketch import similarity, sketch
from crawler.urls.filters import is_login
from crawler.urls.hosts import origin_of
from crawler.urls.keys import key_of, mark_of
from crawler.urls.scope import Scope

MAX_HOPS = 10  # redirects in a row
_AS_USUAL = DuplicateRule()
_ERRANDS = (Kind.ROBOTS, Kind.PROBE)  # are not followed as pages are
_VALIDATOR = re.compile("[\x20-\x7e\xa0-\xff]*")
_LONGEST_VALIDATOR = 500
_MOST_WEIGHTS = 2_000  # that are kept of a page
MOST_FEEDS = 10  # of a page
LONGEST_DESCRIPTION = 500  # that is kept
_IN_COLUMNS = frozenset(
    {"encoding", "encoding_source", "language", "created", "modified"}
)  # facts of a file that have a place of their own
_SAME_PAGE = 0.8  # share of its words that a page must have in common with what its host shows for missing ones
_BEGINNING = 2_048
_SITEMAP = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?(?:(?><!--.*?-->)\s*+|(?><\?.*?\?>)\s*+)*+<(?:\w+:)?(?:urlset|sitemapindex)\b",
    re.DOTALL,
)
TELLING_WORDS = 20  # pages with fewer words may have the same text by chance


def examine(
    visited: Visited,
    scope: Scope,
    location: str | None,
    reading: Reading = AS_USUAL,
    rule: DuplicateRule = _AS_USUAL,
) -> Visited:
    """The visit with what its answer contains: page, links, where it was redirected to, and its records."""
    fetched = visited.fetched
    if fetched is None or not fetched.head:
        return visited
    if visited.outcome is Outcome.REDIRECTED and visited.visit.kind not in _ERRANDS:
        visited = _follow(visited, scope, location or "")
    if fetched.request.startswith(b"HEAD ") or visited.reason is Reason.UNWANTED_TYPE:
        return visited  # there is nothing to keep
    page, verdict = _page(visited, fetched, scope, reading)
    if page.text and verdict is None and visited.visit.kind is Kind.PAGE:
        page = _sketched(page, visited.visit, rule)
    if verdict is not None:
        outcome = Outcome.FETCHED if verdict is Reason.NOINDEX else Outcome.REFUSED
        visited = replace(visited, reason=verdict, outcome=outcome)
    records = visit_records(visited.visit, fetched, page.links, page.payload_digest)
    return replace(visited, page=page, records=records)


def _page(visited: Visited, fetched: Fetched, scope: Scope, reading: Reading) -> tuple[Page, Reason | None]:
    """What the answer contains, and why it may be no document to be found."""
    headers, visit = fetched.headers, visited.visit
    content_type = next((value for name, value in headers if name == "content-type"), "")
    plain = plain_body(fetched.body, headers, limit=MOST_BYTES + 1 if visit.kind is Kind.SITEMAP else MOST_PLAIN)
    page = Page(
        content_type=content_type.partition(";")[0].strip().lower()[:100],
        payload_digest=hashlib.sha1(fetched.body, usedforsecurity=False).digest(),
        body_digest=hashlib.sha256(plain.data).digest(),
        problem=plain.problem,
        etag=_validator(headers, "etag"),
        last_modified=_validator(headers, "last-modified"),
    )
    if visited.outcome is not Outcome.FETCHED or visit.kind is Kind.ROBOTS:
        return page, None
    now = fetched.ended
    if not plain.data and visit.validators.length:
        return page, Reason.CAME_EMPTY
    if visit.kind is Kind.SITEMAP:
        listing = read_sitemap(page, plain.data, visit, scope, now)
        return (_as_page(page, visit, scope), Reason.NOT_A_LIST) if listing is None else (listing, None)
    found = format_of(plain.data, visit.url, content_type)
    is_html = found == "html" or (not plain.data and looks_like_html(b"", content_type))
    if visit.kind is Kind.FEED or (not is_html and looks_like_feed(plain.data, content_type)):
        listing = read_feed(page, plain.data, visit, content_type, scope, now)
        if listing is not None or visit.kind is Kind.FEED:
            return (_as_page(page, visit, scope), Reason.NOT_A_LIST) if listing is None else (listing, None)
    elif not is_html and _SITEMAP.match(plain.data[:_BEGINNING]):
        listing = read_sitemap(page, plain.data, visit, scope, now)
        if listing is not None:
            return listing, None
    asked, is_login = directives.from_headers(value for name, value in headers if name == "x-robots-tag"), False
    if is_html:
        html = parse_html(
            plain.data, visit.url, content_type, reading=reading, canonicalize=scope.policy.canonicalize, now=now
        )
        asked, is_login = directives.merged(asked, html.directives), html.is_login
        page = _with_html(page, html, visit, scope, reading, follow=not asked.nofollow)
    elif found is not None:
        document = convert(plain.data, visit.url, content_type)
        page = _with_document(page, document, visit, scope, now, follow=not asked.nofollow)
    if asked.unavailable_after is not None:
        page = replace(page, unavailable_after=asked.unavailable_after)
    if asked.noarchive:
        page = replace(page, metadata={**page.metadata, "robots": "noarchive"})
    if visit.kind is Kind.PROBE:
        return replace(page, soft404=sketch(page.text, visit.url)), None
    return page, _verdict(page, visit, asked, now, is_login=is_login)


def _sketched(page: Page, visit: Visit, rule: DuplicateRule) -> Page:
    """With what near-duplicates are found by."""
    sketch_ = page_sketch(page.text, visit.template, rule)
    return replace(page, sketch=sketch_, template=template_mark(visit.template)) if sketch_ else page


def _as_page(page: Page, visit: Visit, scope: Scope) -> Page:
    """What somebody called a list and is none: a page, if it may be visited as one and is not just a guess of ours."""
    is_guess = visit.kind is Kind.SITEMAP and visit.url == f"{origin_of(visit.url)}/sitemap.xml"
    is_page = not is_guess and scope.rejection(visit.url, visit.depth) is None
    return page if is_page else replace(page, kind=visit.kind)


def _verdict(page: Page, visit: Visit, asked: Directives, now: float, *, is_login: bool) -> Reason | None:
    """Why a page that came with status 200 is none for an index."""
    if is_login:
        return Reason.LOGIN_WALL
    if visit.soft404 and visit.depth and similarity(sketch(page.text, visit.url), visit.soft404) >= _SAME_PAGE:
        return Reason.SOFT_404
    if asked.noindex or (page.unavailable_after is not None and page.unavailable_after < now):
        return Reason.NOINDEX
    return None


def _validator(headers: list[tuple[str, str]], wanted: str) -> str:
    """What a server gives us to ask by; empty if it could not be sent back."""
    value = next((value for name, value in headers if name == wanted), "")
    if len(value) > _LONGEST_VALIDATOR or not _VALIDATOR.fullmatch(value):
        return ""
    return value if wanted == "etag" or seconds_of(value) is not None else ""


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
    published = likely_date(facts.get("created", ""), now)
    dates = {"published": published, "modified": likely_date(facts.get("modified", ""), now)}
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
    return Link(key_of(url), url, anchor, refused, mark_of(url, anchor))


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


def _follow(visited: Visited, scope: Scope, location: str) -> Visited:
    """A redirect's target is a visit of its own, unless it leads nowhere."""
    visit = visited.visit
    url = scope.policy.canonicalize(location, visit.url)
    if url is None:
        return replace(visited, reason=Reason.BAD_LOCATION, outcome=Outcome.REFUSED, detail=location)
    if is_login(url) and not is_login(visit.url):
        return replace(visited, reason=Reason.LOGIN_WALL, outcome=Outcome.REFUSED, detail=url)
    if url == visit.url:
        return replace(visited, reason=Reason.REDIRECT_LOOP, outcome=Outcome.REFUSED, detail=url)
    if visit.hops >= MAX_HOPS:
        return replace(visited, reason=Reason.TOO_MANY_REDIRECTS, outcome=Outcome.REFUSED, detail=url)
    return replace(visited, location=Link(key_of(url), url, "", scope.rejection(url, visit.depth), 0), detail=url)
