"""Which URLs does a site want to be visited, and what does it say of them?

XML sitemaps and their indexes, lists of URLs as plain text, and feeds, all of them packed or not. Read piece by piece, so that
a file of the greatest size needs no more memory than its entries; of one that is cut or broken the complete entries count.
"""

from __future__ import annotations

import codecs
import math
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple
from xml.parsers import expat

from lxml import etree

from crawler.parse.metadata.dates import seconds_of
from crawler.parse.sitemap_entries import EntryFields, alternates_in, match_simple_entry, media_in, more_xml
from crawler.urls.canonical import resolve
from crawler.urls.schemes import WEB_PREFIXES

MOST_ENTRIES = 50_000  # the protocol's limits, of one file
MOST_BYTES = 50 * 1024 * 1024  # unpacked
_CHUNK = 64 * 1024
_LONGEST_ENTRY = 4 * _CHUNK  # that is looked for as a whole
_LONGEST_URL = 8_192
_TEXT_ELEMENTS = frozenset({"loc", "lastmod", "changefreq", "priority"})  # elements of which only the text counts
_FEED_DATES = ("updated", "modified", "pubDate", "published", "issued", "date")
_GZIP = b"\x1f\x8b"
_FREQUENCIES = frozenset({"always", "hourly", "daily", "weekly", "monthly", "yearly", "never"})
_URL = re.compile(r"https?://\S+", re.IGNORECASE)
_OTHER_ENCODING = re.compile(  # than UTF-8
    rb"\xfe\xff|\xff\xfe|.?\0|(?:\xef\xbb\xbf)?<\?xml[^>]*?\bencoding\s*=\s*[\"'](?!utf-8[\"'])",
    re.IGNORECASE | re.DOTALL,
)
_CLOSING = re.compile("</(?:url|sitemap)>")
_FORBIDDEN = bytes({*range(32)} - {*b"\t\n\r"})  # XML 1.0 §2.2


class SitemapForm(StrEnum):
    """What a sitemap is written as."""

    NONE = ""  # it is no sitemap
    URLSET = "urlset"
    INDEX = "index"  # of other sitemaps
    FEED = "feed"
    TEXT = "text"


# Names without their namespaces: many sitemaps have another one, or none.
_ROOTS = {
    "urlset": SitemapForm.URLSET,
    "sitemapindex": SitemapForm.INDEX,
    "rss": SitemapForm.FEED,
    "feed": SitemapForm.FEED,
    "RDF": SitemapForm.FEED,
}
_ENTRIES = {
    "url": SitemapForm.URLSET,
    "sitemap": SitemapForm.INDEX,
    "item": SitemapForm.FEED,
    "entry": SitemapForm.FEED,
}


class SitemapEntry(NamedTuple):
    """What a sitemap says of a URL."""

    loc: str  # as it is written, unless it is relative
    lastmod: float | None = None  # seconds
    changefreq: str = ""  # one of the protocol's words
    priority: float | None = None  # from 0 to 1
    more: str = ""  # see the properties

    @property
    def alternates(self) -> tuple[tuple[str, str], ...]:
        """(language, URL), as they are written."""
        return alternates_in(self.more)

    @property
    def media(self) -> tuple[str, ...]:
        """URLs of images and videos, as they are written."""
        return media_in(self.more)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sitemap:
    """What is in a file. An index has sitemaps, every other has entries."""

    kind: SitemapForm
    entries: list[SitemapEntry]
    sitemaps: list[SitemapEntry]
    problem: str = ""  # why there may be more than was read


def parse_sitemap(body: bytes, url: str) -> Sitemap:
    """Any bytes give an answer. Relative URLs are resolved against the file's own, and none but those of the web count.

    >>> found = parse_sitemap(b"<urlset><url><loc> /a </loc><priority>.8</priority></url><url><loc>/b", "http://a.test/")
    >>> found.entries, found.problem
    ([SitemapEntry(loc='http://a.test/a', lastmod=None, changefreq='', priority=0.8, more='')], 'cut')
    """
    beginning = next(iter(_BodyChunks(body)), b"")
    for read in (_read_xml, _read_broken_xml) if _is_xml(beginning) else (_read_text,):
        pieces, found = _BodyChunks(body), _EntryCollector(url)
        try:
            is_read = read(pieces, found)
        except _TooManyEntries:
            is_read, found.problem = True, "too_many"
        except _HasDtdDeclarations:
            return Sitemap(kind=SitemapForm.NONE, entries=[], sitemaps=[], problem="dtd")
        if is_read:
            break
    problem = pieces.problem or found.problem or ("" if found.form else "unparsable")
    entries, sitemaps = ([], found.entries) if found.form is SitemapForm.INDEX else (found.entries, [])
    return Sitemap(kind=found.form, entries=entries, sitemaps=sitemaps, problem=problem)


