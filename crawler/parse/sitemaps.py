"""Parse sitemaps: the URLs that a site wants crawled, with lastmod, changefreq, priority, alternates and media.

A sitemap may be an XML sitemap, a sitemap index, a plain-text list of URLs, or a feed, gzipped or not. It is parsed in
chunks, so that even the largest file needs no more memory than its entries; of a truncated or malformed file the
complete entries are returned.
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

MOST_ENTRIES = 50_000  # per file, as the sitemap protocol limits it
MOST_BYTES = 50 * 1024 * 1024  # per file after decompression, the protocol's limit too
_CHUNK = 64 * 1024
_LONGEST_ENTRY = 4 * _CHUNK  # characters: longer entries are left to the XML parser
_LONGEST_URL = 8_192
_TEXT_ELEMENTS = frozenset({"loc", "lastmod", "changefreq", "priority"})  # elements with plain text only
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
    """The format of a sitemap."""

    NONE = ""  # not a sitemap
    URLSET = "urlset"
    INDEX = "index"  # of other sitemaps
    FEED = "feed"
    TEXT = "text"


# Local names: many sitemaps declare another namespace than the protocol's, or none.
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
    """One entry of a sitemap: a URL and what the sitemap says about it."""

    loc: str  # as written; relative URLs are resolved
    lastmod: float | None = None  # seconds since the epoch
    changefreq: str = ""  # one of the protocol's words
    priority: float | None = None  # from 0 to 1
    more: str = ""  # alternates and media as XML; parsed by the properties below

    @property
    def alternates(self) -> tuple[tuple[str, str], ...]:
        """(language, URL) of the page's translations, as written."""
        return alternates_in(self.more)

    @property
    def media(self) -> tuple[str, ...]:
        """URLs of images and videos, as written."""
        return media_in(self.more)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sitemap:
    """A parsed sitemap file: an index has sitemaps, all other forms have entries."""

    kind: SitemapForm
    entries: list[SitemapEntry]
    sitemaps: list[SitemapEntry]
    problem: str = ""  # why the file may have more entries than were read


def parse_sitemap(body: bytes, url: str) -> Sitemap:
    """Parse a sitemap; never raises, whatever the bytes.

    Relative URLs are resolved against `url`; entries that are not http or https are dropped.

    >>> body = b"<urlset><url><loc> /a </loc><priority>.8</priority></url><url><loc>/b"
    >>> sitemap = parse_sitemap(body, "http://a.test/")
    >>> sitemap.entries, sitemap.problem
    ([SitemapEntry(loc='http://a.test/a', lastmod=None, changefreq='', priority=0.8, more='')], 'cut')
    """
    beginning = next(iter(_BodyChunks(body)), b"")
    for read in (_read_xml, _read_broken_xml) if _is_xml(beginning) else (_read_text,):
        chunks, collector = _BodyChunks(body), _EntryCollector(url)
        try:
            is_read = read(chunks, collector)
        except _TooManyEntries:
            is_read, collector.problem = True, "too_many"
        except _HasDtdDeclarations:
            return Sitemap(kind=SitemapForm.NONE, entries=[], sitemaps=[], problem="dtd")
        if is_read:
            break
    problem = chunks.problem or collector.problem or ("" if collector.form else "unparsable")
    entries, sitemaps = ([], collector.entries) if collector.form is SitemapForm.INDEX else (collector.entries, [])
    return Sitemap(kind=collector.form, entries=entries, sitemaps=sitemaps, problem=problem)


class _TooManyEntries(Exception):
    """The file has more entries than the protocol allows."""


class _HasDtdDeclarations(Exception):
    """The document type declares entities or elements: entities could expand without bound or name a local file."""


class _EntryCollector:
    """Collects the valid entries of a file, its form and its problem."""

    __slots__ = ("entries", "form", "problem", "url")

    def __init__(self, url: str) -> None:
        self.url = url
        self.form = SitemapForm.NONE
        self.entries: list[SitemapEntry] = []
        self.problem = ""

    def add(self, fields: EntryFields) -> None:
        """Convert and keep an entry, if its URL is http or https and not too long."""
        loc = fields.loc
        if not loc or len(loc) > _LONGEST_URL:
            return
        if not loc.startswith(WEB_PREFIXES):
            loc = resolve(loc, self.url) or ""
            if not loc.startswith(WEB_PREFIXES):
                return
        if len(self.entries) >= MOST_ENTRIES:
            raise _TooManyEntries
        changefreq = fields.changefreq.strip().lower() if fields.changefreq else ""
        self.entries.append(
            SitemapEntry(
                loc,
                seconds_of(fields.lastmod) if fields.lastmod else None,
                changefreq if changefreq in _FREQUENCIES else "",
                _priority(fields.priority) if fields.priority else None,
                fields.more,
            )
        )


