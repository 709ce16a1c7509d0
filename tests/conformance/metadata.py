"""Compare titles, authors, dates, descriptions and languages of pages with two annotated corpora.

One corpus was annotated by hand from what readers see, the other has the results of a browser's reader view. Neither is
always right, so most cases must agree, not all.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from functools import cache
from html import unescape
from typing import Any, NamedTuple

import turbohtml

from crawler.parse.charset import decode
from crawler.parse.language import declared_language, identify_language
from crawler.parse.metadata.metadata import Metadata, metadata_of
from crawler.parse.metadata.titles import words
from tests.conformance.scores import Score, score
from tests.conftest import SHARED

ANNOTATED = SHARED / "extraction" / "trafilatura_eval"
READER_VIEW = SHARED / "extraction" / "readability"
ENCODED = SHARED / "encoding" / "chardet"
Results = Iterator[tuple[str, bool]]

_MATTER_OF_TASTE = {
    "title": (45, "which of several headings is meant, with or without what stands above it or the name of the site"),
    "author": (35, "names that only follow the text, or that a byline has among others; organisations"),
    "date": (12, "of several dates another one, or one that stands where a date may be of anything"),
    "description": (30, "of several descriptions another one; the first paragraph"),
    "language": (15, "pages that declare English and are German, feeds that have little but addresses"),
}
_NEEDED = {"title": 0.80, "author": 0.70, "date": 0.90, "description": 0.83, "language": 0.92}
_DESCRIBED = re.compile(rb"""(?:name|property)\s*=\s*["']?(?:og:|twitter:)?description""", re.IGNORECASE)
_BY = re.compile(r"(?:by|par|von)\s+", re.IGNORECASE)
_DAY = re.compile(r"\d{4}-(?:0\d|1[0-2])-[0-3]\d")

# Languages of files that are named after them, and of encodings that only one language uses.
_NAMED = {
    "russian": "ru",  # before the others: one file is of a site about Greece
    "bulgarian": "bg",
    "croatian": "hr",
    "czech": "cs",
    "greek": "el",
    "hebrew": "he",
    "hungarian": "hu",
    "polish": "pl",
    "romanian": "ro",
    "slovak": "sk",
    "slovene": "sl",
    "thai": "th",
    "turkish": "tr",
    "big5": "zh",
    "gb2312": "zh",
    "euc-jp": "ja",
    "shift_jis": "ja",
    "cp932": "ja",
    "euc-kr": "ko",
    "koi8-r": "ru",
    "ibm866": "ru",
    "ibm855": "ru",
}
_MARKUP = re.compile(r"<(script|style)\b.*?</\1>|<[^>]*>", re.IGNORECASE | re.DOTALL)


class Page(NamedTuple):
    """A page and its annotation."""

    body: bytes
    text: str  # the main text, as our parser extracts it
    found: Metadata
    annotation: dict[str, Any]


def scores() -> list[Score]:
    return [
        score(f"metadata: {kind}", needed, results(kind), {kind: _MATTER_OF_TASTE[kind]})
        for kind, needed in _NEEDED.items()
    ]


def results(kind: str) -> Results:
    """Yield kind and agreement for each page whose annotation has this kind."""
    if kind == "language":
        yield from ((kind, agrees) for agrees in languages())
        return
    for page in pages():
        if page.annotation[kind]:
            yield kind, agrees(kind, page)


@cache
def pages() -> list[Page]:
    return [*_annotated(), *_in_reader_view()]


def agrees(kind: str, page: Page) -> bool:
    found, annotation = page.found, page.annotation[kind]
    if kind == "title":
        return words(annotation) in (
            words(found.title),
            words(found.plain_title) if page.annotation["is_plain"] else [],
        )
    if kind == "author":
        return sorted(words(" ".join(found.authors))) == sorted(words(annotation))
    if kind == "date":
        return (found.published_iso or found.modified_iso)[:10] == annotation
    return _likeness(found.description, annotation) >= 0.8


def languages() -> Iterator[bool]:
    """Yield agreement for pages that declare a language, detected without that, and for texts in old encodings."""
    for page in pages():
        declared = declared_language(page.found.language_declared)
        if declared and len(page.text) >= 100 and "orem ipsum" not in page.text:
            yield identify_language(page.text).detected == declared
    for line in (ENCODED / "cases.jsonl").read_text("utf-8").splitlines():
        case = json.loads(line)
        known = next((code for name, code in _NAMED.items() if name in case["file"].lower()), "")
        if known:
            text = (ENCODED / case["file"]).read_bytes().decode(case["encoding"], "replace")
            text = " ".join(_MARKUP.sub(" ", text).split())
            if len(text) >= 100:
                yield identify_language(text).code == known


def _annotated() -> Iterator[Page]:
    for line in (ANNOTATED / "cases.jsonl").read_text("utf-8").splitlines():
        case = json.loads(line)
        author = case.get("author") or ""
        annotation = {
            "title": case.get("title") or "",
            "author": " ".join(author) if isinstance(author, list) else author,
            "date": date if _DAY.fullmatch(date := case.get("date") or "") else "",
            "description": unescape(case.get("description") or ""),
            "is_plain": False,
        }
        yield _page(gzip.decompress((ANNOTATED / case["file"]).read_bytes()), case["url"], annotation)


def _in_reader_view() -> Iterator[Page]:
    for line in (READER_VIEW / "cases.jsonl").read_text("utf-8").splitlines():
        case = json.loads(line)
        body, metadata = gzip.decompress((READER_VIEW / case["file"]).read_bytes()), case["metadata"]
        annotation = {
            "title": metadata.get("title") or "",
            "author": _BY.sub("", " ".join((metadata.get("byline") or "").split()), count=1),
            "date": (metadata.get("publishedTime") or "")[:10],
            # Without a description the reader view uses the first paragraph.
            "description": (metadata.get("excerpt") or "") if _DESCRIBED.search(body) else "",
            "is_plain": True,  # the reader view keeps the name of the site in the title
        }
        yield _page(body, "http://fakehost/test/page.html", annotation)


def _page(body: bytes, url: str, annotation: dict[str, Any]) -> Page:
    document = turbohtml.parse(decode(body).text, positions=False)
    return Page(body, document.main_text(), metadata_of(document, url, url), annotation)


def _likeness(ours: str, theirs: str) -> float:
    """Return the share of common words among all words of both texts."""
    own, other = set(words(ours)), set(words(theirs))
    return 2 * len(own & other) / (len(own) + len(other)) if own or other else 0.0
