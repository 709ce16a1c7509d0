"""Calibration: from where on is a page more likely on topic than not?

Measured on twenty topics of two webs, with the pages of crawls by which the thresholds are set: a page is on topic from
about four standard deviations above the mean cosine of the pages that are not.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from crawler.focus.regression import Column

_ABOVE_BACKGROUND: Final = 0.12  # cosine by which a page on topic is above pages that are not
# The threshold of a topic with examples and of a query alone, while nothing was observed, and while little was: in both
# cases frequencies of words are not known well, and what is fetched first is on topic more often than later.
_FIRST_THRESHOLD: Final = {True: 0.27, False: 0.13}
_EARLY_THRESHOLD: Final = {True: 0.22, False: 0.13}
_EARLY_PAGES: Final = 10  # observed pages that the latter counts as; F1 after 8 to 16 pages: .60 -> .64
_MOST_BACKGROUND: Final = 0.08  # a higher cosine is that of pages on topic, unless nearly all pages have it
_OFF_TOPIC_ODDS: Final = -1.0  # log odds of a page of a crawl to be on topic: a quarter of them is


def cosine_threshold(background: Column, *, has_examples: bool) -> float:
    """Return the cosine from which a page is on topic, by those of observed pages, most of which are not.

    >>> cosine_threshold(np.zeros(0), has_examples=True), cosine_threshold(np.zeros(0), has_examples=False)
    (0.27, 0.13)
    """
    count = len(background)
    if not count:
        return _FIRST_THRESHOLD[has_examples]
    least, usual = np.quantile(background, [0.05, 0.25])
    found = _ABOVE_BACKGROUND + min(float(usual), max(_MOST_BACKGROUND, float(least)))
    return (count * found + _EARLY_PAGES * _EARLY_THRESHOLD[has_examples]) / (count + _EARLY_PAGES)


def prior_log_odds(confidence: float) -> float:
    """Return what is added to log odds that were learned from as many examples on topic as off, by their weight."""
    return confidence * _OFF_TOPIC_ODDS
