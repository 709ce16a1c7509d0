"""Find when a page was published and last modified; a wrong date is worse than none.

Declared metadata comes first, then the URL, then a visible date near the headline or in an element whose class or id
says that it is a date. Dates elsewhere in the text may well be those of something else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from itertools import islice
from typing import NamedTuple

from turbohtml import Document

from crawler.parse.metadata.dates import Date, date_of, dates_in, may_contain_date
from crawler.parse.page_scan import NearbyLines, PageScan, is_outside_article, text_of

EARLIEST = -2208902400.0  # 1900-01-02: systems without a date write the first of January
_DAY = 86_400.0
_EARLIEST_VISIBLE = 631_152_000.0  # 1990: an earlier visible date is part of a story
_NULL_DATES = frozenset({"1970-01-01", "1969-12-31"})  # the epoch, written by systems without a date

PUBLISHED = (
    "article:published_time",
    "og:article:published_time",
    "article:published",
    "og:published_time",
    "og:pubdate",
    "datepublished",
    "parsely-pub-date",
    "cxenseparse:recs:publishtime",
    "sailthru.date",
    "publish-date",
    "publish_date",
    "publishdate",
    "published_time",
    "published-date",
    "publication_date",
    "publication-date",
    "publicationdate",
    "published",
    "pubdate",
    "dc.date.issued",
    "dcterms.issued",
    "dcterms.date",
    "dc.date",
    "dc:date",
    "dcterms.created",
    "dc.date.created",
    "dcterms.available",
    "citation_publication_date",
    "citation_online_date",
    "citation_date",
    "bt:pubdate",
    "article.published",
    "article:post_date",
    "article_date_original",
    "article-publication-date",
    "originalpublicationdate",
    "displaydate",
    "datecreated",
    "created",
    "date",
)
MODIFIED = (
    "article:modified_time",
    "og:article:modified_time",
    "og:updated_time",
    "datemodified",
    "dcterms.modified",
    "dc.date.modified",
    "article:modified",
    "modified_time",
    "last-modified",
    "lastmod",
    "date.modified",
    "revised",
)

_IN_URL = re.compile(r"(?<![0-9])((?:19|20)[0-9]{2})([-/_.]?)([01]?[0-9])\2([0-3]?[0-9])(?![0-9])")
_DATE_ELEMENTS = (
    "[class*=date i],[class*=publi i],[class*=posted i],[class*=time i],[class*=byline i],[class*=meta i],"
    "[class*=created i],[class*=datum i],[class*=fecha i],[id*=date i],[id*=publish i]"
)
_MOST_DATE_ELEMENTS = 40  # elements whose text is read
_LONGEST_DATE_ELEMENT = 200  # characters: a longer element is not a date but a text that contains one
# Characters: a date near the headline has a line of its own; within a sentence it is that of something else.
_LONGEST_LINE = 60
_LONGEST_DATE = 18  # characters: "18. September 2019" at the beginning of a text is its dateline
_CHANGE_WORDS = re.compile(
    r"\b(?:updated?|modified|revised|reviewed|aktualisier|geändert|änderung|bearbeitet|mise? à jour|modifié|actualiza"
    r"|atualiza|aggiorna|bijgewerkt|gewijzigd|zaktualizowan|oppdatert|uppdatera|opdatere|обновлен|copyright)|©",
    re.IGNORECASE,
)


class PageDates(NamedTuple):
    """When a page was published and modified; None where unknown."""

    published: Date | None
    modified: Date | None


class PlausibleDates(NamedTuple):
    """The range of plausible dates: not the defaults of systems without a date, not later than the fetch."""

    latest: float

    def has(self, found: Date, earliest: float = EARLIEST) -> bool:
        return earliest <= found.seconds <= self.latest and found.iso[:10] not in _NULL_DATES


def page_dates(
    document: Document,
    scan: PageScan,
    declared: Mapping[str, Sequence[str]],
    url: str,
    nearby: NearbyLines,
    *,
    latest: float = float("inf"),
    month_first: bool | None = None,
) -> PageDates:
    """The dates of a page, from JSON-LD and microdata (`declared`, by name), its metas, its URL and visible dates."""
    window = PlausibleDates(latest)

    def first(texts: Iterable[str]) -> Date | None:
        found = (date_of(text, month_first=month_first) for text in texts)
        return next((when for when in found if when is not None and window.has(when)), None)

    published = first(
        [
            *declared.get("datepublished", ()),
            *_metas(scan, PUBLISHED),
            *declared.get("uploaddate", ()),
            *declared.get("datecreated", ()),
        ]
    )
    modified = first([*declared.get("datemodified", ()), *_metas(scan, MODIFIED)])
    in_url = date_in_url(url)
    if in_url is not None and window.has(in_url):
        published = _prefer_url_date(published, in_url)
    if published is None:
        visible = _visible_dates(document, scan, nearby, month_first)
        published = next((when for when in visible if window.has(when, _EARLIEST_VISIBLE)), None)
    return PageDates(published, modified)


def plausible_date(text: str, now: float) -> Date | None:
    """The date in a file's own metadata, if it is plausible."""
    found = date_of(text) if text else None
    return found if found is not None and PlausibleDates(now + _DAY).has(found) else None


def date_in_url(url: str) -> Date | None:
    """The day in the path of a URL.

    >>> date_in_url("http://a.com/2019/10/18/title"), date_in_url("http://a.com/item-20193456")
    (Date(seconds=1571356800.0, iso='2019-10-18'), None)
    """
    for found in islice(_IN_URL.finditer(url[:2_000].partition("?")[0]), 5):
        year, separator, month, day = found.groups()
        if not separator and len(month + day) != 4:
            continue
        try:
            return date_of(date(int(year), int(month), int(day)).isoformat())
        except ValueError:
            continue
    return None


def _metas(scan: PageScan, names: Iterable[str]) -> Iterator[str]:
    for name in names:
        yield from scan.metas.get(name, ())


def _prefer_url_date(declared: Date | None, in_url: Date) -> Date:
    """The date in the URL, or the declared one if it is within two days: others are those of later events."""
    return declared if declared is not None and abs(declared.seconds - in_url.seconds) <= 2 * _DAY else in_url


def _visible_dates(document: Document, scan: PageScan, nearby: NearbyLines, month_first: bool | None) -> Iterator[Date]:
    """Dates that readers see on the page, the most likely first."""
    for line in nearby():
        yield from _publication_dates(line if len(line) <= _LONGEST_LINE else line[:_LONGEST_DATE], month_first)
    for element in scan.times:
        found = date_of(element.attr("datetime") or text_of(element), month_first=month_first)
        if found is not None and not is_outside_article(element):
            yield found
    for element in document.select(_DATE_ELEMENTS)[:_MOST_DATE_ELEMENTS]:
        text = text_of(element, _LONGEST_DATE_ELEMENT + 1)
        if len(text) <= _LONGEST_DATE_ELEMENT and not is_outside_article(element):
            yield from _publication_dates(text, month_first)


def _publication_dates(text: str, month_first: bool | None) -> list[Date]:
    """The dates in a line, unless it speaks of an update or a copyright."""
    if not may_contain_date(text):
        return []
    found = list(dates_in(text, month_first=month_first))
    return found if found and _CHANGE_WORDS.search(text) is None else []
