"""Examine an answer: compute, in one call, everything that depends on the answer alone."""

from __future__ import annotations

import hashlib
import re

from msgspec.structs import replace

from crawler.archive.records import visit_records
from crawler.content.readers import READERS, ReadAnswer, UnpackedAnswer
from crawler.content.relevance import RelevanceJudge
from crawler.duplicates.cascade import DuplicateRule
from crawler.duplicates.page_sketch import page_sketch
from crawler.duplicates.template import template_fingerprint
from crawler.fetch.answers import meaning_of
from crawler.items import Fetched, Kind, Link, Outcome, Page, Reason, Visit, Visited
from crawler.parse import directives
from crawler.parse.coding import MOST_DECODED, plain_body
from crawler.parse.directives import Directives
from crawler.parse.documents import format_of
from crawler.parse.html import Reading
from crawler.parse.metadata.dates import seconds_of
from crawler.parse.sitemaps import MOST_BYTES
from crawler.parse.soft404_sketch import soft404_similarity, soft404_sketch
from crawler.urls.filters import is_login
from crawler.urls.keys import key_of
from crawler.urls.scope import Scope

MAX_HOPS = 10  # redirects in a row
_OWN_REDIRECTS = (Kind.ROBOTS, Kind.PROBE)  # kinds of visit whose redirects are not followed like those of pages
_SURROGATE = re.compile("[\ud800-\udfff]")  # no encoding can represent it
_VALIDATOR = re.compile("[\x20-\x7e\xa0-\xff]*")
_LONGEST_VALIDATOR = 500
_SOFT_404_SIMILARITY = 0.8  # share of words in common with the host's page for missing URLs, at least


def examine(
    visited: Visited, scope: Scope, reading: Reading, rule: DuplicateRule, relevance: RelevanceJudge | None = None
) -> Visited:
    """Return the visit with what its answer contains: page, links, redirect target, sketch and WARC records.

    1. The target of a redirect is judged. An answer to HEAD, or of a type that is not read, is done then.
    2. The codings of the body are undone, and its digests computed.
    3. The first reader of `READERS` that accepts the answer parses it; in a focused crawl, page and links are scored.
    4. Robots directives, a login form or the host's soft 404 may keep it out of the index.
    5. A page with text gets a sketch for near-duplicates.
    6. Request, response and links become WARC records.
    """
    fetched = visited.fetched
    if fetched is None or not fetched.head:
        return visited
    if visited.outcome is Outcome.REDIRECTED and visited.visit.kind not in _OWN_REDIRECTS:
        visited = _judge_redirect(visited, scope)
    if fetched.request.startswith(b"HEAD ") or visited.reason is Reason.UNWANTED_TYPE:
        return visited  # there is no body to archive
    answer = _unpack(visited.visit, fetched, scope, reading, relevance)
    page, verdict = answer.page, None
    if visited.outcome is Outcome.FETCHED and visited.visit.kind is not Kind.ROBOTS:
        page, verdict = _read(answer)
    if page.text and verdict is None and visited.visit.kind is Kind.PAGE:
        page = _with_sketch(page, visited.visit, rule)
    if verdict is not None:
        outcome = Outcome.FETCHED if verdict is Reason.NOINDEX else Outcome.REFUSED
        visited = replace(visited, reason=verdict, outcome=outcome)
    records = visit_records(visited.visit, fetched, page.links, page.payload_digest, page.relevance)
    return replace(visited, page=page, records=records)


def with_text_if_kept(visited: Visited) -> Visited:
    """Return an examined visit as it is passed on: its text is dropped unless somebody wants it.

    The archive has the text, and most crawls never need it outside of the content process.
    """
    if visited.page is None or not visited.page.text:
        return visited
    text = _SURROGATE.sub("\ufffd", visited.page.text) if visited.keeps_text else ""
    return replace(visited, page=replace(visited.page, text=text))


def _unpack(
    visit: Visit, fetched: Fetched, scope: Scope, reading: Reading, relevance: RelevanceJudge | None
) -> UnpackedAnswer:
    headers = fetched.headers
    content_type = next((value for name, value in headers if name == "content-type"), "")
    plain = plain_body(fetched.body, headers, limit=MOST_BYTES + 1 if visit.kind is Kind.SITEMAP else MOST_DECODED)
    page = Page(
        content_type=content_type.partition(";")[0].strip().lower()[:100],
        payload_digest=hashlib.sha1(fetched.body, usedforsecurity=False).digest(),
        body_digest=hashlib.sha256(plain.data).digest(),
        problem=plain.problem,
        etag=_validator(headers, "etag"),
        last_modified=_validator(headers, "last-modified"),
    )
    of_headers = directives.from_headers(value for name, value in headers if name == "x-robots-tag")
    return UnpackedAnswer(
        page, plain.data, content_type, None, visit, of_headers, scope, reading, fetched.ended, relevance
    )


def _read(answer: UnpackedAnswer) -> tuple[Page, Reason | None]:
    """Return what the answer contains, and why it must not be indexed, or None."""
    visit = answer.visit
    if not answer.data and visit.validators.length:
        return answer.page, Reason.CAME_EMPTY
    if visit.kind is not Kind.SITEMAP:
        answer = answer._replace(format=format_of(answer.data, visit.url, answer.content_type))
    found = next(
        (found for read in READERS if (found := read(answer)) is not None), ReadAnswer(answer.page, answer.directives)
    )
    if found.is_list:
        return found.page, found.verdict
    page, robots = found.page, found.directives
    if robots.unavailable_after is not None:
        page = replace(page, unavailable_after=robots.unavailable_after)
    if robots.noarchive:
        page = replace(page, metadata={**page.metadata, "robots": "noarchive"})
    if visit.kind is Kind.PROBE:
        return replace(page, soft404=soft404_sketch(page.text, visit.url)), None
    return page, _verdict(page, visit, robots, answer.now, is_login=found.is_login)


def _with_sketch(page: Page, visit: Visit, rule: DuplicateRule) -> Page:
    """Add the sketch of the text without the host's template; a text that is too short gets none."""
    found = page_sketch(page.text, visit.template, rule)
    return replace(page, sketch=found, template=template_fingerprint(visit.template)) if found else page


def _verdict(page: Page, visit: Visit, robots: Directives, now: float, *, is_login: bool) -> Reason | None:
    """Return why a page with status 200 must not be indexed, or None if it may."""
    if is_login:
        return Reason.LOGIN_WALL
    if (
        visit.soft404
        and visit.depth
        and soft404_similarity(soft404_sketch(page.text, visit.url), visit.soft404) >= _SOFT_404_SIMILARITY
    ):
        return Reason.SOFT_404
    if robots.noindex or (page.unavailable_after is not None and page.unavailable_after < now):
        return Reason.NOINDEX
    return None


def _validator(headers: list[tuple[str, str]], wanted: str) -> str:
    """Return an ETag or Last-Modified header for conditional requests; empty if it could not be sent back."""
    value = next((value for name, value in headers if name == wanted), "")
    if len(value) > _LONGEST_VALIDATOR or not _VALIDATOR.fullmatch(value):
        return ""
    return value if wanted == "etag" or seconds_of(value) is not None else ""


def _judge_redirect(visited: Visited, scope: Scope) -> Visited:
    """Fill in the target of a redirect, to be visited by itself, or refuse one that leads to no page."""
    visit, location = visited.visit, visited.redirect
    if location is None and visited.fetched is not None:  # a spider has made the result by itself
        location = meaning_of(visited.fetched).location
    location = location or ""
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