class _TooManyEntries(Exception):
    """There are as many entries as there may be."""


class _HasDtdDeclarations(Exception):
    """The document type has declarations of its own: entities could swell without end, or name a file of ours."""


class _EntryCollector:
    """What was found in a file so far."""

    __slots__ = ("entries", "form", "problem", "url")

    def __init__(self, url: str) -> None:
        self.url = url
        self.form = SitemapForm.NONE
        self.entries: list[SitemapEntry] = []
        self.problem = ""

    def add(self, facts: EntryFields) -> None:
        """Keep an entry, if it has a URL that somebody could visit."""
        loc = facts.loc
        if not loc or len(loc) > _LONGEST_URL:
            return
        if not loc.startswith(WEB_PREFIXES):
            loc = resolve(loc, self.url) or ""
            if not loc.startswith(WEB_PREFIXES):
                return
        if len(self.entries) >= MOST_ENTRIES:
            raise _TooManyEntries
        changefreq = facts.changefreq.strip().lower() if facts.changefreq else ""
        self.entries.append(
            SitemapEntry(
                loc,
                seconds_of(facts.lastmod) if facts.lastmod else None,
                changefreq if changefreq in _FREQUENCIES else "",
                _priority(facts.priority) if facts.priority else None,
                facts.more,
            )
        )


class _BodyChunks:
    """The file, unpacked while it is read."""

    def __init__(self, body: bytes) -> None:
        self.problem = ""
        self._iterator = self._decompress(body) if body.startswith(_GZIP) else self._split(body)

    def __iter__(self) -> Iterator[bytes]:
        return self._iterator

    def _split(self, body: bytes) -> Iterator[bytes]:
        for start in range(0, min(len(body), MOST_BYTES), _CHUNK):
            yield body[start : min(start + _CHUNK, MOST_BYTES)]
        if len(body) > MOST_BYTES:
            self.problem = "too_big"

    def _decompress(self, body: bytes) -> Iterator[bytes]:
        size, packed = 0, body
        while packed.startswith(_GZIP):  # some are several files in one
            unpacker = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
            rest = packed
            while not unpacker.eof:
                try:
                    piece = unpacker.decompress(rest, _CHUNK)
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


class _EntryBuilder:
    """An entry while it is read."""

    __slots__ = ("alternates", "attributes", "facts", "links", "media")

    def __init__(self, attributes: Mapping[str, str]) -> None:
        self.attributes = attributes
        self.facts: dict[str, str] = {}  # by the names of elements; the first of a name counts
        self.links: list[Mapping[str, str]] = []
        self.alternates: list[tuple[str, str]] = []
        self.media: list[str] = []

    def add(self, name: str, text: str, attributes: Mapping[str, str], parts: Sequence[tuple[str, str]]) -> None:
        """An element of the entry, with those that it holds."""
        if name == "link" and attributes.get("href"):
            self.links.append(attributes)
            self.alternates.append((attributes.get("hreflang", ""), attributes["href"].strip()))
        elif name in ("image", "video"):
            self.media += [part for kind, part in parts if kind in ("loc", "content_loc") and part]
        elif name not in self.facts:
            self.facts[name] = text

    def build(self, form: SitemapForm) -> EntryFields:
        facts = self.facts
        if form is SitemapForm.FEED:
            lastmod = next(filter(None, map(facts.get, _FEED_DATES)), None)
            return EntryFields(self._feed_url(), lastmod, None, None, more_xml((), self.media))
        more = more_xml(self.alternates, self.media) if self.alternates or self.media else ""
        return EntryFields(
            facts.get("loc", ""), facts.get("lastmod"), facts.get("changefreq"), facts.get("priority"), more
        )

    def _feed_url(self) -> str:
        """An entry's page: its link, or its guid if that is one."""
        for link in self.links:
            if link.get("rel", "alternate") == "alternate":
                return link["href"].strip()
        for name in ("link", "guid"):
            if _URL.match(self.facts.get(name, "")):
                return self.facts[name]
        return next((value for name, value in self.attributes.items() if name.rpartition(":")[2] == "about"), "")


