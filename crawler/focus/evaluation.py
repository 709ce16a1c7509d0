"""Measure how well scores agree with labels: precision and recall by threshold, and average precision."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

THRESHOLDS: Final = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


class ThresholdQuality(NamedTuple):
    """Precision and recall of the pages that score at least a threshold."""

    threshold: float
    kept: int  # pages that score so much
    precision: float
    recall: float

    @property
    def f1(self) -> float:
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


def threshold_quality(scores: Sequence[float], labels: Sequence[bool], threshold: float) -> ThresholdQuality:
    """Compare the pages from a threshold on with the labels.

    >>> threshold_quality([0.9, 0.6, 0.2], [True, False, True], 0.5)
    ThresholdQuality(threshold=0.5, kept=2, precision=0.5, recall=0.5)
    """
    kept = [label for score, label in zip(scores, labels, strict=True) if score >= threshold]
    found = sum(kept)
    return ThresholdQuality(
        threshold, len(kept), found / len(kept) if kept else 0.0, found / sum(labels) if any(labels) else 0.0
    )


def average_precision(scores: Sequence[float], labels: Sequence[bool]) -> float:
    """Return the mean, over all pages on topic, of the precision down to them in the order of the scores.

    >>> average_precision([0.9, 0.8, 0.6], [True, False, True])
    0.8333333333333333
    """
    ranked = [label for _, label in sorted(zip(scores, labels, strict=True), key=lambda pair: -pair[0])]
    found, total = 0, 0.0
    for place, label in enumerate(ranked, start=1):
        found += label
        total += label * found / place
    return total / found if found else 0.0
