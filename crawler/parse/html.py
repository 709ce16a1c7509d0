"""What does a page say, and where does it lead?

One parse, by the rules of the HTML Standard, so that we see the page that browsers see.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import turbohtml
from turbohtml import Document, Element, Namespace, PlainText

from crawler.items import ROBOTS_TOKEN
from crawler.parse import directives
from crawler.parse.charset import decode
from crawler.parse.directives import Directives
from crawler.parse.labels import codec_of
from crawler.parse.plain import lines, phrase
from crawler.urls import canonical
from crawler.urls.canonical import resolve

MOST_LINKS = 5_000
LONGEST_ANCHOR = 200
_MOST_LINK_ELEMENTS = 20 * MOST_LINKS  # looked at, however few different URLs they name
_LONGEST_HREF = 65_536
_MOST_OUTER_LINKS = 100  # links around links whose text is read: each contains what the inner ones do

_LINK_ELEMENTS = ("a", "area", "iframe", "frame", "link", "meta")
_LINK_TYPES = frozenset({"alternate", "next", "prev"})  # of <link>
_FEED_TYPES = frozenset(
    {"application/rss+xml", "application/atom+xml", "application/feed+json", "application/rdf+xml", "text/rss+xml"}
)
_FEW_WORDS = 60  # a page that asks for a password and says little else is a login
_TABLE_PARTS = ("table", "caption", "thead", "tbody", "tfoot", "tr", "td", "th")
_COMPACT = PlainText(layout="strict", bullet="")

_REFRESH = re.compile(r"\s*[0-9.]+\s*[;,\s]\s*(?:url\s*=\s*)?(?:\"([^\"]*)|'([^']*)|(.*))", re.IGNORECASE | re.DOTALL)
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
_OPENING = re.compile(
    rb"(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?\s*+(?:(?><!--.*?-->|<\?xml[^>]*>)\s*+)*+"
    rb"<(?:!doctype\s+html|html|head|body|title|meta|link|script|style|base|iframe|frameset"
    rb"|h[1-6]|div|span|font|table|form|center|ul|ol|p|a|b|br|hr|img)[\s/>]",
    re.IGNORECASE | re.DOTALL,
)


class HtmlLink(NamedTuple):
    """A link as the page has it."""

    url: str  # canonical
    anchor: str
    rel: str  # in lower case, as the author wrote it; "refresh" for a page that sends its readers on by itself, "feed" for its feed


@dataclass(frozen=True, slots=True, kw_only=True)
class Html:
    """Everything a page tells about itself."""

    title: str = ""
    main_text: str = ""  # without navigation and the like, where a main part can be told; else all text
    all_text: str = ""  # a line for each block
    links: Sequence[HtmlLink] = ()  # in document order, each URL once
    canonical: str | None = None
    directives: Directives = directives.NONE
    language: str = ""
    encoding: str = ""
    is_login: bool = False
    problem: str = ""

    @property
    def noindex(self) -> bool:
        return self.directives.noindex

    @property
    def nofollow(self) -> bool:
        return self.directives.nofollow


def looks_like_html(body: bytes, content_type: str | None) -> bool:
    """Whether to read this body as HTML: its type says so, or it has none and begins like a page.

    >>> looks_like_html(b"", "Text/HTML; charset=x"), looks_like_html(b"<p>", "text/plain"), looks_like_html(b"<p>", None)
    (True, False, True)
    """
    essence = (content_type or "").partition(";")[0].partition(",")[0].strip().lower()
    if "/" in essence:
        return essence in ("text/html", "application/xhtml+xml")
    return _OPENING.match(body[:2048].replace(b"\0", b"")) is not None


Canonicalize = Callable[[str, str], str | None]  # the one form of a link, relative to a base


def parse_html(
    body: bytes,
    url: str,
    content_type: str | None = None,
    *,
    with_all_text: bool = True,
    canonicalize: Canonicalize = canonical.canonicalize,
) -> Html:
    """Read a page that was fetched from this URL. Any bytes give an answer.

    Who does not need `all_text` saves a tenth of the time without it.
    """
    decoded = decode(body, content_type)
    if not decoded.text:
        return Html(encoding=decoded.encoding)
    document = turbohtml.parse(decoded.text, positions=False)
    document.remove("template")  # what it holds is not part of the page until a script says so
    base = _base(document, url)
    links, problem = _links(document, base, decoded.encoding, canonicalize)
    asked = directives.read(_robots_metas(document))
    asks_password = any((field.attr("type") or "").lower() == "password" for field in document.iter_elements("input"))
    main_text, all_text = _texts(document, with_all_text=with_all_text)
    return Html(
        title=_title(document),
        main_text=main_text,
        all_text=all_text,
        links=links,
        canonical=_canonical(document, base, canonicalize),
        directives=asked,
        language=_language(document),
        encoding=decoded.encoding,
        is_login=asks_password and len(main_text.split(None, _FEW_WORDS)) < _FEW_WORDS,
        problem=problem,
    )


def _base(document: Document, url: str) -> str:
    """The page's URL, or what its first <base> with a href puts in its place."""
    for element in document.iter_elements("base"):
        href = element.attr("href")
        if href is not None:
            base = resolve(href, url) if len(href) <= _LONGEST_HREF else None
            return base if base is not None and base.startswith(("http://", "https://")) else url
    return url


