"""What people have marked as the main text of pages, in three projects' tests of extractors."""

from __future__ import annotations

import turbohtml

from benchmarks.extraction_sets import counts, pages_of, quality
from crawler.parse.main_text.extractors import DEFAULT, extract
from crawler.parse.main_text.result import ParsedPage
from tests.conformance.scores import Score, graded

# About a point below what is reached. The weights are learned from these very pages: these floors tell that nothing broke,
# not how good it is on others (`python -m benchmarks learn-main-text --folds 5` does).
FLOORS = {"article_benchmark": 0.95, "trafilatura_eval": 0.953, "readability": 0.952}


def scores() -> list[Score]:
    return [graded(f"main text: {name}", floor, len(pages_of(name)), f1(name)) for name, floor in FLOORS.items()]


def f1(name: str, method: str = DEFAULT) -> float:
    return quality(name, [counts(page, text_of(page.html, method)) for page in pages_of(name)]).f1


def text_of(html: str, method: str) -> str:
    return extract(ParsedPage(html=html, document=turbohtml.parse(html, positions=False)), method).text
