"""A sitemap: which URLs does a site want to be visited, and what does it say of them?

XML sitemaps and their indexes, lists of URLs as plain text, and feeds, all of them packed or not. Read piece by piece, so that
a file of the greatest size needs no more memory than its entries; of one that is cut or broken the complete entries count.
"""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple
from xml.parsers import expat

from lxml import etree

from crawler.parse.dates import seconds_of

MOST_ENTRIES = 50_000  # the protocol's limits, of one file
MOST_BYTES = 50 * 1024 * 1024  # unpacked
_PIECE = 64 * 1024
_LONGEST_URL = 8_192
_PLAIN = frozenset({"loc", "lastmod", "changefreq", "priority"})  # elements of which only the text counts
_FEED_DATES = ("updated", "modified", "pubDate", "published", "issued", "date")
_GZIP = b"\x1f\x8b"
_FREQUENCIES = frozenset({"always", "hourly", "daily", "weekly", "monthly", "yearly", "never"})
_URL = re.compile(r"https?://\S+", re.IGNORECASE)


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
    for read in (_read_xml, _read_broken_xml) if _is_xml(next(iter(_Pieces(body)), b"")) else (_read_text,):
        pieces = _Pieces(body)
        found = read(pieces)
        if found is not None:
            break
    assert found is not None, "the last of them reads anything"
    form, entries, problem = found
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

_Found = tuple[Form | None, list[Entry], str]


class _Full(Exception):
    """There are as many entries as there may be."""


class _Odd(Exception):
    """Something that a careful parser should see."""


class _Draft:
    """An entry while it is read."""

    __slots__ = ("alternates", "attributes", "facts", "links", "media")

    def __init__(self, attributes: Mapping[str, str]) -> None:
        self.attributes = attributes
        self.facts: dict[str, str] = {}  # by the names of elements; the first of a name counts
        self.links: tuple[Mapping[str, str], ...] = ()
        self.alternates: tuple[tuple[str, str], ...] = ()
        self.media: tuple[str, ...] = ()

    def add(self, name: str, text: str, attributes: Mapping[str, str], parts: Sequence[tuple[str, str]]) -> None:
        """An element of the entry, with those that it holds."""
        if name == "link" and attributes.get("href"):
            self.links += (attributes,)
            self.alternates += ((attributes.get("hreflang", ""), attributes["href"].strip()),)
        elif name in ("image", "video"):
            self.media += tuple(part for kind, part in parts if kind in ("loc", "content_loc") and part)
        elif name not in self.facts:
            self.facts[name] = text


class _Reader:
    """Takes the events of a fast parser, which knows well-formed files only."""

    def __init__(self) -> None:
        self.form: Form | None = None
        self.entries: list[Entry] = []
        self._around: list[str] = []  # names of the elements outside of entries
        self._draft: _Draft | None = None
        self._depth = 0  # in the entry
        self._attributes: dict[str, str] = {}
        self._parts: list[tuple[str, str]] = []
        self._texts: list[str] = []
        self._part_from = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if self._draft is not None:
            self._depth += 1
            if self._depth == 1:
                self._attributes = attributes
                self._texts.clear()
            elif self._depth == 2:
                self._part_from = len(self._texts)
            return
        name = name.rpartition(":")[2]
        if name in _ENTRIES and self._around:
            self.form = self.form or _form_of(name, self._around[-1])
            self._draft = _Draft(attributes)
        else:
            if not self._around:
                self.form = _ROOTS.get(name)
            self._around.append(name)

    def end(self, name: str) -> None:
        draft = self._draft
        if draft is None:
            self._around.pop()
        elif self._depth == 1:
            self._depth = 0
            text = "".join(self._texts).strip()
            if name == "loc" and name in draft.facts:  # somebody forgot to close the one before
                self._finish(draft)
                draft = self._draft = _Draft(draft.attributes)
            if name in _PLAIN:
                draft.facts.setdefault(name, text)
            else:
                draft.add(name.rpartition(":")[2], text, self._attributes, self._parts)
            if self._parts:
                self._parts = []
        elif self._depth:
            if self._depth == 2:
                self._parts.append((name.rpartition(":")[2], "".join(self._texts[self._part_from :]).strip()))
            self._depth -= 1
        else:
            self._draft = None
            self._finish(draft)

    def _finish(self, draft: _Draft) -> None:
        assert self.form is not None
        entry = _entry(draft, self.form)
        if entry is not None:
            self.entries.append(entry)
            if len(self.entries) >= MOST_ENTRIES:
                raise _Full

    def text(self, text: str) -> None:
        if self._depth:
            self._texts.append(text)

    def declared(self, *_: object) -> None:
        """An entity: it could swell without end, or name a file of ours."""
        raise _Odd


