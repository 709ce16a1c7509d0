"""Extracted main texts agree with labelled pages."""

import pytest

from benchmarks.extraction_sets import Counts, MarkedPage, counts, quality
from tests.conformance.extraction import f1, scores
from tests.conftest import SHARED

SCORES = scores() if SHARED.is_dir() else []


@pytest.mark.needs_shared
@pytest.mark.parametrize("found", SCORES, ids=lambda found: found.name)
def test_main_texts_agree_with_labelled_pages(found):
    assert found.holds, f"{found.agreed / found.cases:.3f}"


@pytest.mark.needs_shared
@pytest.mark.parametrize(
    ("method", "floor"), [("slope", 0.85), ("windows", 0.75), ("filters", 0.70), ("turbohtml", 0.87)]
)
def test_other_methods_reach_their_former_quality(method, floor):
    assert f1("article_benchmark", method) >= floor


def marked(**facts):
    return MarkedPage(set="x", name="x", site="x", html="", **facts)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a b c d e", (2, 0, 0)),
        ("A b c d e", (1, 1, 1)),
        ("a b c d e f", (2, 1, 0)),
        ("", (0, 1, 2)),
    ],
)
def test_whole_texts_are_compared_by_shingles_of_four_words(text, expected):
    assert counts(marked(text="a b, c d. e"), text) == expected


def test_labelled_segments_are_searched_in_the_text():
    page = marked(wanted=("one two", "three"), unwanted=("menu",))
    assert counts(page, "x one\n two menu") == Counts(1, 1, 1)


def test_precision_and_recall_are_averaged_over_pages_or_computed_over_all():
    pages = [Counts(8, 2, 0), Counts(0, 0, 10)]
    assert quality("article_benchmark", pages)[:2] == (0.4, 0.5)
    assert quality("trafilatura_eval", pages)[:2] == (0.8, 8 / 18)