class _BodyChunks:
    """The body in chunks, decompressed on the fly if it is gzipped."""

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
        while packed.startswith(_GZIP):  # a stream may have several members
            unpacker = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
            rest = packed
            while not unpacker.eof:
                try:
                    chunk = unpacker.decompress(rest, _CHUNK)
                except zlib.error:
                    self.problem = "bad_coding"
                    return
                rest = unpacker.unconsumed_tail
                size += len(chunk)
                if size > MOST_BYTES:
                    self.problem = "too_big"
                    return
                if chunk:
                    yield chunk
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
    """Collects the elements of one entry until it is complete."""

    __slots__ = ("alternates", "attributes", "fields", "links", "media")

    def __init__(self, attributes: Mapping[str, str]) -> None:
        self.attributes = attributes
        self.fields: dict[str, str] = {}  # text by element name; the first element of a name counts
        self.links: list[Mapping[str, str]] = []
        self.alternates: list[tuple[str, str]] = []
        self.media: list[str] = []

    def add(self, name: str, text: str, attributes: Mapping[str, str], parts: Sequence[tuple[str, str]]) -> None:
        """Add a child element of the entry, with its own children (`parts`)."""
        if name == "link" and attributes.get("href"):
            self.links.append(attributes)
            self.alternates.append((attributes.get("hreflang", ""), attributes["href"].strip()))
        elif name in ("image", "video"):
            self.media += [part for kind, part in parts if kind in ("loc", "content_loc") and part]
        elif name not in self.fields:
            self.fields[name] = text

    def build(self, form: SitemapForm) -> EntryFields:
        fields = self.fields
        if form is SitemapForm.FEED:
            lastmod = next(filter(None, map(fields.get, _FEED_DATES)), None)
            return EntryFields(self._feed_url(), lastmod, None, None, more_xml((), self.media))
        more = more_xml(self.alternates, self.media) if self.alternates or self.media else ""
        return EntryFields(
            fields.get("loc", ""), fields.get("lastmod"), fields.get("changefreq"), fields.get("priority"), more
        )

    def _feed_url(self) -> str:
        """The URL of a feed's entry: its link, or its guid if that is a URL."""
        for link in self.links:
            if link.get("rel", "alternate") == "alternate":
                return link["href"].strip()
        for name in ("link", "guid"):
            if _URL.match(self.fields.get(name, "")):
                return self.fields[name]
        return next((value for name, value in self.attributes.items() if name.rpartition(":")[2] == "about"), "")