def _links(document: Document, base: str, encoding: str, canonicalize: Canonicalize) -> tuple[list[HtmlLink], str]:
    """The links, and what kept us from taking them all."""
    links: dict[str, HtmlLink] = {}
    anchors = _Anchors()
    for count, element in enumerate(document.iter_elements(_LINK_ELEMENTS)):
        href, rel = _reference(element)
        if href is None or len(href) > _LONGEST_HREF:
            continue
        url = canonicalize(href if href.isascii() else _query_in(encoding, href), base)
        if url is None:
            continue
        if (len(links) >= MOST_LINKS and url not in links) or count >= _MOST_LINK_ELEMENTS:
            return list(links.values()), "too many links"
        first = links.get(url)
        if first is None:
            links[url] = HtmlLink(url, anchors.of(element), rel)
        elif not first.anchor or "nofollow" in first.rel:
            links[url] = _merged(first, HtmlLink(url, anchors.of(element), rel))
    return list(links.values()), ""


def _query_in(encoding: str, href: str) -> str:
    """A link whose query is escaped in the encoding of its page, as browsers send it; the URL Standard assumes UTF-8."""
    before, mark, query = href.partition("?")
    query, hash_mark, fragment = query.partition("#")
    codec = codec_of(encoding)
    if not mark or query.isascii() or "#" in before or codec == "utf-8":
        return href
    escaped = _NOT_ASCII.sub(lambda run: "".join(_escapes(character, codec) for character in run[0]), query)
    return before + mark + escaped + hash_mark + fragment


def _escapes(character: str, codec: str) -> str:
    try:
        return "".join(f"%{octet:02X}" for octet in character.encode(codec))
    except UnicodeEncodeError:
        return f"%26%23{ord(character)}%3B"  # a character reference, as in the forms of old


def _reference(element: Element) -> tuple[str | None, str]:
    """What an element refers to, if it is a link, and the kind of link."""
    tag = element.tag
    if tag == "meta":
        return _refresh(element), "refresh"
    rel = (element.attr("rel") or "").lower()
    if tag == "link":
        kinds = rel.split()
        if "alternate" in kinds and (element.attr("type") or "").partition(";")[0].strip().lower() in _FEED_TYPES:
            rel = "feed"
        return (None if _LINK_TYPES.isdisjoint(kinds) else element.attr("href")), rel
    return element.attr("src" if tag in ("iframe", "frame") else "href"), rel


def _refresh(meta: Element) -> str | None:
    if (meta.attr("http-equiv") or "").strip().lower() != "refresh":
        return None
    found = _REFRESH.match(meta.attr("content") or "")
    target = found and (found[1] or found[2] or found[3] or "").strip()
    return target or None


def _merged(first: HtmlLink, second: HtmlLink) -> HtmlLink:
    """Two links to one URL: the first that says something, and followed if either is."""
    followed = "nofollow" in first.rel and "nofollow" not in second.rel
    return HtmlLink(first.url, first.anchor or second.anchor, second.rel if followed else first.rel)


class _Anchors:
    """Reads what links are called.

    A link may lie inside a link. The text of all others is read once, that of the outer ones once more each, which
    a page could make as slow as it likes; hence a limit.
    """

    def __init__(self) -> None:
        self._outer = 0

    def of(self, element: Element) -> str:
        if element.tag != "a":
            return phrase(element.attr("alt") or element.attr("title") or "")[:LONGEST_ANCHOR]
        if element.find("a") is not None:
            self._outer += 1
            if self._outer > _MOST_OUTER_LINKS:
                return ""
        return phrase(element.text)[:LONGEST_ANCHOR]


def _title(document: Document) -> str:
    for element in document.iter_elements("title"):
        if element.namespace is Namespace.HTML:
            return phrase(element.text)
    return ""


def _canonical(document: Document, base: str, canonicalize: Canonicalize) -> str | None:
    for element in document.iter_elements("link"):
        href = element.attr("href")
        if href and len(href) <= _LONGEST_HREF and "canonical" in (element.attr("rel") or "").lower().split():
            return canonicalize(href, base)
    return None


def _robots_metas(document: Document) -> list[str]:
    """What the page asks of all crawlers, and of us."""
    return [
        meta.attr("content") or ""
        for meta in document.iter_elements("meta")
        if (meta.attr("name") or "").strip().lower() in ("robots", ROBOTS_TOKEN)
    ]


def _language(document: Document) -> str:
    root = document.root
    return phrase(root.attr("lang") or "") if root is not None else ""


def _texts(document: Document, *, with_all_text: bool) -> tuple[str, str]:
    """The main text and all text. Changes the document: nothing else may be asked of it afterwards."""
    main = document.main_content()
    # A table would be drawn as a grid whose columns are as wide as their widest cell: 120 kB can become 200 MB.
    for part in list(document.iter_elements(_TABLE_PARTS)):
        part.tag = "div"
    main_text = lines(main.to_text(_COMPACT)) if main is not None else ""
    all_text = lines(document.to_text(_COMPACT)) if with_all_text or not main_text else ""
    return main_text or all_text, all_text
