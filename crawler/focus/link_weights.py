"""Weights of the facts about a link: a logistic regression that is learned online, a page at a time.

It is a Bayesian one with a normal distribution over the weights: it begins with prior weights that rank links well
before anything is learned, and each fetched page moves them by as much as it is surprising, in the directions of which
least is known (Laplace approximation, as in Spiegelhalter and Lauritzen 1990). There is no learning rate to choose.
"""

from __future__ import annotations

import math
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]

_LEAST_VARIANCE: Final = 0.02  # of a reward: a page that was judged wrongly must not move everything


class LinkWeights:
    """The weights, how certain they are, and how many pages they were learned from."""

    def __init__(self, mean: Vector, variance: Vector, least: Vector | None = None) -> None:
        """Begin with these weights; none falls below `least`."""
        self._least = least
        self.mean = np.array(mean, np.float64)
        self._covariance = np.diag(np.array(variance, np.float64))
        self.pages = 0

    def learn(self, facts: Vector, reward: float) -> None:
        """Move the weights towards predicting this reward for these facts."""
        expected = 1 / (1 + math.exp(-min(max(float(facts @ self.mean), -30.0), 30.0)))
        variance = max(expected * (1 - expected), _LEAST_VARIANCE)
        direction = self._covariance @ facts
        spread = float(facts @ direction)
        self._covariance -= np.outer(direction, direction / (1 / variance + spread))
        self.mean += direction * ((reward - expected) / (1 + variance * spread))
        if self._least is not None:
            np.maximum(self.mean, self._least, out=self.mean)
        self.pages += 1

    def average(self, others: list[Self]) -> None:
        """Take the mean of several workers' weights; those count more who have learned from more pages."""
        workers = [self, *others]
        shares = np.array([worker.pages for worker in workers], np.float64)
        if shares.sum() > 0:
            self.mean = shares @ np.array([worker.mean for worker in workers]) / shares.sum()

    def to_bytes(self) -> bytes:
        numbers = [np.array([self.pages], np.float64), self.mean, self._covariance.ravel()]
        return np.concatenate(numbers).astype("<f8").tobytes()

    @classmethod
    def from_bytes(cls, data: bytes, facts: int, least: Vector | None = None) -> Self:
        """Read what `to_bytes` wrote for this number of facts; raises ValueError for anything else."""
        numbers = np.frombuffer(data, "<f8").astype(np.float64)
        if len(numbers) != 1 + facts + facts * facts or not np.isfinite(numbers).all():
            raise ValueError("not the weights of a link scorer")
        weights = cls(numbers[1 : 1 + facts], np.ones(facts), least)
        weights._covariance = numbers[1 + facts :].reshape(facts, facts).copy()
        weights.pages = int(numbers[0])
        return weights