def _read_xml(pieces: _Pieces) -> _Found | None:
    """None if it is not well-formed, or odd."""
    reader, parser = _Reader(), expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler = reader.start, reader.end
    parser.CharacterDataHandler, parser.EntityDeclHandler = reader.text, reader.declared
    try:
        for number, piece in enumerate(pieces):
            parser.Parse(piece if number else piece.lstrip(b" \t\r\n"), False)  # noqa: FBT003
    except _Full:
        return reader.form, reader.entries, "too_many"
    except (_Odd, expat.ExpatError, LookupError, ValueError):
        return None
    return reader.form, reader.entries, ""


def _read_broken_xml(pieces: _Pieces) -> _Found:
    # Entities are left alone. Nothing is ever fetched.
    parser = etree.XMLPullParser(
        ("end",), tag=[f"{{*}}{name}" for name in _ENTRIES], recover=True, resolve_entities=False, no_network=True,
        load_dtd=False, huge_tree=False, remove_comments=True, remove_pis=True,
    )  # fmt: skip
    form: Form | None = None
    entries: list[Entry] = []
    for number, piece in enumerate(pieces):
        try:
            parser.feed(piece if number else piece.lstrip(b" \t\r\n"))
        except etree.XMLSyntaxError:
            break
        for _, element in parser.read_events():
            parent = element.getparent()
            if parent is None or _name(parent) == "loc":
                continue
            form = form or _form_of(_name(element), _name(parent))
            entries += filter(None, (_entry(draft, form) for draft in _drafts(element)))
            element.clear()
            while element.getprevious() is not None:  # what was read takes no memory any more
                del parent[0]
            if len(entries) >= MOST_ENTRIES:
                return form, entries, "too_many"
    return form, entries, "broken"


def _drafts(element: Any) -> list[_Draft]:
    """One; or several, if somebody forgot to close them."""
    drafts = [_Draft(_attributes(element))]
    for child in element:
        name = _name(child)
        if name == "loc" and name in drafts[-1].facts:
            drafts.append(_Draft(drafts[-1].attributes))
        if name:
            parts = [(_name(part), _text(part)) for part in child if _name(part)]
            drafts[-1].add(name, _text(child), _attributes(child), parts)
    return drafts


def _attributes(element: Any) -> dict[str, str]:
    return {name.rpartition("}")[2]: value for name, value in element.attrib.items()}


def _name(element: Any) -> str:
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def _text(element: Any) -> str:
    return "".join(element.itertext(tag=etree.Element)).strip()  # without entities


def _form_of(name: str, parent: str) -> Form:
    """Whatever the root is called."""
    return _ROOTS.get(parent) or _ENTRIES[name]


def _entry(draft: _Draft, form: Form) -> Entry | None:
    facts = draft.facts
    is_feed = form is Form.FEED
    url = _feed_url(draft) if is_feed else facts.get("loc", "")
    if not url or len(url) > _LONGEST_URL:
        return None
    modified = facts.get("lastmod", "") if not is_feed else next(filter(None, map(facts.get, _FEED_DATES)), "")
    frequency = facts.get("changefreq", "").lower()
    return Entry(
        url,
        seconds_of(modified) if modified else None,
        frequency if frequency in _FREQUENCIES else "",
        _priority(facts["priority"]) if "priority" in facts else None,
        draft.alternates if not is_feed else (),
        draft.media,
    )


def _feed_url(draft: _Draft) -> str:
    """An entry's page: its link, or its guid if that is one."""
    for link in draft.links:
        if link.get("rel", "alternate") == "alternate":
            return link["href"].strip()
    for name in ("link", "guid"):
        if _URL.match(draft.facts.get(name, "")):
            return draft.facts[name]
    return next((value for name, value in draft.attributes.items() if name.rpartition(":")[2] == "about"), "")


def _priority(text: str) -> float | None:
    try:
        priority = float(text)
    except ValueError:
        return None
    return min(max(priority, 0.0), 1.0) if not math.isnan(priority) else None


# ── text ──


def _read_text(pieces: _Pieces) -> _Found:
    """A URL a line; what else stands there is no list of URLs, or not a part of it."""
    entries: list[Entry] = []
    line = b""
    for piece in pieces:
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
