"""Parse feeds: the entries of RSS, RSS 1.0 (RDF), Atom, CDF and JSON Feed, and how often a feed asks to be visited.

JSON Feed is parsed here, the other formats by feedparser. feedparser tolerates broken input and can therefore be made
very slow (an author's name of 100 kB takes it 38 seconds), so parse untrusted feeds in a process with a time limit.
"""

from __future__ import annotations

import calendar
import codecs
import io
import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice, pairwise
from statistics import median
from typing import Any, NamedTuple
from xml.sax import SAXException

import turbohtml
from turbohtml import PlainText

from crawler.parse.charset import decode
from crawler.parse.metadata.dates import seconds_of
from crawler.urls.canonical import resolve

MOST_ENTRIES = 1_000
LONGEST_TITLE = 500
LONGEST_SUMMARY = 1_000
_LONGEST_URL = 8_192
_LONGEST_MARKUP = 20_000  # characters of markup from which the text of a title or a summary is taken
_BEGINNING = 2_048  # bytes, then characters, that are sniffed
_MOST_NEWEST = 20  # entries from which the publishing interval is computed

# feedparser expands the entities of a document type (100 kB of them became 850 MB) and takes quadratic time for white
# space before it (100 kB: 22 seconds), so it is given the text from the root element on.
_PROLOG = re.compile(
    r"(?:[\s\ufeffï»¿]++|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^\[>]*+(?:\[.*?\]\s*+)?+>)*+", re.IGNORECASE | re.DOTALL
)
_ROOT = re.compile(r"<((?:[\w.-]+:)?(rss|feed|rdf|(?<!:)channel))(?=[\s/>])", re.IGNORECASE)
_FORM_OF_ROOT = {"rss": "rss", "feed": "atom", "rdf": "rdf", "channel": "cdf"}
# Not all RDF is a feed, nor is every <channel>: in CDF the items have a link, a date, or a title as first element.
_FEED_MARKERS = {
    "rdf": re.compile(r"purl\.org/rss/1\.0/|netscape\.com/rdf/simple/0\.9", re.IGNORECASE),
    "channel": re.compile(
        r"<item(?:\s[^<>]*?\b(?:href|lastmod)\s*=|(?:\s[^<>]*)?>\s*<(?:title|abstract)\b)", re.IGNORECASE
    ),
}
_ENTRY = re.compile(r"<(?:[\w.-]+:)?(?:item|entry)[\s/>]", re.IGNORECASE)
_JSON_VERSION = re.compile(r'"version"\s*:\s*"https?:\\?/\\?/jsonfeed\.org\\?/version\\?/')
_ABSOLUTE = re.compile(r"\s*https?:", re.IGNORECASE)
_NEVER_CLOSED = re.compile(r"<(?:br|hr|img|p|wbr)(?:\s[^<>]*)?/?>", re.IGNORECASE)
_COMPACT = PlainText(layout="strict", bullet="")
_TABLE_PARTS = ("table", "caption", "thead", "tbody", "tfoot", "tr", "td", "th")
_PERIODS = {"hourly": 3_600, "daily": 86_400, "weekly": 604_800, "monthly": 2_592_000, "yearly": 31_536_000}


class FeedEntry(NamedTuple):
    """One entry of a feed: a page and what the feed says about it."""

    link: str = ""  # absolute, http or https
    title: str = ""
    published: float | None = None
    updated: float | None = None
    guid: str = ""  # as written; the link if there is none
    summary: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Feed:
    """The content of a feed; an empty form means that the body is not a feed."""

    title: str = ""
    ttl: float | None = None  # seconds between visits, as the feed asks
    entries: list[FeedEntry]
    form: str = ""  # "rss" | "atom" | "rdf" | "cdf" | "json"
    problem: str = ""  # "too_many" | "broken" | "not_a_feed"


def looks_like_feed(body: bytes, content_type: str) -> bool:
    """Whether a body begins like a feed. Its content type serves for decoding only: as a type it is often wrong.

    >>> looks_like_feed(b"<?xml version='1.0'?><rss>", "text/html"), looks_like_feed(b"<html><rss>", "text/xml")
    (True, False)
    """
    beginning = _decoded_text(body[:_BEGINNING], content_type)
    if beginning.lstrip("\ufeff \t\r\n").startswith("{"):
        return _JSON_VERSION.search(beginning) is not None
    return _feed_root(beginning) is not None


