"""Extract the metadata of a page: title, authors, dates, language, type, description and more.

Pages have it in several places: JSON-LD and microdata for search engines, Open Graph for social networks, meta
elements, headlines and bylines for people. For each field the places are tried in the order of how often they are
right, and the first plausible value is taken.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import islice
from math import inf

from turbohtml import Document, Element

from crawler.parse.clean_text import one_line
from crawler.parse.metadata.bylines import authors_of
from crawler.parse.metadata.json_ld import Thing, kinds_of, property_texts, rank_things, things_in
from crawler.parse.metadata.page_dates import page_dates
from crawler.parse.metadata.titles import best_title
from crawler.parse.page_scan import (
    LONGEST_PHRASE,
    LONGEST_TEXT,
    Heading,
    PageScan,
    lines_near_headline,
    microdata_of,
    scan_page,
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
# Open Graph's before the plain one, which is often the same on all pages of a site.
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
    """The metadata of a page; fields are empty where the page has none."""

    title: str = ""  # the best title, without the name of the site
    plain_title: str = ""  # the text of <title>
    description: str = ""
    authors: Sequence[str] = ()
    site_name: str = ""
    published: float | None = None  # seconds since the epoch
    published_iso: str = ""  # in the page's own time zone and as exact as written: a year, month, day or moment
    modified: float | None = None
    modified_iso: str = ""
    language_declared: str = ""  # as written
    canonical: str = ""
    hreflang: Sequence[tuple[str, str]] = ()  # (language, URL) of the same page in other languages
    kind: str = ""  # its type in schema.org (NewsArticle), else in Open Graph (article)
    image: str = ""
    keywords: Sequence[str] = ()
    headings: Sequence[Heading] = ()
    bold: Sequence[str] = ()
    license: str = ""  # its URL or its name
    json_ld: Sequence[Thing] = ()


NO_METADATA = Metadata()


def metadata_of(document: Document, url: str, base: str, *, latest: float = inf) -> Metadata:
    """Extract the metadata of a document; its links are relative to `base`, and it is not changed.

    Dates later than `latest` are ignored; callers that know when the page was fetched should pass that time.

    >>> import turbohtml
    >>> page = turbohtml.parse("<title>It rains | Paper</title><h1>It rains</h1><p>By Ada Lovelace<p>May 4, 2019")
    >>> found = metadata_of(page, "http://a.com/", "http://a.com/")
    >>> found.title, found.authors, found.published_iso
    ('It rains', ['Ada Lovelace'], '2019-05-04')
    """
    scan = scan_page(document)
    things = things_in(scan.scripts)
    about = rank_things(things, frozenset({url, base}), scan.title)
    site_name = _site_name(scan, things)
    site_names = _site_names(site_name, url)
    title = best_title(scan.title, _declared_titles(scan, about), scan.headings, site_names)
    nearby = cache(partial(lines_near_headline, _headline(scan, title)))
    language = _language(document, scan, about)
    dates = page_dates(
        document,
        scan,
        _declared_dates(document, about),
        url,
        nearby,
        latest=latest,
        month_first=_is_month_first(language or scan.meta(("og:locale",))),
    )
    return Metadata(
        title=title[:LONGEST_PHRASE].rstrip(),
        plain_title=scan.title,
        description=scan.meta(_DESCRIPTIONS) or _first_text(about, "description"),
        authors=authors_of(document, scan, _all_texts(about, "author", things), nearby, site_names),
        site_name=site_name,
        published=dates.published.seconds if dates.published is not None else None,
        published_iso=dates.published.iso if dates.published is not None else "",
        modified=dates.modified.seconds if dates.modified is not None else None,
        modified_iso=dates.modified.iso if dates.modified is not None else "",
        language_declared=language,
        canonical=_first_nonempty(_absolute(link.href, base) for link in scan.links if "canonical" in link.rel),
        hreflang=list(islice(_alternates(scan, base), MOST_ALTERNATES)),
        kind=_page_type(scan, about, things),
        image=_absolute(scan.meta(_IMAGES) or _first_text(about, "image"), base),
        keywords=_keywords(scan, about),
        headings=scan.headings,
        bold=scan.bold,
        license=_license(document, scan, about, base),
        json_ld=things,
    )


def _declared_titles(scan: PageScan, about: Sequence[Thing]) -> list[str]:
    headlines = [title for title in _all_texts(about, "headline")[:1] if title]
    return headlines + [found[0] for name in _TITLES if (found := scan.metas.get(name))]


def _declared_dates(document: Document, about: Sequence[Thing]) -> dict[str, list[str]]:
    """Declared dates by name in lower case, those of JSON-LD before those of microdata."""
    found = {name.lower(): _all_texts(about, name) for name in _DATES}
    for name, element in microdata_of(document, _DATE_ITEMS):
        found[name].append(element.attr("content") or element.attr("datetime") or text_of(element))
    return found


def _headline(scan: PageScan, title: str) -> Element | None:
    """The heading whose text is the title, else the first of the highest level."""
    for element in scan.headlines:
        if text_of(element) == title:
            return element
    return min(scan.headlines, key=lambda element: element.tag, default=None)


def _site_name(scan: PageScan, things: Sequence[Thing]) -> str:
    declared = scan.meta(_SITES)
    if not declared:
        sites = [thing for thing in things if "WebSite" in kinds_of(thing)]
        declared = _first_text(sites, "name") or _first_text(things, "publisher", things)
    return declared[:LONGEST_PHRASE].rstrip()


def _site_names(declared: str, url: str) -> list[str]:
    """Names of the site that titles may contain: its declared name, its host, its registered domain without suffix."""
    host = host_of(url).removeprefix("www.")
    return [name for name in (declared, host, (registered_domain(host) or host).partition(".")[0]) if name]


def _language(document: Document, scan: PageScan, about: Sequence[Thing]) -> str:
    root = document.root
    said = (root.attr("lang") or root.attr("xml:lang") or "") if root is not None else ""
    declared = one_line(said[:LONGEST_PHRASE]) or scan.meta(_LANGUAGES) or _first_text(about, "inLanguage")
    return declared[:_LONGEST_CODE].strip()


def _is_month_first(language: str) -> bool | None:
    """Whether 3/4/2019 is in March, as in the United States; None if unknown, as for "en" without a country."""
    language = language.lower().replace("_", "-")
    return None if language in ("", "en") else language.startswith(("en-us", "en-ph", "es-us"))


def _alternates(scan: PageScan, base: str) -> Iterator[tuple[str, str]]:
    for link in scan.links:
        if link.language and "alternate" in link.rel and (url := _absolute(link.href, base)):
            yield link.language[:_LONGEST_CODE], url


def _page_type(scan: PageScan, about: Sequence[Thing], things: Sequence[Thing]) -> str:
    kinds = [kind for thing in (*about[:1], *things[:1]) for kind in kinds_of(thing)]
    return (kinds[0] if about and kinds else scan.meta(("og:type",)) or _first_nonempty(kinds))[:LONGEST_PHRASE]


def _keywords(scan: PageScan, about: Sequence[Thing]) -> list[str]:
    said = [*(text for name in _KEYWORDS for text in scan.metas.get(name, ())), *_all_texts(about, "keywords")]
    words = (
        word.strip()[:LONGEST_PHRASE] for text in said for word in text.replace(";", ",").split(",", MOST_KEYWORDS)
    )
    return list(islice(dict.fromkeys(filter(None, words)), MOST_KEYWORDS))


def _license(document: Document, scan: PageScan, about: Sequence[Thing], base: str) -> str:
    for link in scan.links:
        if "license" in link.rel:
            return _absolute(link.href, base)
    named = document.select_one("a[rel~=license]")
    if named is not None:
        return _absolute(named.attr("href") or "", base)
    return (_first_text(about, "license") or scan.meta(_LICENSES))[:LONGEST_PHRASE].rstrip()


def _absolute(href: str, base: str) -> str:
    found = resolve(href, base) if href and len(href) <= LONGEST_TEXT else None
    return found if found is not None and found.startswith(WEB_PREFIXES) else ""


def _all_texts(things: Iterable[Thing], name: str, known: Sequence[Thing] = ()) -> list[str]:
    return [text for thing in things for text in property_texts(thing, name, known)]


def _first_text(things: Iterable[Thing], name: str, known: Sequence[Thing] = ()) -> str:
    return _first_nonempty(_all_texts(things, name, known))


def _first_nonempty(texts: Iterable[str]) -> str:
    return next(filter(None, texts), "")
