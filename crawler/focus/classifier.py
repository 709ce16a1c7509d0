"""The classifier of a topic: a logistic regression that starts from the cosine to the examples and the query.

The start counts as ten examples of each kind: with fewer it decides, and with many it is forgotten. So one model serves
from a query alone to hundreds of examples, and reviewed pages improve it one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crawler.focus.calibration import cosine_threshold, prior_log_odds
from crawler.focus.centroid import TopicCentroid, product_with, scaled, sum_of, with_credible_pages
from crawler.focus.regression import Column, LearnedWeights, Row, learn_weights, sigmoid
from crawler.focus.word_frequencies import WordFrequencies, WordTable, page_vector
from crawler.focus.words import WordCounts, count_words, word_number, word_numbers, words_of_text

MAX_WEIGHTS: Final = 1 << 14  # words with a weight, the strongest ones
_STEEPNESS: Final = 30.0  # log odds by which the score rises from a cosine of 0 to one of 1
_START_EXAMPLES: Final = 10.0  # examples of each kind that the start counts as
_RIDGE: Final = 0.01
_MAX_ROWS: Final = 300  # examples of a kind from which the regression learns: 600 in all take .5 s


class TopicExamples(NamedTuple):
    """What the user has said of a topic: counted words of pages on it and off it, and the words of the query."""

    positive: Sequence[WordCounts]
    negative: Sequence[WordCounts]
    query: Sequence[str]
    names: Sequence[str]  # words of the examples by name


class TopicModel(NamedTuple):
    """What is needed to score a page."""

    idf: WordTable
    weights: WordTable
    bias: float

    def log_odds(self, words: WordCounts) -> float:
        return self.bias + float(page_vector(words, self.idf) @ self.weights.look_up(words.numbers))

    def score(self, words: WordCounts) -> float:
        return float(sigmoid(np.array(self.log_odds(words))))

    def explain(self, text: str) -> list[tuple[str, float]]:
        """Return the words of a text, each with what it adds to the log odds, strongest first."""
        words = count_words(text)
        added = page_vector(words, self.idf) * self.weights.look_up(words.numbers)
        by_number = dict(zip(words.numbers.tolist(), added.tolist(), strict=True))
        found = {word: by_number.get(word_number(word), 0.0) for word in words_of_text(text)}
        strongest = sorted(found.items(), key=lambda pair: (-abs(pair[1]), pair[0]))
        return [(word, value) for word, value in strongest if value]

    def word_weights(self) -> dict[int, float]:
        """Return the weights of single words, the strongest of which is 1 or -1; what is on most pages has little."""
        values = self.weights.values * self.idf.look_up(self.weights.numbers) ** 2
        values = values / max(float(np.abs(values).max(initial=0.0)), 1e-9)
        return dict(zip(self.weights.numbers.tolist(), values.tolist(), strict=True))


class FittedTopic(NamedTuple):
    """A model, and the log odds of each example by what the others teach: positive ones first."""

    model: TopicModel
    held_out: Column

    def held_out_scores(self) -> list[float]:
        return [float(score) for score in sigmoid(self.held_out)]


def fit_topic(examples: TopicExamples, frequencies: WordFrequencies, sample: Sequence[WordCounts]) -> FittedTopic:
    """Learn the model of a topic from examples and query, and from unlabelled pages."""
    idf = frequencies.idf([examples.positive, examples.negative], examples.names)
    positive, negative = (_rows(kind, idf) for kind in (examples.positive, examples.negative))
    given = {words.to_bytes() for kind in (examples.positive, examples.negative) for words in kind}
    observed = _rows([words for words in sample if words.to_bytes() not in given], idf)
    if not positive and not examples.query:
        return _unlike_topic(negative, observed, idf)
    query = _query_table(examples.query, idf)
    centroid = TopicCentroid(positive, query)
    cosines = centroid.weights()
    if not positive:
        cosines = with_credible_pages(centroid, observed)
    background = np.array([product_with(row, cosines) for row in observed])
    threshold = cosine_threshold(background, has_examples=bool(positive))
    confidence = _confidence(min(len(positive), len(negative)))
    steepness = _STEEPNESS * (1.0 - confidence)
    held_out = np.concatenate([centroid.held_out(), [product_with(row, cosines) for row in negative]])
    start = steepness * (held_out - threshold)
    bias, weights = -steepness * threshold, scaled(cosines, steepness)
    model = TopicModel(idf, weights, bias)
    if negative:
        model, start = _regressed(model, positive, negative, start, observed, confidence)
    return FittedTopic(model._replace(weights=_strongest(model.weights)), start)


def _unlike_topic(negative: Sequence[Row], observed: Sequence[Row], idf: WordTable) -> FittedTopic:
    """Return the model of all that is unlike the given pages, if nothing else is known of a topic."""
    centroid = TopicCentroid(negative, _query_table((), idf))
    cosines = centroid.weights()
    background = np.array([product_with(row, cosines) for row in observed])
    threshold = cosine_threshold(background, has_examples=True)
    model = TopicModel(idf, _strongest(scaled(cosines, -_STEEPNESS)), _STEEPNESS * threshold)
    return FittedTopic(model, _STEEPNESS * (threshold - centroid.held_out()))


def _regressed(
    model: TopicModel,
    positive: Sequence[Row],
    negative: Sequence[Row],
    start: Column,
    observed: Sequence[Row],
    confidence: float,
) -> tuple[TopicModel, Column]:
    """Learn by regression from the examples, given their log odds by a model; return the new model and log odds."""
    rows = [*positive, *negative]
    used = np.array([*_spread(0, len(positive)), *_spread(len(positive), len(rows))], np.intp)
    labels = (used < len(positive)).astype(np.float64)
    learned = learn_weights([rows[at] for at in used], labels, start[used], _RIDGE)
    new = _learned_model(model, learned, observed, confidence)
    held_out = np.array([new.bias + product_with(row, new.weights) for row in rows])
    held_out[used] = learned.held_out + (new.bias - model.bias - learned.bias)
    return new, held_out


def _spread(first: int, end: int) -> NDArray[np.intp]:
    """Return places from `first` to before `end`, evenly, as many as the regression learns from."""
    return np.unique(np.linspace(first, end - 1, min(end - first, _MAX_ROWS)).astype(np.intp))


def _confidence(examples: int) -> float:
    """Return the share of the model that is learned from so many examples of each kind, and not where it starts."""
    return examples / (_START_EXAMPLES + examples)


def _learned_model(
    start: TopicModel, learned: LearnedWeights, observed: Sequence[Row], confidence: float
) -> TopicModel:
    """Add to a model what was learned from examples.

    Few examples move the scores of all pages up or down, the more so if they are doubtful pages that were reviewed; so
    then the score of the usual observed page stays where it was. F1 after ten reviewed pages: .53 -> .64.
    """
    weights = sum_of(start.weights, WordTable(learned.numbers, learned.weights.astype(np.float32), 0.0))
    bias = start.bias + learned.bias + prior_log_odds(confidence)
    if observed:
        before, after = (
            np.median([product_with(row, table) for row in observed]) for table in (start.weights, weights)
        )
        bias -= (1.0 - confidence) ** 2 * float(after - before + learned.bias)
    return TopicModel(start.idf, weights, bias)


def _rows(pages: Sequence[WordCounts], idf: WordTable) -> list[Row]:
    return [Row(words, page_vector(words, idf)) for words in pages]


def _query_table(query: Sequence[str], idf: WordTable) -> WordTable:
    numbers = np.unique(word_numbers(query))
    return WordTable(numbers, idf.look_up(numbers), 0.0)


def _strongest(table: WordTable) -> WordTable:
    if len(table.numbers) <= MAX_WEIGHTS:
        return table
    kept = np.sort(np.argsort(-np.abs(table.values), kind="stable")[:MAX_WEIGHTS])
    return WordTable(table.numbers[kept], table.values[kept], 0.0)
