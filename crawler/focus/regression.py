"""Logistic regression on few rows of many words, which starts from given weights instead of zero.

The rows are far fewer than the words, so the equations are solved for a number of each row (the kernel form), by
Newton's method. With the example left out, each row's score is known from the same solution.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crawler.focus.words import WordCounts

Column = NDArray[np.float64]

_CHUNK: Final = 4_096  # words whose values are in memory for all rows at the same time
_MOST_STEPS: Final = 50
_CLOSE: Final = 1e-6
_LEAST_CURVATURE: Final = 1e-6
_LEAST_STEP: Final = 1e-3
_BIAS_VARIANCE: Final = 0.1  # of the constant that is added to all scores, against 1 for a page's words


class Row(NamedTuple):
    """An example: its words, and their values in its vector."""

    words: WordCounts
    values: NDArray[np.float32]


class LearnedWeights(NamedTuple):
    """What a regression adds to the weights that it started from."""

    bias: float
    numbers: NDArray[np.uint32]  # words, in ascending order
    weights: Column
    held_out: Column  # score of each row by what the others teach


def sigmoid(values: Column) -> Column:
    """Return the probabilities of log odds."""
    return 1.0 / (1.0 + np.exp(-np.clip(values, -40.0, 40.0)))


def learn_weights(rows: Sequence[Row], labels: Column, start: Column, ridge: float) -> LearnedWeights:
    """Learn weights of words from rows with a label of 0 or 1 and a score to start from; both labels count the same."""
    matrix = _Matrix(rows)
    kernel = matrix.products() + _BIAS_VARIANCE
    importance = _balanced(labels)

    def loss(shares: Column) -> float:
        """The negative log likelihood, and the penalty for weights far from where they start."""
        product = kernel @ shares
        signs = np.where(labels > 0, -1.0, 1.0)
        return float(importance @ np.logaddexp(0.0, signs * (start + product)) + 0.5 * ridge * (shares @ product))

    shares = np.zeros(len(rows))
    for _ in range(_MOST_STEPS):
        score = start + kernel @ shares
        chance = sigmoid(score)
        curvature = np.maximum(importance * chance * (1.0 - chance), _LEAST_CURVATURE)
        target = score - start + importance * (labels - chance) / curvature
        system = kernel + np.diag(ridge / curvature)
        step = np.linalg.solve(system, target) - shares
        size = _step_size(loss, shares, step)
        shares = shares + size * step
        if float(np.abs(size * step).max()) < _CLOSE:
            break
    held_out = start + target - shares / np.diag(np.linalg.inv(system))
    return LearnedWeights(_BIAS_VARIANCE * float(shares.sum()), *matrix.weights(shares), held_out)


def _step_size(loss: Callable[[Column], float], shares: Column, step: Column) -> float:
    """Return how much of a step of Newton's method to go: half of it, and again half, until it is not for the worse."""
    before, size = loss(shares), 1.0
    while size > _LEAST_STEP and loss(shares + size * step) > before:
        size /= 2
    return size if size > _LEAST_STEP else 0.0


def _balanced(labels: Column) -> Column:
    """Return the importance of each row: 1 in the mean, and the same for both labels together."""
    positive = float(labels.sum())
    negative = len(labels) - positive
    if not positive or not negative:
        return np.ones(len(labels))
    return np.where(labels > 0, 0.5 / positive, 0.5 / negative) * len(labels)


class _Matrix:
    """The values of all rows, by word."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.count = len(rows)
        self.numbers, self._columns = np.unique(
            np.concatenate([row.words.numbers for row in rows]), return_inverse=True
        )
        self._rows = np.repeat(np.arange(self.count), [len(row.values) for row in rows])
        self._values = np.concatenate([row.values for row in rows]).astype(np.float64)

    def products(self) -> Column:
        """Return the scalar product of each row with each other."""
        found = np.zeros((self.count, self.count))
        order = np.argsort(self._columns, kind="stable")
        rows, columns, values = self._rows[order], self._columns[order], self._values[order]
        for first in range(0, len(self.numbers), _CHUNK):
            here = slice(*np.searchsorted(columns, [first, first + _CHUNK]))
            dense = np.zeros((self.count, _CHUNK), np.float32)
            dense[rows[here], columns[here] - first] = values[here]
            found += dense @ dense.T
        return found

    def weights(self, shares: Column) -> tuple[NDArray[np.uint32], Column]:
        """Return the words, and the sum of the rows' values for each by the shares of the rows."""
        values = self._values * shares[self._rows]
        return self.numbers, np.bincount(self._columns, values, len(self.numbers)).astype(np.float64)