class _ExpatReader:
    """Builds entries from the events of expat, a fast parser that accepts well-formed XML only."""

    def __init__(self, collector: _EntryCollector) -> None:
        self._collector = collector
        self._open_elements: list[str] = []  # names of the open elements outside of entries
        self._builder: _EntryBuilder | None = None
        self._depth = 0  # of open elements inside the entry
        self._attributes: dict[str, str] = {}
        self._child_parts: list[tuple[str, str]] = []
        self._texts: list[str] = []
        self._part_start = 0
        self._parsed_size = self._buffered_size = self._unfinished_size = 0
        self._buffered: list[bytes] = []
        self._closed_at = -1  # byte offset of the last tag that closed an entry
        self._parser = parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler, parser.EndElementHandler = self._start_element, self._end_element
        parser.CharacterDataHandler, parser.StartDoctypeDeclHandler = self._add_text, self._check_doctype

    @property
    def is_open(self) -> bool:
        """Whether elements are still open, so that the file is incomplete."""
        return bool(self._open_elements)

    def feed(self, chunk: bytes) -> None:
        """Parse a chunk, or buffer it: expat rescans all of an unfinished comment or tag with each chunk."""
        self._buffered.append(chunk)
        self._buffered_size += len(chunk)
        if self._buffered_size >= self._unfinished_size:
            self.flush()

    def flush(self) -> None:
        self._parser.Parse(b"".join(self._buffered), False)  # noqa: FBT003
        self._parsed_size += self._buffered_size
        unfinished = self._parsed_size - self._parser.CurrentByteIndex
        self._unfinished_size = unfinished if unfinished > _CHUNK else 0
        self._buffered, self._buffered_size = [], 0

    def closes_entry(self, tag: bytes) -> bool:
        """Feed a closing tag; whether the parser took it as the end of an entry (it may stand in a comment)."""
        start = self._parsed_size + self._buffered_size
        self.feed(tag)
        return self._closed_at == start

    def _start_element(self, name: str, attributes: dict[str, str]) -> None:
        if self._builder is not None:
            self._depth += 1
            if self._depth == 1:
                self._attributes = attributes
                self._texts.clear()
            elif self._depth == 2:
                self._part_start = len(self._texts)
            return
        name = name.rpartition(":")[2]
        if name in _ENTRIES and self._open_elements:
            self._collector.form = self._collector.form or _form_of(name, self._open_elements[-1])
            self._builder = _EntryBuilder(attributes)
        else:
            if not self._open_elements:
                self._collector.form = _ROOTS.get(name, SitemapForm.NONE)
            self._open_elements.append(name)

    def _end_element(self, name: str) -> None:
        builder = self._builder
        if builder is None:
            self._open_elements.pop()
        elif self._depth == 1:
            self._depth = 0
            text = "".join(self._texts).strip()
            if name == "loc" and name in builder.fields:  # the entry before was not closed
                self._collector.add(builder.build(self._collector.form))
                builder = self._builder = _EntryBuilder(builder.attributes)
            if name in _TEXT_ELEMENTS:
                builder.fields.setdefault(name, text)
            else:
                builder.add(name.rpartition(":")[2], text, self._attributes, self._child_parts)
            if self._child_parts:
                self._child_parts = []
        elif self._depth:
            if self._depth == 2:
                self._child_parts.append((name.rpartition(":")[2], "".join(self._texts[self._part_start :]).strip()))
            self._depth -= 1
        else:
            self._builder = None
            self._closed_at = self._parser.CurrentByteIndex
            self._collector.add(builder.build(self._collector.form))

    def _add_text(self, text: str) -> None:
        if self._depth:
            self._texts.append(text)

    def _check_doctype(self, name: str, system_id: str | None, public_id: str | None, declares: int) -> None:
        if declares:
            raise _HasDtdDeclarations


def _read_xml(chunks: _BodyChunks, collector: _EntryCollector) -> bool:
    """Parse with expat; False if the XML is not well-formed (a truncated file counts as well-formed)."""
    reader = _ExpatReader(collector)
    try:
        beginning = next(iter(chunks), b"").lstrip(b" \t\r\n")
        rest = chain([beginning], chunks)
        if _OTHER_ENCODING.match(beginning):
            for chunk in rest:
                reader.feed(chunk)
        else:
            _read_utf8(rest, reader, collector)
        reader.flush()
    except (expat.ExpatError, LookupError, ValueError):
        return False
    if reader.is_open:
        collector.problem = "cut"
    return True


def _read_utf8(chunks: Iterable[bytes], reader: _ExpatReader, collector: _EntryCollector) -> None:
    """Feed the parser, but match simple entries that directly follow a closed entry with regular expressions."""
    text, is_between_entries = "", False
    for chunk in _decoded(chunks):
        text += chunk
        start = 0
        # "]]>" outside CDATA is an error, and a lone "\r" is for the parser to normalize: leave both to the parser.
        needs_parser = "]]>" in text or "\r" in text
        while True:
            if is_between_entries and not needs_parser:
                start = _add_simple_entries(text, start, collector)
            tag = _CLOSING.search(text, start)
            if tag is None:
                break
            reader.feed(text[start : tag.start()].encode())
            start = tag.end()
            is_between_entries = reader.closes_entry(tag[0].encode()) and collector.form is not SitemapForm.FEED
            if not is_between_entries:  # in a comment, for example: trying every such tag would take quadratic time
                reader.feed(text[start:].encode())
                start = len(text)
        text = text[start:]
        if len(text) > _LONGEST_ENTRY:
            reader.feed(text.encode())
            text, is_between_entries = "", False
    reader.feed(text.encode())


def _add_simple_entries(text: str, start: int, collector: _EntryCollector) -> int:
    """Add the simple entries that start here, one after the other; return where the last one ends."""
    while (plain := match_simple_entry(text, start)) is not None:
        fields, start = plain
        collector.add(fields)
    return start


