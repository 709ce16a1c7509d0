"""Scan a page once for the elements that metadata is taken from, within limits on what is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from html import unescape
from itertools import islice
from typing import NamedTuple

from turbohtml import Document, Element, Namespace, Text

from crawler.parse.clean_text import one_line

MOST_ELEMENTS = 20_000  # examined in one scan; of 197 pages the one with the most has 1,200
MOST_HEADINGS = 200
MOST_BOLD = 100
LONGEST_PHRASE = 200  # of a heading, a bold phrase and the like
LONGEST_TEXT = 2_000  # of anything else
_MOST_METAS = 500
_MOST_LINKS = 2_000
_MOST_TIMES = 50
_LONGEST_URL = 8_192
_LONGEST_SCRIPTS = 500_000  # characters of JSON, all scripts together: 6 ms
_MOST_MICRODATA = 200
_MOST_LINES_AFTER, _MOST_LINES_BEFORE = 20, 8  # pieces of text near the headline

_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_BOLD = ("b", "strong")
_SCANNED = ("title", "meta", "link", "script", "time", *_HEADINGS, *_BOLD)
_OUTSIDE_ARTICLE = (
    "footer,aside,nav,[id^=comment i],[class^=comment i],[class*=' comment' i],[class*=related i],[class*=sidebar i],"
    "[class*=widget i],[class^=footer i],[class*=' footer' i],[class*=site-footer i],[id*=sidebar i],[id^=footer i],"
    "[class*=copyright i]"
)
_NAMES = ("property", "name", "itemprop", "http-equiv")


class Heading(NamedTuple):
    """A heading with text."""

    level: int  # 1 to 6
    text: str


class LinkMark(NamedTuple):
    """A <link> element as written."""

    rel: frozenset[str]
    href: str
    language: str


@dataclass(slots=True)
class PageScan:
    """The result of the scan, in document order."""

    title: str = ""
    metas: dict[str, list[str]] = field(default_factory=dict)  # contents of <meta>, by name in lower case
    links: list[LinkMark] = field(default_factory=list)
    scripts: list[str] = field(default_factory=list)  # sources of JSON-LD
    script_room: int = _LONGEST_SCRIPTS  # characters that further scripts may have
    times: list[Element] = field(default_factory=list)
    headings: list[Heading] = field(default_factory=list)
    headlines: list[Element] = field(default_factory=list)  # elements of the headings of levels 1 to 3
    bold: list[str] = field(default_factory=list)

    def meta(self, names: Iterable[str]) -> str:
        """The first content of the first of these names that the page has."""
        found = self.all_metas(names)
        return found[0] if found else ""

    def all_metas(self, names: Iterable[str]) -> list[str]:
        """All contents of the first of these names that the page has."""
        for name in names:
            if found := self.metas.get(name):
                return found
        return []


def scan_page(document: Document) -> PageScan:
    """Scan a document for its title, metas, links, JSON-LD, times, headings and bold text; it is not changed."""
    scan, titled = PageScan(), False
    for element in islice(document.iter_elements(_SCANNED), MOST_ELEMENTS):
        tag = element.tag
        if tag == "meta":
            _add_meta(scan, element)
        elif tag == "link":
            _add_link(scan, element)
        elif tag in _BOLD:
            _add_bold(scan, element)
        elif tag == "script":
            _add_script(scan, element)
        elif tag == "time":
            if len(scan.times) < _MOST_TIMES:
                scan.times.append(element)
        elif tag == "title":
            if not titled and element.namespace is Namespace.HTML:
                scan.title, titled = text_of(element, LONGEST_TEXT), True
        else:
            _add_heading(scan, element, int(tag[1]))
    return scan


def microdata_of(document: Document, names: frozenset[str]) -> Iterator[tuple[str, Element]]:
    """Elements that are microdata or RDFa properties of these names, each with its name in lower case."""
    for attribute in ("itemprop", "property"):
        for element in document.find_all(attrs={attribute: True}, limit=_MOST_MICRODATA):
            for name in (element.attr(attribute) or "")[:LONGEST_PHRASE].lower().split():
                bare = name.removeprefix("schema:")
                if bare in names:
                    yield bare, element


def is_outside_article(element: Element) -> bool:
    """Whether an element is in a part such as comments, related articles, a sidebar or the footer."""
    part = element.closest(_OUTSIDE_ARTICLE)
    return part is not None and part.find("h1") is None


NearbyLines = Callable[[], Sequence[str]]  # the pieces of text near the headline, read on the first call


def lines_near_headline(headline: Element | None) -> list[str]:
    """The pieces of text after a headline, then those before it, the nearest first."""
    lines: list[str] = []
    for nodes, most in (
        ((headline.following, _MOST_LINES_AFTER), (headline.preceding, _MOST_LINES_BEFORE))
        if headline is not None
        else ()
    ):
        most += len(lines)
        for node in islice(nodes, 10 * most):
            if type(node) is Text and (text := node.data.strip()):
                lines.append(text[:LONGEST_TEXT])
                if len(lines) >= most:
                    break
    return lines


def text_of(element: Element, longest: int = LONGEST_PHRASE) -> str:
    """The text of an element up to a length: reading nested elements whole could take quadratic time."""
    parts, left = [], 2 * longest  # before white space is collapsed
    for part in element.strings:
        parts.append(part[:left])
        left -= len(part)
        if left <= 0:
            break
    return one_line("".join(parts))[:longest].rstrip()


def _add_meta(scan: PageScan, element: Element) -> None:
    content = element.attr("content")
    if not content or len(scan.metas) >= _MOST_METAS:
        return
    content = content[: 2 * LONGEST_TEXT]
    text = one_line(unescape(content) if "&" in content else content)[:LONGEST_TEXT].rstrip()  # many are escaped twice
    for attribute in _NAMES:
        for name in (element.attr(attribute) or "")[:LONGEST_PHRASE].lower().split():
            found = scan.metas.setdefault(name, [])
            if text and len(found) < MOST_BOLD:
                found.append(text)


def _add_link(scan: PageScan, element: Element) -> None:
    href, rel = element.attr("href"), element.attr("rel")
    if href and rel and len(href) <= _LONGEST_URL and len(scan.links) < _MOST_LINKS:
        kinds = frozenset(rel[:LONGEST_PHRASE].lower().split())
        scan.links.append(LinkMark(kinds, href, one_line((element.attr("hreflang") or "")[:LONGEST_PHRASE])))


def _add_bold(scan: PageScan, element: Element) -> None:
    if len(scan.bold) < MOST_BOLD and (text := text_of(element)) and text not in scan.bold:
        scan.bold.append(text)


def _add_script(scan: PageScan, element: Element) -> None:
    kind = (element.attr("type") or "").strip().lower()
    if kind.startswith("application/ld+json") or (not kind and element.attr("src") is None):
        text = element.text
        if (kind or text.startswith('{"@context"')) and len(text) <= scan.script_room:  # some forget the type
            scan.script_room -= len(text)
            scan.scripts.append(text)


def _add_heading(scan: PageScan, element: Element, level: int) -> None:
    if len(scan.headings) < MOST_HEADINGS and (text := text_of(element)):
        scan.headings.append(Heading(level, text))
        if level <= 3:
            scan.headlines.append(element)
