"""Compare main texts with the labelled pages of three projects' tests."""

from __future__ import annotations

import turbohtml

from benchmarks.extraction_sets import counts, pages_of, quality
from crawler.parse.main_text.extractors import DEFAULT, extract
from crawler.parse.main_text.result import ParsedPage
from tests.conformance.scores import Score, graded

# About a point below the scores reached. The weights are trained on these very pages: these floors detect regressions;
# the quality on other pages is measured by `python -m benchmarks learn-main-text --folds 5`.
FLOORS = {"article_benchmark": 0.95, "trafilatura_eval": 0.953, "readability": 0.952}


def scores() -> list[Score]:
    return [graded(f"main text: {name}", floor, len(pages_of(name)), f1(name)) for name, floor in FLOORS.items()]


def f1(name: str, method: str = DEFAULT) -> float:
    return quality(name, [counts(page, text_of(page.html, method)) for page in pages_of(name)]).f1


def text_of(html: str, method: str) -> str:
    return extract(ParsedPage(html=html, document=turbohtml.parse(html, positions=False)), method).text
