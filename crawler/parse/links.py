"""Extract the links of an HTML page: URL, anchor text, rel, position on the page, and the words around them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from enum import StrEnum
from functools import lru_cache
from typing import Any, NamedTuple

from turbohtml import Document, Element

from crawler.parse.clean_text import one_line
from crawler.parse.elements import FORMATTING
from crawler.parse.encodings.labels import codec_of
from crawler.urls.canonical import resolve
from crawler.urls.schemes import WEB_PREFIXES

MOST_LINKS = 5_000
LONGEST_ANCHOR = 200
WORDS_AROUND = 10  # taken as context, on each side of a link
LONGEST_HREF = 65_536
_MOST_LINK_ELEMENTS = 20 * MOST_LINKS  # elements examined, however few different URLs they have
_MOST_OUTER_LINKS = 100  # links containing links whose text is read: it includes that of the inner ones
_CONTEXT_REACH = 200  # characters on each side of a link from which the words around it are taken
_MOST_TEXT_AROUND = 4_000_000  # characters read for that on a page: nested blocks are read once for each level
_MOST_JSON_LD_VALUES = 10_000  # values of JSON-LD that are examined

_LINK_ELEMENTS = ("a", "area", "form", "frame", "iframe", "link", "meta")
_UNENDORSED_RELS = frozenset({"nofollow", "sponsored", "ugc"})  # rel values by which authors do not vouch for a link
_LINK_TYPES = frozenset({"alternate", "next", "prev"})  # rel values of <link> elements that are links to other pages
_FEED_TYPES = frozenset(
    {"application/rss+xml", "application/atom+xml", "application/feed+json", "application/rdf+xml", "text/rss+xml"}
)
_INLINE = FORMATTING | {"a", "label"}
_REFRESH = re.compile(r"\s*[0-9.]+\s*[;,\s]\s*(?:url\s*=\s*)?(?:\"([^\"]*)|'([^']*)|(.*))", re.IGNORECASE | re.DOTALL)
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
_URL_IN_TEXT = re.compile(r"\bhttps?://[^\s<>\"'`{}|\\^]{4,2000}")
_PUNCTUATION_AFTER_URL = ".,;:!?*_~…»”’"  # ends a sentence rather than the URL
_URL_PROPERTIES = frozenset({"url", "@id", "mainEntityOfPage", "item", "sameAs", "isPartOf", "contentUrl", "embedUrl"})

Canonicalize = Callable[[str, str], str | None]  # (href, base) → canonical URL


class Position(StrEnum):
    """The part of a page that a link is in."""

    CONTENT = "content"
    NAVIGATION = "navigation"  # and other parts outside of the content
    FOOTER = "footer"


class HtmlLink(NamedTuple):
    """A link of a page."""

    url: str  # canonical
    anchor: str
    rel: str  # in lower case as written; "refresh" for a meta refresh, "feed" for a <link> to a feed
    tag: str = "a"  # of its element, "form" for the action of a GET form; or "json-ld" or "text", where the URL stood
    position: Position = Position.CONTENT
    around: str = ""  # the words before and after it, " … " between them


def base_of(document: Document, url: str) -> str:
    """The base URL of a page: its first <base href>, if that is a web URL, else the page's own URL."""
    for element in document.iter_elements("base"):
        href = element.attr("href")
        if href is not None and element.closest("template") is None:
            base = resolve(href, url) if len(href) <= LONGEST_HREF else None
            return base if base is not None and base.startswith(WEB_PREFIXES) else url
    return url


def links_of(
    document: Document,
    base: str,
    encoding: str,
    canonicalize: Canonicalize,
    *,
    context: bool = True,
    in_data: bool = False,
) -> tuple[list[HtmlLink], str]:
    """Extract the links in document order, each URL once, and the reason if they are not complete.

    Links in a <template> count: scripts put them on the page, menus above all. `context` adds the position on the page
    and the words around a link, at a third of the total time; `in_data` adds URLs that only JSON-LD has.
    """
    links: dict[str, HtmlLink] = {}
    anchors, link_context = _Anchors(), _LinkContext() if context else None
    for count, element in enumerate(document.iter_elements(_LINK_ELEMENTS)):
        href, rel = _reference(element)
        if href is None or len(href) > LONGEST_HREF:
            continue
        url = canonicalize(href if href.isascii() else _encode_query(encoding, href), base)
        if url is None:
            continue
        if (len(links) >= MOST_LINKS and url not in links) or count >= _MOST_LINK_ELEMENTS:
            return list(links.values()), "too many links"
        first = links.get(url)
        if first is None or not first.anchor or first.rel or first.tag == "form":
            link = HtmlLink(url, anchors.text_of(element), rel, element.tag)
            if link_context is not None:
                position, words = link_context.context_of(element)
                link = link._replace(position=position, around=words)
            links[url] = link if first is None else _merge_links(first, link)
    if in_data:
        for text in _json_ld_urls(document):
            found = canonicalize(text, base)
            if found is not None and found not in links and len(links) < MOST_LINKS:
                links[found] = HtmlLink(found, "", "", "json-ld")
    return list(links.values()), ""


