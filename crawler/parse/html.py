"""What does a page say, and where does it lead?

One parse, by the rules of the HTML Standard, so that we see the page that browsers see.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import turbohtml
from turbohtml import Document, Namespace, PlainText

from crawler.items import ROBOTS_TOKEN
from crawler.parse import directives
from crawler.parse.charset import decode
from crawler.parse.directives import Directives
from crawler.parse.links import LONGEST_HREF, Canonicalize, HtmlLink, base_of, links_of
from crawler.parse.plain import lines, phrase
from crawler.urls import canonical

_FEW_WORDS = 60  # a page that asks for a password and says little else is a login
_TABLE_PARTS = ("table", "caption", "thead", "tbody", "tfoot", "tr", "td", "th")
_COMPACT = PlainText(layout="strict", bullet="")

_OPENING = re.compile(
    rb"(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?\s*+(?:(?><!--.*?-->|<\?xml[^>]*>)\s*+)*+"
    rb"<(?:!doctype\s+html|html|head|body|title|meta|link|script|style|base|iframe|frameset"
    rb"|h[1-6]|div|span|font|table|form|center|ul|ol|p|a|b|br|hr|img)[\s/>]",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Html:
    """Everything a page tells about itself."""

    title: str = ""
    main_text: str = ""  # without navigation and the like, where a main part can be told; else all text
    all_text: str = ""  # a line for each block
    links: Sequence[HtmlLink] = ()  # in document order, each URL once
    base: str = ""  # against which its links are read
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
    base = base_of(document, url)
    links, problem = links_of(document, base, decoded.encoding, canonicalize)
    document.remove("template")  # what it holds is no text of the page until a script says so
    asked = directives.read(_robots_metas(document))
    asks_password = any((field.attr("type") or "").lower() == "password" for field in document.iter_elements("input"))
    main_text, all_text = _texts(document, with_all_text=with_all_text)
    return Html(
        title=_title(document),
        main_text=main_text,
        all_text=all_text,
        links=links,
        base=base,
        canonical=_canonical(document, base, canonicalize),
        directives=asked,
        language=_language(document),
        encoding=decoded.encoding,
        is_login=asks_password and len(main_text.split(None, _FEW_WORDS)) < _FEW_WORDS,
        problem=problem,
    )


def _title(document: Document) -> str:
    for element in document.iter_elements("title"):
        if element.namespace is Namespace.HTML:
            return phrase(element.text)
    return ""


def _canonical(document: Document, base: str, canonicalize: Canonicalize) -> str | None:
    for element in document.iter_elements("link"):
        href = element.attr("href")
        if href and len(href) <= LONGEST_HREF and "canonical" in (element.attr("rel") or "").lower().split():
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
