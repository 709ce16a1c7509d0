"""What a crawl has learned about links: weights, yields, and the relevance that is to be expected.

Each worker keeps its own, and shares it with the others: counts of yields are added, of weights the mean is taken.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Sequence
from typing import Final, Self

import numpy as np

from crawler.focus.evidence import Evidences, keys_of
from crawler.focus.link_facts import FACTS, LEAST_WEIGHTS, PRIOR_MEAN, PRIOR_VARIANCE, YIELD_REGIONS, Matrix, facts_of
from crawler.focus.link_weights import LinkWeights
from crawler.focus.promises import HostPromises
from crawler.focus.yields import ExpectedRelevance, YieldTable

_FORMAT: Final = 2
# Format, number of facts, bytes of the weights and of the promises, expected relevance
_HEAD: Final = struct.Struct("<HHIIdd")


class LinkLearner:
    """Predicts the relevance of the pages that links lead to, and learns from those that were fetched."""

    def __init__(self, ignored: Collection[str] = ()) -> None:
        is_used = np.array([name not in ignored for name in FACTS])
        self.weights = LinkWeights(
            PRIOR_MEAN * is_used, PRIOR_VARIANCE * is_used, np.where(is_used, LEAST_WEIGHTS, 0.0)
        )
        self._yields = YieldTable(YIELD_REGIONS)
        self._expected = ExpectedRelevance()
        self._promises = HostPromises()

    def scores(self, evidences: Evidences) -> Matrix:
        """Return how relevant the targets of links probably are: what they promise, as far as their hosts keep it."""
        shares = self._promises.kept_shares(evidences["sections"][:, 0])
        return self._promised(self.facts(evidences)) * shares

    def _promised(self, facts: Matrix) -> Matrix:
        sums = facts @ self.weights.mean
        promised: Matrix = 1 / (1 + np.exp(-np.minimum(np.maximum(sums, -30), 30)))
        return promised

    def facts(self, evidences: Evidences) -> Matrix:
        """Return the facts about links, a row each."""
        return facts_of(evidences, self._yields, self._expected.share)

    @property
    def mean_reward(self) -> float:
        """The mean relevance of the last few hundred pages."""
        return self._expected.share

    def learn(self, evidences: Evidences, rewards: Sequence[float]) -> Matrix:
        """Learn the relevance of fetched pages from their evidence; return what was promised of each."""
        facts = self.facts(evidences)
        promised = self._promised(facts)
        self.count(evidences, rewards, promised)
        for row, reward in zip(facts, rewards, strict=True):
            self.weights.learn(row, reward)
        return promised

    def count(self, evidences: Evidences, rewards: Sequence[float], promised: Matrix) -> None:
        """Count the relevance of fetched pages and what was promised of them, without a lesson for the weights."""
        hosts = evidences["sections"][:, 0].tolist()
        for keys, host, reward, promise in zip(keys_of(evidences), hosts, rewards, promised.tolist(), strict=True):
            self._yields.add(keys, reward)
            self._expected.add(reward)
            if host:
                self._promises.add(host, promise, reward)

    def joined_with(self, others: Sequence[Self]) -> LinkLearner:
        """Return what all workers know together; the weights of this one become the mean of all."""
        together = LinkLearner()
        self.weights.average([other.weights for other in others])
        together.weights = self.weights
        for one in (self, *others):
            together._yields.merge(one._yields)
        together._expected.join([one._expected for one in (self, *others)])
        together._promises.merge([one._promises for one in (self, *others)])
        return together

    def to_bytes(self) -> bytes:
        weights, promises = self.weights.to_bytes(), self._promises.to_bytes()
        sizes = len(FACTS), len(weights), len(promises)
        head = _HEAD.pack(_FORMAT, *sizes, self._expected.pages, self._expected.total)
        return head + weights + promises + self._yields.to_bytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Read what `to_bytes` wrote; raises ValueError if it is damaged or of another format."""
        if len(data) < _HEAD.size:
            raise ValueError("too short for what was learned about links")
        number, facts, size, of_promises, pages, total = _HEAD.unpack_from(data)
        if (number, facts) != (_FORMAT, len(FACTS)) or not 0 <= total <= pages < float("inf") or not pages:
            raise ValueError("what was learned about links is damaged, or of another format")
        learner, end = cls(), _HEAD.size + size
        learner.weights = LinkWeights.from_bytes(data[_HEAD.size : end], facts, LEAST_WEIGHTS)
        learner._promises = HostPromises.from_bytes(data[end : end + of_promises])
        learner._yields.load(data[end + of_promises :])
        learner._expected.pages, learner._expected.total = pages, total
        return learner
