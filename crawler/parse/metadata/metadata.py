"""What does a page say about itself: what it is called, who wrote it and when, in which language, what it is?

Pages say it in several places, for several readers: JSON-LD and microdata for search engines, Open Graph for social
networks, meta elements for whoever, headlines and bylines for people. For each fact the places are asked in the order of
how often they are right, and the first answer that makes sense counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import islice
from math import inf

from turbohtml import Document, Element

from crawler.parse.clean_text import phrase
from crawler.parse.metadata.bylines import authors_of
from crawler.parse.metadata.json_ld import Thing, by_weight, kinds_of, texts, things_in
from crawler.parse.metadata.page_dates import page_dates
from crawler.parse.metadata.titles import best_title
from crawler.parse.page_scan import (
    LONGEST_PHRASE,
    LONGEST_TEXT,
    Heading,
    PageScan,
    items_of,
    lines_beside,
    marks_of,
    text_of,
)
from crawler.urls.canonical import resolve
from crawler.urls.hosts import host_of, registered_domain
from crawler.urls.schemes import WEB_PREFIXES

MOST_ALTERNATES = 200
MOST_KEYWORDS = 50
_LONGEST_CODE = 35  # of a language, RFC 5646 §4.4.1

_TITLES = (
    "citation_title",
    "dc:title",
    "dc.title",
    "dcterms.title",
    "dcterm:title",
    "parsely-title",
    "og:title",
    "twitter:title",
)
# Open Graph's before the plain one: that is often the same on all pages of a site.
_DESCRIPTIONS = (
    "dc:description",
    "dc.description",
    "dcterms.description",
    "dcterm:description",
    "og:description",
    "description",
    "twitter:description",
)
_SITES = ("og:site_name", "application-name", "al:android:app_name", "dc.publisher")
_LANGUAGES = ("content-language", "language", "dc.language", "dcterms.language", "og:locale")
_IMAGES = ("og:image:secure_url", "og:image", "og:image:url", "twitter:image", "twitter:image:src", "thumbnail")
_KEYWORDS = ("article:tag", "keywords", "news_keywords", "parsely-tags")
_LICENSES = ("dcterms.license", "dc.rights", "dcterms.rights")
_DATES = ("datePublished", "dateCreated", "uploadDate", "dateModified")
_DATE_ITEMS = frozenset(name.lower() for name in _DATES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata:
    """Facts that a page tells; empty where it does not."""

    title: str = ""  # the best there is, without the name of the site
    plain_title: str = ""  # what <title> says
    description: str = ""
    authors: Sequence[str] = ()
    site_name: str = ""
    published: float | None = None  # seconds
    published_iso: str = ""  # as written, in the page's own zone and no more exact: a year, a month, a day or a moment
    modified: float | None = None
    modified_iso: str = ""
    language_declared: str = ""  # as it is written
    canonical: str = ""
    hreflang: Sequence[tuple[str, str]] = ()  # (language, URL) of the same page in other languages
    kind: str = ""  # in the words of schema.org (NewsArticle), else of Open Graph (article)
    image: str = ""
    keywords: Sequence[str] = ()
    headings: Sequence[Heading] = ()
    bold: Sequence[str] = ()
    license: str = ""  # its URL or its name
    json_ld: Sequence[Thing] = ()


NO_METADATA = Metadata()


def metadata_of(document: Document, url: str, base: str, *, latest: float = inf) -> Metadata:
    """Of a document from this URL, whose links are relative to this base. The document stays as it is.

    No date later than the latest counts; who knows when the page was fetched should say so.

    >>> import turbohtml
    >>> page = turbohtml.parse("<title>It rains | Paper</title><h1>It rains</h1><p>By Ada Lovelace<p>May 4, 2019")
    >>> found = metadata_of(page, "http://a.com/", "http://a.com/")
    >>> found.title, found.authors, found.published_iso
    ('It rains', ['Ada Lovelace'], '2019-05-04')
    """
    marks = marks_of(document)
    things = things_in(marks.scripts)
    about = by_weight(things, frozenset({url, base}), marks.title)
    site = _site_name(marks, things)
    names = _site_names(site, url)
    title = best_title(marks.title, _declared_titles(marks, about), marks.headings, names)
    beside = cache(partial(lines_beside, _headline(marks, title)))
    language = _language(document, marks, about)
    dates = page_dates(
        document,
        marks,
        _declared_dates(document, about),
        url,
        beside,
        latest=latest,
        month_first=_is_month_first(language or marks.meta(("og:locale",))),
    )
    return Metadata(
        title=title[:LONGEST_PHRASE].rstrip(),
        plain_title=marks.title,
        description=marks.meta(_DESCRIPTIONS) or _said(about, "description"),
        authors=authors_of(document, marks, _all(about, "author", things), beside, names),
        site_name=site,
        published=dates.published.seconds if dates.published is not None else None,
        published_iso=dates.published.iso if dates.published is not None else "",
        modified=dates.modified.seconds if dates.modified is not None else None,
        modified_iso=dates.modified.iso if dates.modified is not None else "",
        language_declared=language,
        canonical=_first(_absolute(link.href, base) for link in marks.links if "canonical" in link.rel),
        hreflang=list(islice(_alternates(marks, base), MOST_ALTERNATES)),
        kind=_kind(marks, about, things),
        image=_absolute(marks.meta(_IMAGES) or _said(about, "image"), base),
        keywords=_keywords(marks, about),
        headings=marks.headings,
        bold=marks.bold,
        license=_license(document, marks, about, base),
        json_ld=things,
    )


def _declared_titles(marks: PageScan, about: Sequence[Thing]) -> list[str]:
    headlines = [title for title in _all(about, "headline")[:1] if title]
    return headlines + [found[0] for name in _TITLES if (found := marks.metas.get(name))]


def _declared_dates(document: Document, about: Sequence[Thing]) -> dict[str, list[str]]:
    """By name in lower case, what JSON-LD says before what elements say."""
    found = {name.lower(): _all(about, name) for name in _DATES}
    for name, element in items_of(document, _DATE_ITEMS):
        found[name].append(element.attr("content") or element.attr("datetime") or text_of(element))
    return found


def _headline(marks: PageScan, title: str) -> Element | None:
    """The heading that is the title, else the first of the highest level."""
    for element in marks.headlines:
        if text_of(element) == title:
            return element
    return min(marks.headlines, key=lambda element: element.tag, default=None)


def _site_name(marks: PageScan, things: Sequence[Thing]) -> str:
    declared = marks.meta(_SITES)
    if not declared:
        sites = [thing for thing in things if "WebSite" in kinds_of(thing)]
        declared = _said(sites, "name") or _said(things, "publisher", things)
    return declared[:LONGEST_PHRASE].rstrip()


def _site_names(declared: str, url: str) -> list[str]:
    """What the site may be called in titles: by its name, its host, or that without what others have too."""
    host = host_of(url).removeprefix("www.")
    return [name for name in (declared, host, (registered_domain(host) or host).partition(".")[0]) if name]


def _language(document: Document, marks: PageScan, about: Sequence[Thing]) -> str:
    root = document.root
    said = (root.attr("lang") or root.attr("xml:lang") or "") if root is not None else ""
    declared = phrase(said[:LONGEST_PHRASE]) or marks.meta(_LANGUAGES) or _said(about, "inLanguage")
    return declared[:_LONGEST_CODE].strip()


def _is_month_first(language: str) -> bool | None:
    """Whether 3/4/2019 is in March: it is in the United States; where English comes from is often not said."""
    language = language.lower().replace("_", "-")
    return None if language in ("", "en") else language.startswith(("en-us", "en-ph", "es-us"))


def _alternates(marks: PageScan, base: str) -> Iterator[tuple[str, str]]:
    for link in marks.links:
        if link.language and "alternate" in link.rel and (url := _absolute(link.href, base)):
            yield link.language[:_LONGEST_CODE], url


def _kind(marks: PageScan, about: Sequence[Thing], things: Sequence[Thing]) -> str:
    kinds = [kind for thing in (*about[:1], *things[:1]) for kind in kinds_of(thing)]
    return (kinds[0] if about and kinds else marks.meta(("og:type",)) or _first(kinds))[:LONGEST_PHRASE]


def _keywords(marks: PageScan, about: Sequence[Thing]) -> list[str]:
    said = [*(text for name in _KEYWORDS for text in marks.metas.get(name, ())), *_all(about, "keywords")]
    words = (
        word.strip()[:LONGEST_PHRASE] for text in said for word in text.replace(";", ",").split(",", MOST_KEYWORDS)
    )
    return list(islice(dict.fromkeys(filter(None, words)), MOST_KEYWORDS))


def _license(document: Document, marks: PageScan, about: Sequence[Thing], base: str) -> str:
    for link in marks.links:
        if "license" in link.rel:
            return _absolute(link.href, base)
    named = document.select_one("a[rel~=license]")
    if named is not None:
        return _absolute(named.attr("href") or "", base)
    return (_said(about, "license") or marks.meta(_LICENSES))[:LONGEST_PHRASE].rstrip()


def _absolute(href: str, base: str) -> str:
    found = resolve(href, base) if href and len(href) <= LONGEST_TEXT else None
    return found if found is not None and found.startswith(WEB_PREFIXES) else ""


def _all(things: Iterable[Thing], name: str, known: Sequence[Thing] = ()) -> list[str]:
    return [text for thing in things for text in texts(thing, name, known)]


def _said(things: Iterable[Thing], name: str, known: Sequence[Thing] = ()) -> str:
    return _first(_all(things, name, known))


def _first(texts: Iterable[str]) -> str:
    return next(filter(None, texts), "")
