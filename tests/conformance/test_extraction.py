"""Extracted main texts agree with labelled pages."""

import pytest

from benchmarks.extraction_sets import Counts, MarkedPage, counts, f1_by_set
from tests.conformance.extraction import f1, scores
from tests.conftest import SHARED

SCORES = scores() if SHARED.is_dir() else []


@pytest.mark.needs_shared
@pytest.mark.parametrize("found", SCORES, ids=lambda found: found.name)
def test_main_texts_agree_with_labelled_pages(found):
    assert found.holds, f"{found.agreed / found.cases:.3f}"


@pytest.mark.needs_shared
@pytest.mark.parametrize(("method", "floor"), [("slope", 0.8), ("windows", 0.7), ("filters", 0.7), ("turbohtml", 0.8)])
def test_other_methods_reach_their_former_quality(method, floor):
    assert f1(method)["article_benchmark"] >= floor


def marked(**facts):
    return MarkedPage(**{"set": "readability", "name": "x", "kind": "", "domain": "x", "html": ""} | facts)


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


def test_f1_is_averaged_over_pages_or_computed_over_all_as_each_set_s_authors_do():
    found = [Counts(8, 2, 0), Counts(0, 0, 10)]
    pieces = {"wanted": ("x",)}
    cases = {"readability": ({}, 4 / 9), "article_benchmark": ({}, 4 / 9), "trafilatura_eval": (pieces, 4 / 7)}
    for name, (facts, expected) in cases.items():
        pages = [marked(set=name, **facts)] * 2
        assert f1_by_set(pages, found)[name] == pytest.approx(expected)


def test_kinds_of_pages_count_the_same_however_many_there_are():
    pages = [marked(set="wcxb", kind=kind) for kind in ("article", "article", "article", "forum")]
    found = f1_by_set(pages, [Counts(1, 0, 0)] * 3 + [Counts(0, 1, 1)])
    assert found == {"wcxb": 0.5, "  article": 1.0, "  forum": 0.0}
