"""The parts of the classifier: the centroid, the regression, frequencies of words, and thresholds."""

from __future__ import annotations

import doctest

import numpy as np
import pytest

from crawler.focus import calibration
from crawler.focus.calibration import cosine_threshold
from crawler.focus.centroid import TopicCentroid, product_with
from crawler.focus.regression import Row, learn_weights, sigmoid
from crawler.focus.word_frequencies import MAX_COUNTED, MAX_KNOWN, WordFrequencies, WordTable, page_vector
from crawler.focus.words import count_words, word_number
from tests.focus.pages import bird_pages, screw_pages

NO_QUERY = WordTable.of({})


def rows_of(pages: list[str]) -> list[Row]:
    idf = WordFrequencies().idf([], [])
    return [Row(words, page_vector(words, idf)) for words in map(count_words, pages)]


@pytest.mark.parametrize("query", [NO_QUERY, WordTable.of({word_number("bird"): 1.0, word_number("unheard"): 2.0})])
@pytest.mark.parametrize("count", [1, 2, 3, 8])
def test_the_cosine_to_the_centroid_of_the_others_is_that_to_a_centroid_made_of_them(
    count: int, query: WordTable
) -> None:
    rows = rows_of(bird_pages(count))
    others = [TopicCentroid([*rows[:at], *rows[at + 1 :]], query).weights() for at in range(count)]
    expected = [product_with(row, weights) for row, weights in zip(rows, others, strict=True)]
    assert TopicCentroid(rows, query).held_out() == pytest.approx(expected, abs=1e-6)


def test_a_regression_separates_and_judges_each_row_by_the_others() -> None:
    rows = [*rows_of(bird_pages(10)), *rows_of(screw_pages(10))]
    labels = np.repeat([1.0, 0.0], 10)
    learned = learn_weights(rows, labels, np.zeros(20), 0.01)
    weights = WordTable(learned.numbers, learned.weights.astype(np.float32), 0.0)
    scores = sigmoid(np.array([learned.bias + product_with(row, weights) for row in rows]))
    assert ((scores > 0.5) == (labels > 0)).all()
    assert ((learned.held_out > 0) == (labels > 0)).all()
    assert (np.abs(learned.held_out) < np.abs(np.log(scores / (1 - scores)))).all()


def test_what_a_row_is_judged_by_the_others_is_about_what_a_regression_without_it_gives() -> None:
    rows = [*rows_of(bird_pages(10)), *rows_of(screw_pages(10))]
    labels = np.repeat([1.0, 0.0], 10)
    held_out = learn_weights(rows, labels, np.zeros(20), 0.1).held_out
    for at in (0, 13):
        rest = learn_weights([*rows[:at], *rows[at + 1 :]], np.delete(labels, at), np.zeros(19), 0.1)
        weights = WordTable(rest.numbers, rest.weights.astype(np.float32), 0.0)
        assert held_out[at] == pytest.approx(rest.bias + product_with(rows[at], weights), rel=0.25)


@pytest.mark.parametrize("start", [-300.0, 300.0])
def test_a_regression_converges_from_a_bad_start(start: float) -> None:
    rows = [*rows_of(bird_pages(10)), *rows_of(screw_pages(10))]
    labels = np.repeat([1.0, 0.0], 10)
    learned = learn_weights(rows, labels, np.full(20, start), 0.01)
    weights = WordTable(learned.numbers, learned.weights.astype(np.float32), 0.0)
    scores = [start + learned.bias + product_with(row, weights) for row in rows]
    assert min(scores[:10]) > max(scores[10:])


def test_frequent_words_have_a_low_idf() -> None:
    frequencies = WordFrequencies()
    short, long, other = (word_number(word) for word in ("the", "railways", "unheard"))
    first = frequencies.idf([], ["the", "railways"])
    assert first.look_up(np.array([short], np.uint32)) < first.look_up(np.array([long], np.uint32)) < first.other
    for _ in range(100):
        frequencies.observe([long])
    later = frequencies.idf([], ["the", "railways"]).look_up(np.array([short, long, other], np.uint32))
    assert later[1] < later[0] < later[2]


def test_counted_words_are_bounded_and_frequent_ones_stay() -> None:
    frequencies = WordFrequencies()
    for page in range(MAX_COUNTED // 500 + 10):
        frequencies.observe([1, 2, *range(10 + page * 500, 10 + page * 500 + 500)])
    assert len(frequencies.counts) <= MAX_COUNTED
    assert frequencies.counts[1] == frequencies.counts[2] == frequencies.pages
    assert len(frequencies.idf([], []).numbers) <= MAX_KNOWN


def test_a_table_without_words_has_one_value_for_all() -> None:
    assert WordTable.of({}, 2.5).look_up(np.array([1, 2], np.uint32)).tolist() == [2.5, 2.5]
    assert WordTable.of({7: 1.0, 3: 2.0}).look_up(np.array([3, 7, 9, 1], np.uint32)).tolist() == [2.0, 1.0, 0.0, 0.0]


def test_a_background_that_is_mostly_on_topic_does_not_raise_the_threshold() -> None:
    mostly_off = np.repeat([0.05, 0.3], [8_000, 2_000])
    mostly_on = np.repeat([0.05, 0.3], [2_000, 8_000])
    all_alike = np.full(10_000, 0.3)
    thresholds = [cosine_threshold(cosines, has_examples=True) for cosines in (mostly_off, mostly_on, all_alike)]
    assert thresholds == pytest.approx([0.17, 0.2, 0.42], abs=0.001)


def test_the_example_is_true() -> None:
    assert doctest.testmod(calibration).failed == 0
