"""The direction of a topic: the centroid of its positive examples, its query, and pages that complete a query.

Words of one example alone count half, against those that examples share. The query counts as much as all examples
together: its few words have the most weight, which they need, since they are what the user meant.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Final

import numpy as np

from crawler.focus.regression import Column, Row
from crawler.focus.word_frequencies import WordTable

_SINGLE: Final = 0.5  # weight of a word that is in one example alone, against one that is in several
_NO_LENGTH: Final = 1e-6
_MAX_CREDIBLE: Final = 50  # observed pages that complete a topic of which only a query is known
_LEAST_COVERAGE: Final = 0.3  # of the query, from which an observed page is credible
_CREDIBLE_PRIOR: Final = 2.0  # credible pages that the query counts as


class TopicCentroid:
    """The direction of a topic: the centroid of its positive examples, and its query, each of length 1."""

    def __init__(self, rows: Sequence[Row], query: WordTable) -> None:
        self.rows, self.query = rows, query
        self.numbers, columns = np.unique(
            np.concatenate([query.numbers, *(row.words.numbers for row in rows)]), return_inverse=True
        )
        places = np.split(columns[len(query.numbers) :], np.cumsum([len(row.values) for row in rows])[:-1])
        self._places = places if rows else []
        self._query = np.zeros(len(self.numbers))
        self._query[columns[: len(query.numbers)]] = query.values
        self._sum, self._pages = np.zeros(len(self.numbers)), np.zeros(len(self.numbers))
        for row, place in zip(rows, self._places, strict=True):
            self._sum[place] += row.values
            self._pages[place] += 1

    def weights(self) -> WordTable:
        shared = _discounted(self._sum, self._pages, len(self.rows))
        direction = _unit(_unit(shared) + _unit(self._query))
        return WordTable(self.numbers, direction.astype(np.float32), 0.0)

    def held_out(self) -> Column:
        """Return the cosine of each example to the centroid of the others; only the example's own words differ there."""
        others = len(self.rows) - 1
        shared, query = _discounted(self._sum, self._pages, others), _unit(self._query)
        square, product = float(shared @ shared), float(shared @ query)
        found = np.zeros(len(self.rows))
        for at, (row, place) in enumerate(zip(self.rows, self._places, strict=True)):
            own, own_query = shared[place], query[place]
            rest = _discounted(self._sum[place] - row.values, self._pages[place] - 1, others)
            length = sqrt(max(float(square - own @ own + rest @ rest), 0.0))
            if length < _NO_LENGTH:
                found[at] = own_query @ row.values
                continue
            to_query = (product - own @ own_query + rest @ own_query) / length
            both = sqrt(max(float(1.0 + query @ query + 2.0 * to_query), _NO_LENGTH))
            found[at] = (rest @ row.values / length + own_query @ row.values) / both
        return found


def _discounted(sums: Column, pages: Column, rows: int) -> Column:
    """Return sums in which a word of one example alone counts less, if there are several."""
    return np.where(pages > 1, sums, _SINGLE * sums) if rows > 1 else sums


def _unit(values: Column) -> Column:
    length = float(np.sqrt(values @ values))
    return values / length if length else values


def with_credible_pages(centroid: TopicCentroid, observed: Sequence[Row]) -> WordTable:
    """Complete a query by the words of observed pages that contain much of it."""
    weights = centroid.weights()
    squares = WordTable(centroid.query.numbers, centroid.query.values**2, 0.0)
    coverage = np.array([squares.look_up(row.words.numbers).sum() for row in observed]) / max(
        squares.values.sum(), 1e-9
    )
    cosines = np.array([product_with(row, weights) for row in observed])
    credit = np.clip((coverage - _LEAST_COVERAGE) / (1.0 - _LEAST_COVERAGE), 0.0, 1.0) * cosines
    credit = credit / max(float(cosines.max(initial=0.0)), 1e-9)
    best = [at for at in np.argsort(-credit, kind="stable")[:_MAX_CREDIBLE] if credit[at] > 0]
    if not best:
        return weights
    rows = [Row(observed[at].words, (observed[at].values * credit[at]).astype(np.float32)) for at in best]
    pages = TopicCentroid(rows, WordTable(centroid.numbers[:0], centroid.query.values[:0], 0.0)).weights()
    total = float(credit[best].sum())
    both = sum_of(weights, scaled(pages, total / (total + _CREDIBLE_PRIOR)))
    return scaled(both, 1.0 / float(np.sqrt(both.values @ both.values)))


def product_with(row: Row, weights: WordTable) -> float:
    return float(row.values @ weights.look_up(row.words.numbers))


def scaled(table: WordTable, factor: float) -> WordTable:
    return WordTable(table.numbers, (table.values * factor).astype(np.float32), 0.0)


def sum_of(one: WordTable, other: WordTable) -> WordTable:
    numbers = np.union1d(one.numbers, other.numbers)
    return WordTable(numbers, one.look_up(numbers) + other.look_up(numbers), 0.0)