class _ExpatReader:
    """Takes the events of a fast parser, which knows well-formed files only."""

    def __init__(self, found: _EntryCollector) -> None:
        self._found = found
        self._around: list[str] = []  # names of the elements outside of entries
        self._draft: _EntryBuilder | None = None
        self._depth = 0  # in the entry
        self._attributes: dict[str, str] = {}
        self._parts: list[tuple[str, str]] = []
        self._texts: list[str] = []
        self._part_from = 0
        self._fed = self._held_size = self._unfinished = 0
        self._held: list[bytes] = []
        self._closed_at = -1  # where the last tag was that closed an entry
        self._parser = parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler, parser.EndElementHandler = self._start, self._end
        parser.CharacterDataHandler, parser.StartDoctypeDeclHandler = self._text, self._doctype

    @property
    def is_open(self) -> bool:
        """More should follow."""
        return bool(self._around)

    def feed(self, piece: bytes) -> None:
        """Parse it, or keep it for later: expat looks at all of an unfinished comment or tag again with each piece."""
        self._held.append(piece)
        self._held_size += len(piece)
        if self._held_size >= self._unfinished:
            self.flush()

    def flush(self) -> None:
        self._parser.Parse(b"".join(self._held), False)  # noqa: FBT003
        self._fed += self._held_size
        unfinished = self._fed - self._parser.CurrentByteIndex
        self._unfinished = unfinished if unfinished > _CHUNK else 0
        self._held, self._held_size = [], 0

    def closes_entry(self, tag: bytes) -> bool:
        """Feed a tag; whether it really was one, and closed an entry."""
        start = self._fed + self._held_size
        self.feed(tag)
        return self._closed_at == start

    def _start(self, name: str, attributes: dict[str, str]) -> None:
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
            self._found.form = self._found.form or _form_of(name, self._around[-1])
            self._draft = _EntryBuilder(attributes)
        else:
            if not self._around:
                self._found.form = _ROOTS.get(name, SitemapForm.NONE)
            self._around.append(name)

    def _end(self, name: str) -> None:
        draft = self._draft
        if draft is None:
            self._around.pop()
        elif self._depth == 1:
            self._depth = 0
            text = "".join(self._texts).strip()
            if name == "loc" and name in draft.facts:  # somebody forgot to close the one before
                self._found.add(draft.build(self._found.form))
                draft = self._draft = _EntryBuilder(draft.attributes)
            if name in _TEXT_ELEMENTS:
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
            self._closed_at = self._parser.CurrentByteIndex
            self._found.add(draft.build(self._found.form))

    def _text(self, text: str) -> None:
        if self._depth:
            self._texts.append(text)

    def _doctype(self, name: str, system_id: str | None, public_id: str | None, declares: int) -> None:
        if declares:
            raise _HasDtdDeclarations


def _read_xml(pieces: _BodyChunks, found: _EntryCollector) -> bool:
    """Whether it is well-formed, as far as it goes."""
    reader = _ExpatReader(found)
    try:
        beginning = next(iter(pieces), b"").lstrip(b" \t\r\n")
        rest = chain([beginning], pieces)
        if _OTHER_ENCODING.match(beginning):
            for piece in rest:
                reader.feed(piece)
        else:
            _read_utf8(rest, reader, found)
        reader.flush()
    except (expat.ExpatError, LookupError, ValueError):
        return False
    if reader.is_open:
        found.problem = "cut"
    return True


def _read_utf8(pieces: Iterable[bytes], reader: _ExpatReader, found: _EntryCollector) -> None:
    """What follows an entry that the parser has just closed are plain entries, or the parser gets it."""
    text, is_between = "", False
    for piece in _decoded(pieces):
        text += piece
        start = 0
        # The end of CDATA is an error elsewhere, and this end of a line is not ours to change.
        is_odd = "]]>" in text or "\r" in text
        while True:
            if is_between and not is_odd:
                start = _skip_simple_entries(text, start, found)
            tag = _CLOSING.search(text, start)
            if tag is None:
                break
            reader.feed(text[start : tag.start()].encode())
            start = tag.end()
            is_between = reader.closes_entry(tag[0].encode()) and found.form is not SitemapForm.FEED
            if not is_between:  # it is in a comment, say: who tries each of them there never gets to an end
                reader.feed(text[start:].encode())
                start = len(text)
        text = text[start:]
        if len(text) > _LONGEST_ENTRY:
            reader.feed(text.encode())
            text, is_between = "", False
    reader.feed(text.encode())


