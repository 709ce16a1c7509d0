"""A sitemap: which URLs does a site want to be visited, and what does it say of them?

XML sitemaps and their indexes, lists of URLs as plain text, and feeds, all of them packed or not. Read piece by piece, so that
a file of the greatest size needs no more memory than its entries; of one that is cut or broken the complete entries count.
"""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import Enum
from typing import Any, NamedTuple

from lxml import etree

MOST_ENTRIES = 50_000  # the protocol's limits, of one file
MOST_BYTES = 50 * 1024 * 1024  # unpacked
_PIECE = 64 * 1024
_LONGEST_URL = 8_192
_GZIP = b"\x1f\x8b"
_FREQUENCIES = frozenset({"always", "hourly", "daily", "weekly", "monthly", "yearly", "never"})
_URL = re.compile(r"https?://\S+", re.IGNORECASE)
_W3C = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?\Z")


class Form(Enum):
    """What a sitemap is written as."""

    URLS = "urlset"
    INDEX = "sitemapindex"  # of other sitemaps
    FEED = "feed"
    TEXT = "text"


# Names without their namespaces: many sitemaps have another one, or none.
_ROOTS = {"urlset": Form.URLS, "sitemapindex": Form.INDEX, "rss": Form.FEED, "feed": Form.FEED, "RDF": Form.FEED}
_ENTRIES = {"url": Form.URLS, "sitemap": Form.INDEX, "item": Form.FEED, "entry": Form.FEED}


class Entry(NamedTuple):
    """What a sitemap says of a URL; the URL as it is written."""

    url: str
    modified: float | None = None
    frequency: str = ""  # one of the protocol's words
    priority: float | None = None  # from 0 to 1
    alternates: tuple[tuple[str, str], ...] = ()  # (language, URL)
    media: tuple[str, ...] = ()  # images and videos


@dataclass(frozen=True, slots=True, kw_only=True)
class Sitemap:
    """What is in a file; without a form it is none."""

    form: Form | None
    entries: list[Entry]
    problem: str = ""  # why there may be more than was read


def read_sitemap(body: bytes) -> Sitemap:
    """Any bytes give an answer.

    >>> read_sitemap(b"<urlset><url><loc> http://a.com/ </loc><priority>.8</priority></url><url><loc>http://a.com").entries
    [Entry(url='http://a.com/', modified=None, frequency='', priority=0.8, alternates=(), media=())]
    """
    pieces = _Pieces(body)
    beginning = next(iter(pieces), b"")
    if _is_xml(beginning):
        form, entries, problem = _read_xml(beginning, pieces)
    else:
        form, entries, problem = _read_text(beginning, pieces)
    return Sitemap(form=form, entries=entries, problem=pieces.problem or problem)


class _Pieces:
    """The file, unpacked while it is read."""

    def __init__(self, body: bytes) -> None:
        self.problem = ""
        self._iterator = self._unpacked(body) if body.startswith(_GZIP) else self._cut(body)

    def __iter__(self) -> Iterator[bytes]:
        return self._iterator

    def _cut(self, body: bytes) -> Iterator[bytes]:
        for start in range(0, min(len(body), MOST_BYTES), _PIECE):
            yield body[start : min(start + _PIECE, MOST_BYTES)]
        if len(body) > MOST_BYTES:
            self.problem = "too_big"

    def _unpacked(self, body: bytes) -> Iterator[bytes]:
        size, packed = 0, body
        while packed.startswith(_GZIP):  # some are several files in one
            unpacker = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
            rest = packed
            while not unpacker.eof:
                try:
                    piece = unpacker.decompress(rest, _PIECE)
                except zlib.error:
                    self.problem = "bad_coding"
                    return
                rest = unpacker.unconsumed_tail
                size += len(piece)
                if size > MOST_BYTES:
                    self.problem = "too_big"
                    return
                if piece:
                    yield piece
                elif not rest:
                    break
            if not unpacker.eof:
                self.problem = "cut"
            packed = unpacker.unused_data.lstrip(b"\0")


def _is_xml(beginning: bytes) -> bool:
    start = beginning.lstrip(b"\xef\xbb\xbf\xfe\xff\0 \t\r\n")[:1]
    return start == b"<"


# ── XML ──


def _read_xml(beginning: bytes, pieces: _Pieces) -> tuple[Form | None, list[Entry], str]:
    # Entities are left alone: they could swell without end, or name files of ours. Nothing is ever fetched.
    parser = etree.XMLPullParser(
        ("end",), tag=[f"{{*}}{name}" for name in _ENTRIES], recover=True, resolve_entities=False, no_network=True,
        load_dtd=False, huge_tree=False, remove_comments=True, remove_pis=True,
    )  # fmt: skip
    form: Form | None = None
    entries: list[Entry] = []
    for piece in _and_then(beginning.lstrip(b" \t\r\n"), pieces):
        try:
            parser.feed(piece)
        except etree.XMLSyntaxError:
            return form, entries, "broken"
        for _, element in parser.read_events():
            parent = element.getparent()
            if parent is None or _name(parent) == "loc":
                continue
            form = form or _form_of(_name(element), _name(parent))
            entries += _entries(element, form)
            element.clear()
            while element.getprevious() is not None:  # what was read takes no memory any more
                del parent[0]
            if len(entries) >= MOST_ENTRIES:
                return form, entries, "too_many"
    if form is None:
        form = _form_of_empty(parser)
    return form, entries, "broken" if parser.error_log else ""