def urls_in(text: str, most: int = 1_000) -> Iterator[tuple[int, str]]:
    """Find URLs in plain text: (offset, URL), without the punctuation that ends the sentence.

    >>> list(urls_in("See http://a.example/b_(c), or (https://d.example/e)."))
    [(4, 'http://a.example/b_(c)'), (32, 'https://d.example/e')]
    """
    for count, found in enumerate(_URL_IN_TEXT.finditer(text)):
        if count >= most:
            return
        url = found[0].rstrip(_PUNCTUATION_AFTER_URL)
        while url.endswith((")", "]")) and url.count(url[-1]) > url.count("(" if url[-1] == ")" else "["):
            url = url[:-1].rstrip(_PUNCTUATION_AFTER_URL)
        yield found.start(), url


def _reference(element: Element) -> tuple[str | None, str]:
    """The href of an element, None if it is not a link, and its rel."""
    tag = element.tag
    if tag == "meta":
        return _refresh(element), "refresh"
    written = element.attr("rel")
    rel = one_line(written[:LONGEST_ANCHOR]).lower() if written else ""
    if tag == "a":
        return element.attr("href"), rel
    if tag == "link":
        kinds = rel.split()
        if "alternate" in kinds and (element.attr("type") or "").partition(";")[0].strip().lower() in _FEED_TYPES:
            rel = "feed"
        return (None if _LINK_TYPES.isdisjoint(kinds) else element.attr("href")), rel
    if tag == "form":
        is_get = (element.attr("method") or "get").strip().lower() == "get"
        return (element.attr("action") or None) if is_get else None, rel
    return element.attr("src" if tag in ("iframe", "frame") else "href"), rel


def _refresh(meta: Element) -> str | None:
    if (meta.attr("http-equiv") or "").strip().lower() != "refresh":
        return None
    found = _REFRESH.match(meta.attr("content") or "")
    target = found and (found[1] or found[2] or found[3] or "").strip()
    return target or None


def _merge_links(first: HtmlLink, second: HtmlLink) -> HtmlLink:
    """Merge two links to one URL: the first anchor that is not empty; nofollow and the like only if both have one."""
    rel = (
        first.rel
        if _UNENDORSED_RELS.isdisjoint(first.rel.split()) or not _UNENDORSED_RELS.isdisjoint(second.rel.split())
        else second.rel
    )
    tag = second.tag if first.tag == "form" else first.tag
    described = first if first.anchor or not second.anchor else second
    return described._replace(rel=rel, tag=tag if described is first else second.tag)


def _encode_query(encoding: str, href: str) -> str:
    """Percent-encode a link's query in the encoding of its page, as browsers do; the URL Standard assumes UTF-8."""
    before, mark, query = href.partition("?")
    query, hash_mark, fragment = query.partition("#")
    if not mark or query.isascii() or "#" in before or encoding.startswith("UTF"):
        return href
    codec = codec_of(encoding)
    escaped = _NOT_ASCII.sub(lambda run: "".join(_escapes(character, codec) for character in run[0]), query)
    return before + mark + escaped + hash_mark + fragment


def _escapes(character: str, codec: str) -> str:
    try:
        return "".join(f"%{octet:02X}" for octet in character.encode(codec))
    except UnicodeEncodeError:
        return f"%26%23{ord(character)}%3B"  # an escaped character reference, as the URL Standard wants


class _Anchors:
    """Extracts anchor texts.

    Links may be nested, and the text of an outer link includes that of the inner ones. A hostile page could make this
    take quadratic time, so only a limited number of outer links is read.
    """

    def __init__(self) -> None:
        self._outer = 0

    def text_of(self, element: Element) -> str:
        if element.tag != "a":
            return one_line((element.attr("alt") or element.attr("title") or "")[: 10 * LONGEST_ANCHOR])[
                :LONGEST_ANCHOR
            ]
        if element.find("a") is not None:
            self._outer += 1
            if self._outer > _MOST_OUTER_LINKS:
                return ""
        return one_line(element.text)[:LONGEST_ANCHOR]


# ── position and context ──

