"""The facts from which the score of a link is computed, as a matrix: a row a link, a column a fact."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from crawler.focus.evidence import LINK_WORDS, SECTIONS, SOURCES, Evidences, keys_of
from crawler.focus.yields import Values, YieldTable, shrunk_yield, yield_log_odds

Matrix = NDArray[np.float64]

_MOST_QUERY_WORDS: Final = np.uint8(2)  # of a link that count: more say the same

# The prior weight of each fact. They rank links before anything is learned.
PRIORS: Final[Mapping[str, float]] = {
    "bias": -2.0,
    "anchor": 1.0,
    "query in anchor": 1.5,
    "query in URL": 1.0,
    "URL": 0.5,
    "around": 0.5,
    "best page": 2.0,
    "all pages": 0.5,
    "links": 0.2,
    "sources": 0.8,
    "section": 0.5,
    "host": 0.2,
    "words": 0.5,
    "navigation": -0.3,
}
FACTS: Final = tuple(PRIORS)
PRIOR_MEAN: Final = np.array(list(PRIORS.values()))
PRIOR_VARIANCE: Final = np.array([4.0 if name == "bias" else 0.25 for name in FACTS])
# A page, section or host with a better yield never counts less, whatever chance says: so a trap sinks.
_YIELDS: Final = frozenset({"sources", "section", "host", "words"})
LEAST_WEIGHTS: Final = np.array([0.1 if name in _YIELDS else -np.inf for name in FACTS])

# Places for sections and hosts, for pages that link, and for words: 786 kB
YIELD_REGIONS: Final = ((SECTIONS, 1 << 14), (SOURCES, 1 << 14), (LINK_WORDS, 1 << 15))


@np.errstate(invalid="ignore", over="ignore")  # evidence may be damaged
def facts_of(evidences: Evidences, yields: YieldTable, expected: float) -> Matrix:
    """Return the facts of links, a row each; `expected` is the relevance of a page of which nothing is known."""
    links = np.maximum(evidences["links"], np.uint16(1)).astype(np.float64)
    facts = np.empty((len(evidences), len(FACTS)))
    facts[:, 0] = 1
    facts[:, 1] = evidences["anchor"]
    facts[:, 2] = np.minimum(evidences["query_in_anchor"], _MOST_QUERY_WORDS)
    facts[:, 3] = np.minimum(evidences["query_in_url"], _MOST_QUERY_WORDS)
    facts[:, 4] = evidences["url"]
    facts[:, 5] = evidences["around"]
    facts[:, 6] = evidences["best"]
    facts[:, 7] = evidences["total"] / links
    facts[:, 8] = np.log2(links)
    keys = keys_of(evidences)
    pages, relevance = yields.counts(keys)
    usual = math.log(expected / (1 - expected))
    found = yield_log_odds(pages, relevance, np.float32(expected)) - np.float32(usual)  # 0 for what is not known
    sums, numbers = found @ _KINDS, (keys != 0) @ _KINDS
    facts[:, 9] = sums[:, 0] / np.maximum(numbers[:, 0], 1)
    facts[:, 10] = _section_log_odds(pages, relevance, expected) - usual
    facts[:, 11] = found[:, 0]
    facts[:, 12] = sums[:, 1] / np.sqrt(np.maximum(numbers[:, 1], 1))  # each of many words says less
    facts[:, 13] = evidences["position"] > 0
    if not np.isfinite(facts.sum()):
        np.nan_to_num(facts, copy=False, posinf=0.0, neginf=0.0)
    return facts


def _section_log_odds(pages: Values, relevance: Values, expected: float) -> Values:
    """Return the yield of the nearest section; each is shrunk towards the one around it, the first to the host."""
    found: Any = np.float32(expected)
    for level in range(SECTIONS - 1):
        found = shrunk_yield(pages[:, level], relevance[:, level], found)
    return yield_log_odds(pages[:, SECTIONS - 1], relevance[:, SECTIONS - 1], found)


_KINDS: Final = np.repeat(np.array([[0, 0], [1, 0], [0, 1]], np.float32), [SECTIONS, SOURCES, LINK_WORDS], axis=0)