def parse_feed(body: bytes, url: str, content_type: str | None = None) -> Feed:
    """Parse the body of a feed that was fetched from this URL; never raises, whatever the bytes.

    >>> parse_feed(b"<rss><channel><item><link>/a</link></item></channel></rss>", "http://a.com/feed").entries
    [FeedEntry(link='http://a.com/a', title='', published=None, updated=None, guid='http://a.com/a', summary='')]
    """
    text = _decoded_text(body, content_type)
    if text.lstrip("\ufeff \t\r\n").startswith("{"):
        return _read_json(text, url)
    root = _feed_root(text)
    return _read_xml(text, root, url) if root is not None else Feed(entries=[], problem="not_a_feed")


def median_interval(entries: Iterable[FeedEntry]) -> float | None:
    """The median time in seconds between the newest entries; None with fewer than three dates, or if it is zero.

    >>> median_interval([FeedEntry(published=day * 86_400.0) for day in (1, 2, 3, 9)])
    86400.0
    """
    dates = [entry.published if entry.published is not None else entry.updated for entry in entries]
    newest = sorted((date for date in dates if date is not None), reverse=True)[:_MOST_NEWEST]
    if len(newest) < 3:
        return None
    return median(later - earlier for later, earlier in pairwise(newest)) or None


def _decoded_text(body: bytes, content_type: str | None) -> str:
    if body[:2] in (b"<\0", b"{\0"):  # UTF-16 without a byte order mark
        body = b"\xff\xfe" + body
    elif body[:2] in (b"\0<", b"\0{"):
        body = b"\xfe\xff" + body
    elif body.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):  # valid in XML, though not in HTML
        return body.decode("utf-32", "replace")
    return decode(body, content_type).text


def _feed_root(text: str) -> re.Match[str] | None:
    """The start tag of the root element, if it is that of a feed."""
    prolog = _PROLOG.match(text)
    root = _ROOT.match(text, prolog.end() if prolog is not None else 0)
    marker = _FEED_MARKERS.get(root[2].lower()) if root is not None else None
    if root is None or marker is None:
        return root
    return root if marker.search(text, root.end(), root.end() + _BEGINNING) else None


# ── RSS, Atom and CDF ──


def _read_xml(text: str, root: re.Match[str], url: str) -> Feed:
    form = _FORM_OF_ROOT[root[2].lower()]
    text, problem = _cut_to_entries(text, root, form)
    found = _feedparser_result(text)
    if found is None:
        return Feed(entries=[], form=form, problem="broken")
    entries = [_entry(entry, url, form) for entry in found["entries"][:MOST_ENTRIES]]
    if not problem and isinstance(found.get("bozo_exception"), SAXException):
        problem = "broken"
    return Feed(
        title=_plain_text(*_text_and_type(found["feed"], "title", form), LONGEST_TITLE),
        ttl=_ttl(found["feed"]),
        entries=entries,
        form=form,
        problem=problem,
    )


def _cut_to_entries(text: str, root: re.Match[str], form: str) -> tuple[str, str]:
    """Cut the text to the root element and its first 1,000 entries; the second value is the problem, if any.

    10,000 entries would take feedparser 5 seconds, or 12 if they are broken.
    """
    beyond = next(islice(_ENTRY.finditer(text, root.end()), MOST_ENTRIES, None), None)
    if beyond is None:
        return text[root.start() :], ""
    ends = "</channel>" if form == "rss" else ""
    return f"{text[root.start() : beyond.start()]}{ends}</{root[1]}>", "too_many"


def _feedparser_result(text: str) -> Any:
    """Run feedparser on the text; None if it raises.

    feedparser is given a stream, because it takes strings and bytes for names of files or URLs and opens them. It is
    not given the document's URL, because it would then turn any guid into a URL.
    """
    import feedparser

    try:
        return feedparser.parse(
            io.BytesIO(text.encode("utf-8", "replace")),
            response_headers={"content-type": "application/xml; charset=utf-8"},
            resolve_relative_uris=False,  # in HTML texts, whose tags we drop anyway; this takes half of the time
            sanitize_html=False,
        )
    except Exception:  # a large library: a hostile feed can make it raise anything
        return None


def _entry(entry: dict[str, Any], url: str, form: str) -> FeedEntry:
    link = _resolved_link(_entry_link(entry), url)
    return FeedEntry(
        link=link,
        title=_plain_text(*_text_and_type(entry, "title", form), LONGEST_TITLE),
        published=_seconds(dict.get(entry, "published_parsed")),  # entry.get may return the other date instead
        updated=_seconds(dict.get(entry, "updated_parsed")),
        guid=_guid(_string_of(entry, "id"), link),
        summary=_plain_text(*_text_and_type(entry, "summary", form), LONGEST_SUMMARY),
    )