def _decoded(chunks: Iterable[bytes]) -> Iterator[str]:
    """Decode UTF-8 and turn "\\r\\n" into "\\n" as a parser does; ValueError on a character that XML forbids."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    carried_over = ""
    for chunk in chunks:
        text = carried_over + decoder.decode(chunk)
        if len(chunk.translate(None, _FORBIDDEN)) != len(chunk) or not (
            text.isascii() or ("\ufffe" not in text and "\uffff" not in text)
        ):
            raise ValueError("a character that XML forbids")
        carried_over = "\r" if text.endswith("\r") else ""  # its line feed may be in the next chunk
        yield text.removesuffix(carried_over).replace("\r\n", "\n") if "\r" in text else text
    yield carried_over + decoder.decode(b"", final=False)


def _read_broken_xml(chunks: _BodyChunks, collector: _EntryCollector) -> bool:
    """Parse with lxml, which recovers from malformed XML; entities are not resolved and nothing is fetched."""
    parser = etree.XMLPullParser(
        ("end",), tag=[f"{{*}}{name}" for name in _ENTRIES], recover=True, resolve_entities=False, no_network=True,
        load_dtd=False, huge_tree=False, remove_comments=True, remove_pis=True,
    )  # fmt: skip
    collector.problem = "broken"
    for number, chunk in enumerate(chunks):
        try:
            parser.feed(chunk if number else chunk.lstrip(b" \t\r\n"))
        except etree.XMLSyntaxError:
            break
        for _, element in parser.read_events():
            parent = element.getparent()
            if parent is None or _name(parent) == "loc":
                continue
            if not collector.form:
                _refuse_declarations(element)
                collector.form = _form_of(_name(element), _name(parent))
            for builder in _entry_builders(element):
                collector.add(builder.build(collector.form))
            element.clear()
            while element.getprevious() is not None:  # frees the memory of entries already read
                del parent[0]
    return True


def _refuse_declarations(element: Any) -> None:
    document_type = element.getroottree().docinfo.internalDTD
    if document_type is not None and (document_type.entities() or document_type.elements()):
        raise _HasDtdDeclarations


def _entry_builders(element: Any) -> list[_EntryBuilder]:
    """The entry in an element; several, if entries inside it were not closed."""
    builders = [_EntryBuilder(_attributes(element))]
    for child in element:
        name = _name(child)
        if name == "loc" and name in builders[-1].fields:
            builders.append(_EntryBuilder(builders[-1].attributes))
        if name:
            parts = [(_name(part), _text(part)) for part in child if _name(part)]
            builders[-1].add(name, _text(child), _attributes(child), parts)
    return builders


def _attributes(element: Any) -> dict[str, str]:
    return {name.rpartition("}")[2]: value for name, value in element.attrib.items()}


def _name(element: Any) -> str:
    tag = element.tag
    return tag.rpartition("}")[2].rpartition(":")[2] if isinstance(tag, str) else ""  # undeclared prefixes occur


def _text(element: Any) -> str:
    return "".join(element.itertext(tag=etree.Element)).strip()  # skips unresolved entities


def _form_of(name: str, parent: str) -> SitemapForm:
    """The form by the parent's name, else by the entry's own, whatever the root is called."""
    return _ROOTS.get(parent) or _ENTRIES[name]


@lru_cache(maxsize=1024)  # sitemaps use few different values
def _priority(text: str) -> float | None:
    try:
        priority = float(text)
    except ValueError:
        return None
    return min(max(priority, 0.0), 1.0) if not math.isnan(priority) else None


# ── text ──


def _read_text(chunks: _BodyChunks, collector: _EntryCollector) -> bool:
    """Parse a plain-text sitemap: one URL per line; other lines are skipped."""
    line = b""
    for chunk in chunks:
        *lines, line = (line + chunk).replace(b"\0", b"").splitlines(keepends=True) or [b""]
        if line.endswith((b"\r", b"\n")):
            lines, line = [*lines, line], b""
        _add_lines(lines, collector)
        if len(line) > _LONGEST_URL:
            break
    if not chunks.problem:  # the last line of a truncated file may be half a URL
        _add_lines([line], collector)
    return True


def _add_lines(lines: list[bytes], collector: _EntryCollector) -> None:
    for line in lines:
        text = line.decode("utf-8", "replace").lstrip("\ufeff").strip()
        url = f"http://{text}" if text.startswith("www.") else text
        if _URL.fullmatch(url):
            collector.form = SitemapForm.TEXT
            collector.add(EntryFields(url))