def _form_of_empty(parser: Any) -> Form | None:
    try:
        root = _name(parser.close())
    except etree.XMLSyntaxError:
        return None
    return _ROOTS.get(root)


def _and_then(first: bytes, others: _Pieces) -> Iterator[bytes]:
    yield first
    yield from others


def _form_of(name: str, parent: str) -> Form:
    """Whatever the root is called."""
    return _ROOTS.get(parent) or _ENTRIES[name]


def _name(element: Any) -> str:
    tag = element.tag if element is not None else None
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def _entries(element: Any, form: Form) -> Iterator[Entry]:
    """One; or several, if somebody forgot to close them."""
    children = [(name, child) for child in element if (name := _name(child))]
    starts = [place for place, (name, _) in enumerate(children) if name == "loc"][1:]
    for start, end in zip([0, *starts], [*starts, len(children)], strict=True):
        yield from _entry(element, children[start:end], form)


def _entry(element: Any, children: list[tuple[str, Any]], form: Form) -> Iterator[Entry]:
    facts: dict[str, str] = {}
    links: list[Any] = []
    alternates: list[tuple[str, str]] = []
    media: list[str] = []
    for name, child in children:
        if name == "link" and child.get("href"):
            if form is Form.FEED:
                links.append(child)
            else:
                alternates.append((child.get("hreflang", ""), child.get("href").strip()))
        elif name in ("image", "video"):
            media += [text for part in child if _name(part) in ("loc", "content_loc") and (text := _text(part))]
        elif name not in facts:
            facts[name] = _text(child)
    url = _feed_url(facts, links, element) if form is Form.FEED else facts.get("loc", "")
    if not url or len(url) > _LONGEST_URL:
        return
    modified = next((facts[name] for name in _DATES[form] if facts.get(name)), "")
    frequency = facts.get("changefreq", "").lower()
    yield Entry(
        url,
        seconds_of(modified),
        frequency if frequency in _FREQUENCIES else "",
        _priority(facts.get("priority", "")),
        tuple(alternates),
        tuple(media),
    )


_DATES = {
    Form.FEED: ("updated", "modified", "pubDate", "published", "issued", "date"),
    Form.URLS: ("lastmod",),
    Form.INDEX: ("lastmod",),
}


def _feed_url(facts: dict[str, str], links: list[Any], element: Any) -> str:
    """An entry's page: its link, or its guid if that is one."""
    for link in links:
        if link.get("rel", "alternate") == "alternate":
            return str(link.get("href")).strip()
    for name in ("link", "guid"):
        if _URL.match(facts.get(name, "")):
            return facts[name]
    return next((value for name, value in element.attrib.items() if name.endswith("}about")), "")


def _text(element: Any) -> str:
    # Without entities; most have neither these nor elements.
    return ("".join(element.itertext(tag=etree.Element)) if len(element) else element.text or "").strip()


def _priority(text: str) -> float | None:
    try:
        priority = float(text)
    except ValueError:
        return None
    return min(max(priority, 0.0), 1.0) if not math.isnan(priority) else None


def seconds_of(text: str) -> float | None:
    """A date of W3C's profile of ISO 8601, or one of mail; without a time the day's beginning, without a zone UTC.

    >>> seconds_of("2005"), seconds_of("1970-01-02"), seconds_of("Fri, 02 Jan 1970 00:00:01 GMT"), seconds_of("soon")
    (1104537600.0, 86400.0, 86401.0, None)
    """
    text = text.strip()
    if (date := _W3C.match(text)) is not None:
        text = f"{date[1]}-{date[2] or '01'}-{date[3] or '01'}"
    for parse in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            found = parse(text)
            return (found.replace(tzinfo=UTC) if found.tzinfo is None else found).timestamp()
        except (ValueError, OverflowError, IndexError, TypeError):
            continue
    return None


# ── text ──


def _read_text(beginning: bytes, pieces: _Pieces) -> tuple[Form | None, list[Entry], str]:
    """A URL a line; what else stands there is no list of URLs, or not a part of it."""
    entries: list[Entry] = []
    line = b""
    for piece in _and_then(beginning, pieces):
        *lines, line = (line + piece).replace(b"\0", b"").splitlines(keepends=True) or [b""]
        if line.endswith((b"\r", b"\n")):
            lines, line = [*lines, line], b""
        entries += _listed(lines)
        if len(entries) >= MOST_ENTRIES:
            return Form.TEXT, entries[:MOST_ENTRIES], "too_many"
        if len(line) > _LONGEST_URL:
            break
    entries += _listed([line]) if not pieces.problem else []  # the last of a cut file may be half a URL
    return (Form.TEXT if entries else None), entries, ""


def _listed(lines: list[bytes]) -> list[Entry]:
    texts = [line.decode("utf-8", "replace").lstrip("\ufeff").strip() for line in lines]
    urls = [f"http://{text}" if text.startswith("www.") else text for text in texts]
    return [Entry(url) for url in urls if _URL.fullmatch(url) and len(url) <= _LONGEST_URL]