def _entry_link(entry: Mapping[str, Any]) -> str:
    """The link of an entry, or its guid if that is an absolute URL."""
    link = _string_of(entry, "link")
    if link != _string_of(entry, "id") or _ABSOLUTE.match(link):
        return link
    links = entry.get("links")
    return link if isinstance(links, list) and any(other.get("href") == link for other in links) else ""


def _text_and_type(about: Mapping[str, Any], name: str, form: str) -> tuple[str, bool]:
    """A text of an entry or feed, and whether it is HTML."""
    text, detail = _string_of(about, name), about.get(f"{name}_detail")
    if name == "summary" and not (text and detail):  # feedparser then copied it from the content
        contents = about.get("content")
        detail = contents[0] if isinstance(contents, list) and contents else None
        text = text or (_string_of(detail, "value") if detail else "")
    kind = _string_of(detail, "type") if isinstance(detail, Mapping) else ""
    return text, kind != "text/plain" or (form != "atom" and _NEVER_CLOSED.search(text) is not None)


def _string_of(about: Mapping[str, Any], name: str) -> str:
    """The string under this key, or "": feedparser makes keys of all element names, so the value may be of any type."""
    value = about.get(name)
    return value if isinstance(value, str) else ""


def _ttl(feed: Mapping[str, Any]) -> float | None:
    ttl = _positive_number(_string_of(feed, "ttl"))
    if ttl is not None:
        return _positive_number(60 * ttl)
    period, frequency = _string_of(feed, "sy_updateperiod"), _string_of(feed, "sy_updatefrequency")
    if not period and not frequency:
        return None
    seconds, times = _PERIODS.get(period.strip().lower() or "daily"), _positive_number(frequency or "1")
    return _positive_number(seconds / times) if seconds is not None and times is not None else None


def _positive_number(value: str | float) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    return number if 0 < number < math.inf else None


def _seconds(date: Any) -> float | None:
    try:
        return float(calendar.timegm(date))
    except (TypeError, ValueError, OverflowError):  # no date, or an impossible one
        return None


# ── JSON Feed ──


def _read_json(text: str, url: str) -> Feed:
    try:
        found = json.loads(text.lstrip("\ufeff"))
    except (ValueError, RecursionError):
        is_feed = _JSON_VERSION.search(text[:_BEGINNING]) is not None
        return Feed(entries=[], form="json" if is_feed else "", problem="broken" if is_feed else "not_a_feed")
    if not _JSON_VERSION.match(f'"version":"{_string_of(found, "version")}'):
        return Feed(entries=[], problem="not_a_feed")
    items = found.get("items")
    items = [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
    return Feed(
        title=_plain_text(_string_of(found, "title"), is_html=False, longest=LONGEST_TITLE),
        entries=[_json_entry(item, url) for item in items[:MOST_ENTRIES]],
        form="json",
        problem="too_many" if len(items) > MOST_ENTRIES else "",
    )


def _json_entry(item: Mapping[str, Any], url: str) -> FeedEntry:
    link = _resolved_link(_string_of(item, "url"), url) or _resolved_link(_string_of(item, "external_url"), url)
    guid = item.get("id")
    texts = ((_string_of(item, name), name == "content_html") for name in ("summary", "content_text", "content_html"))
    return FeedEntry(
        link=link,
        title=_plain_text(_string_of(item, "title"), is_html=False, longest=LONGEST_TITLE),
        published=seconds_of(_string_of(item, "date_published")),
        updated=seconds_of(_string_of(item, "date_modified")),
        guid=_guid(str(guid) if isinstance(guid, str | int | float) else "", link),
        summary=_plain_text(*next((text for text in texts if text[0]), ("", False)), LONGEST_SUMMARY),
    )


# ── texts and links, for XML and JSON ──


def _resolved_link(link: str, url: str) -> str:
    if not link.strip() or len(link) > _LONGEST_URL:
        return ""
    found = resolve(link, url) or ""
    return found if _ABSOLUTE.match(found) else ""


def _guid(guid: str, link: str) -> str:
    return _without_surrogates(guid.strip()[:_LONGEST_URL]) or link


def _plain_text(text: str, is_html: bool, longest: int) -> str:
    """The text on one line, without tags, at most so many characters."""
    text = _without_surrogates(text[:_LONGEST_MARKUP])
    if is_html and ("<" in text or "&" in text):
        document = turbohtml.parse(text, positions=False)
        for part in list(document.iter_elements(_TABLE_PARTS)):  # to_text would draw them as grids
            part.tag = "div"
        text = document.to_text(_COMPACT)
    return " ".join(text.split())[:longest].rstrip()


def _without_surrogates(text: str) -> str:
    """Replace lone surrogates, which cannot be encoded as UTF-8."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
