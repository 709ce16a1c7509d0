"""Compare main texts with labelled pages of six sets.

The trees were learned from these very pages, so this only shows that nothing has broken; their quality on other pages
is measured by `make bench-extract`.
"""

from __future__ import annotations

import hashlib
from functools import cache

import turbohtml

from benchmarks.extraction_sets import LEARNED_FROM, MarkedPage, counts, f1_by_set, pages_of
from crawler.parse.main_text.extractors import extract
from crawler.parse.main_text.result import ParsedPage
from tests.conformance.scores import Score, graded

PAGES = 300
# About a point below the scores reached.
FLOORS = {
    "trees": {
        "article_benchmark": 0.95,
        "trafilatura_eval": 0.97,
        "readability": 0.985,
        "wcxb": 0.81,
        "trafilatura_more": 0.955,
        "magic_html": 0.905,
    },
    "weighed": {"article_benchmark": 0.94, "trafilatura_eval": 0.96},
}


def scores() -> list[Score]:
    sizes = {name: sum(page.set == name for page in sample()) for name in LEARNED_FROM}
    return [
        graded(f"main text by {method}: {name}", floor, sizes[name], f1(method)[name])
        for method, floors in FLOORS.items()
        for name, floor in floors.items()
    ]


@cache
def sample() -> list[MarkedPage]:
    """Return a fixed part of the pages: those with the smallest hashes."""
    pages = [page for name in LEARNED_FROM for page in pages_of(name)]
    chosen = sorted(pages, key=lambda page: hashlib.md5(f"{page.set}/{page.name}".encode()).digest())[:PAGES]
    return [page for page in pages if page in chosen]


@cache
def f1(method: str) -> dict[str, float]:
    return f1_by_set(sample(), [counts(page, _text_of(page.html, method)) for page in sample()])


def _text_of(html: str, method: str) -> str:
    return extract(ParsedPage(html=html, document=turbohtml.parse(html, positions=False)), method).text