def _skip_simple_entries(text: str, start: int, found: _EntryCollector) -> int:
    while (plain := match_simple_entry(text, start)) is not None:
        facts, start = plain
        found.add(facts)
    return start


def _decoded(pieces: Iterable[bytes]) -> Iterator[str]:
    """As text, with lines as a parser would end them; a ValueError if XML forbids one of the characters."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    held = ""
    for piece in pieces:
        text = held + decoder.decode(piece)
        if len(piece.translate(None, _FORBIDDEN)) != len(piece) or not (
            text.isascii() or ("\ufffe" not in text and "\uffff" not in text)
        ):
            raise ValueError("a character that XML forbids")
        held = "\r" if text.endswith("\r") else ""  # its line feed may be in the next piece
        yield text.removesuffix(held).replace("\r\n", "\n") if "\r" in text else text
    yield held + decoder.decode(b"", final=False)


def _read_broken_xml(pieces: _BodyChunks, found: _EntryCollector) -> bool:
    # Entities are left alone. Nothing is ever fetched.
    parser = etree.XMLPullParser(
        ("end",), tag=[f"{{*}}{name}" for name in _ENTRIES], recover=True, resolve_entities=False, no_network=True,
        load_dtd=False, huge_tree=False, remove_comments=True, remove_pis=True,
    )  # fmt: skip
    found.problem = "broken"
    for number, piece in enumerate(pieces):
        try:
            parser.feed(piece if number else piece.lstrip(b" \t\r\n"))
        except etree.XMLSyntaxError:
            break
        for _, element in parser.read_events():
            parent = element.getparent()
            if parent is None or _name(parent) == "loc":
                continue
            if not found.form:
                _refuse_declarations(element)
                found.form = _form_of(_name(element), _name(parent))
            for draft in _entry_builders(element):
                found.add(draft.build(found.form))
            element.clear()
            while element.getprevious() is not None:  # what was read takes no memory any more
                del parent[0]
    return True


def _refuse_declarations(element: Any) -> None:
    document_type = element.getroottree().docinfo.internalDTD
    if document_type is not None and (document_type.entities() or document_type.elements()):
        raise _HasDtdDeclarations


def _entry_builders(element: Any) -> list[_EntryBuilder]:
    """One; or several, if somebody forgot to close them."""
    drafts = [_EntryBuilder(_attributes(element))]
    for child in element:
        name = _name(child)
        if name == "loc" and name in drafts[-1].facts:
            drafts.append(_EntryBuilder(drafts[-1].attributes))
        if name:
            parts = [(_name(part), _text(part)) for part in child if _name(part)]
            drafts[-1].add(name, _text(child), _attributes(child), parts)
    return drafts


def _attributes(element: Any) -> dict[str, str]:
    return {name.rpartition("}")[2]: value for name, value in element.attrib.items()}


def _name(element: Any) -> str:
    tag = element.tag
    return tag.rpartition("}")[2].rpartition(":")[2] if isinstance(tag, str) else ""  # some use prefixes undeclared


def _text(element: Any) -> str:
    return "".join(element.itertext(tag=etree.Element)).strip()  # without entities


def _form_of(name: str, parent: str) -> SitemapForm:
    """Whatever the root is called."""
    return _ROOTS.get(parent) or _ENTRIES[name]


@lru_cache(maxsize=1024)  # there are few
def _priority(text: str) -> float | None:
    try:
        priority = float(text)
    except ValueError:
        return None
    return min(max(priority, 0.0), 1.0) if not math.isnan(priority) else None


# ── text ──


def _read_text(pieces: _BodyChunks, found: _EntryCollector) -> bool:
    """A URL a line; what else stands there is no list of URLs, or not a part of it."""
    line = b""
    for piece in pieces:
        *lines, line = (line + piece).replace(b"\0", b"").splitlines(keepends=True) or [b""]
        if line.endswith((b"\r", b"\n")):
            lines, line = [*lines, line], b""
        _add_lines(lines, found)
        if len(line) > _LONGEST_URL:
            break
    if not pieces.problem:  # the last of a cut file may be half a URL
        _add_lines([line], found)
    return True


def _add_lines(lines: list[bytes], found: _EntryCollector) -> None:
    for line in lines:
        text = line.decode("utf-8", "replace").lstrip("\ufeff").strip()
        url = f"http://{text}" if text.startswith("www.") else text
        if _URL.fullmatch(url):
            found.form = SitemapForm.TEXT
            found.add(EntryFields(url))