_POSITION_BY_TAG = {
    **dict.fromkeys(("nav", "menu", "aside"), Position.NAVIGATION),
    **dict.fromkeys(("main", "article", "body", "html"), Position.CONTENT),
    "footer": Position.FOOTER,
}
_POSITION_BY_ROLE = {
    **dict.fromkeys(
        ("navigation", "banner", "menu", "menubar", "search", "complementary", "toolbar"), Position.NAVIGATION
    ),
    **dict.fromkeys(("main", "article"), Position.CONTENT),
    "contentinfo": Position.FOOTER,
}
_POSITION_BY_WORDS = (
    (Position.FOOTER, re.compile(r"(?:^|[\s_-])(?:page|site|main|global|bottom)?-?_?(?:footer|colophon|copyright)")),
    (
        Position.NAVIGATION,
        re.compile(
            r"(?:^|[\s_-])(?:(?:main|site|top|sub|page|primary|secondary|side)?"
            r"(?:nav|menu|navigation|navbar|header|bar)"
            r"|breadcrumbs?|sidebar|masthead|pagination|pager|toc|related|skip-?link)(?:[\s_-]|$)"
        ),
    ),
)


class _Positions:
    """Finds the position of elements by their nearest ancestor that indicates one; caches the result by ancestor."""

    def __init__(self) -> None:
        self._known: dict[Element, Position] = {}

    def position_of(self, element: Element) -> Position:
        passed: list[Element] = []
        around: Any = element
        position = Position.CONTENT
        while (around := around.parent) is not None and isinstance(around, Element):
            known = self._known.get(around)
            if known is None:
                passed.append(around)
                known = _position_of(around)
            if known is not None:
                position = known
                break
        for other in passed:
            self._known[other] = position
        return position


def _position_of(element: Element) -> Position | None:
    """The position that an element gives to its content, by tag, role, class and id; None if it indicates none."""
    tag = element.tag
    if tag in _POSITION_BY_TAG:
        return _POSITION_BY_TAG[tag]
    if tag == "header":  # of the page, not of an article
        return Position.NAVIGATION if element.closest("article, main") is None else None
    role = element.attr("role")
    if role is not None and role in _POSITION_BY_ROLE:
        return _POSITION_BY_ROLE[role]
    classes, name = element.attr("class"), element.attr("id")
    return _position_by_words(f"{classes or ''} {name or ''}"[:200]) if classes or name else None


@lru_cache(maxsize=4096)
def _position_by_words(words: str) -> Position | None:
    words = words.lower()
    return next((place for place, expression in _POSITION_BY_WORDS if expression.search(words)), None)


class _LinkContext:
    """Finds the position of links and, for those in the content, the words around them in their block of text."""

    def __init__(self) -> None:
        self._positions = _Positions()
        self._blocks: dict[Element, tuple[str, int]] = {}  # the block's text, and the end of the last link found in it
        self._left = _MOST_TEXT_AROUND

    def context_of(self, element: Element) -> tuple[Position, str]:
        position = self._positions.position_of(element)
        needs_words = element.tag == "a" and position is Position.CONTENT
        return position, self._words_around(element) if needs_words else ""

    def _words_around(self, element: Element) -> str:
        block: Any = element.parent
        for _ in range(5):
            if not isinstance(block, Element) or block.tag not in _INLINE:
                break
            block = block.parent
        if not isinstance(block, Element):
            return ""
        text, start = self._blocks.get(block) or (self._block_text(block), 0)
        link = element.text
        at = _find_whole_words(text, link, start)
        if at < 0:
            return ""
        end = at + len(link)
        self._blocks[block] = text, end
        before = text[max(at - _CONTEXT_REACH, 0) : at].split()[-WORDS_AROUND:]
        after = text[end : end + _CONTEXT_REACH].split()[:WORDS_AROUND]
        return one_line(f"{' '.join(before)} … {' '.join(after)}") if before or after else ""

    def _block_text(self, block: Element) -> str:
        if self._left <= 0:
            return ""
        text: str = block.text
        self._left -= len(text)
        return text


def _find_whole_words(text: str, words: str, start: int) -> int:
    """The offset at which the words occur, not as part of longer words; -1 if not among the first 20 occurrences."""
    for _ in range(20):
        at = text.find(words, start) if words else -1
        if at < 0:
            return -1
        before, after = text[max(at - 1, 0) : at], text[at + len(words) : at + len(words) + 1]
        if not (before.isalnum() and words[0].isalnum()) and not (after.isalnum() and words[-1].isalnum()):
            return at
        start = at + 1
    return -1


# ── JSON-LD ──


def _json_ld_urls(document: Document) -> Iterator[str]:
    """URLs in JSON-LD: values of properties that hold URLs of pages."""
    examined = 0
    waiting: list[tuple[str, Any]] = [("", value) for value in document.json_ld()]
    while waiting and examined < _MOST_JSON_LD_VALUES:
        name, value = waiting.pop()
        examined += 1
        if isinstance(value, dict):
            waiting.extend(reversed(list(value.items())))
        elif isinstance(value, list):
            waiting.extend((name, item) for item in reversed(value))
        elif isinstance(value, str) and name in _URL_PROPERTIES and value.startswith((*WEB_PREFIXES, "/")):
            yield value
