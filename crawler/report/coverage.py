"""Estimate how many pages of the crawled sites were not discovered (capture-recapture).

Links and lists (sitemaps, feeds) are two samples of the pages of the sites that have both. If they are independent, the
share of the listed pages that links have found as well is the share of all pages that links have found (Chapman's
estimator, which is that of Lincoln and Petersen without its bias for small numbers).
"""

from __future__ import annotations

import math
from typing import Any

from crawler.stores.contract.survey import ListCoverage

LEAST_SAMPLE = 50  # pages that each sample needs
LEAST_BOTH = 10  # pages that both need in common: with fewer, the interval says nothing
_SURE = 1.96  # standard errors on each side, for 95 % confidence
ASSUMPTION = (
    "The estimate assumes that whether a site lists a page does not depend on whether it links to it. Pages that are "
    "neither linked nor listed anywhere are not counted. A page that a list named first, and that only its own host "
    "links to, counts as listed only, so the estimate tends to be too high rather than too low."
)


def coverage(captured: ListCoverage) -> dict[str, Any]:
    """Return the estimate with its 95 % interval, or why there is none."""
    known, linked, listed, both = captured
    data: dict[str, Any] = {"known": known, "linked": linked, "listed": listed, "both": both}
    why_not = _too_small(captured)
    if why_not:
        return data | {"estimate": None, "low": None, "high": None, "why_not": why_not, "assumption": ASSUMPTION}
    estimate = chapman(linked, listed, both)
    spread = _SURE * math.sqrt(variance(linked, listed, both))
    discovered = linked + listed - both
    return data | {
        "estimate": round(estimate),
        "low": round(max(estimate - spread, discovered)),
        "high": round(max(estimate + spread, discovered)),
        "why_not": "",
        "assumption": ASSUMPTION,
    }


def chapman(first: int, second: int, both: int) -> float:
    """Estimate the size of a population from two samples and their overlap.

    >>> chapman(100, 100, 50)
    199.01960784313727
    """
    return (first + 1) * (second + 1) / (both + 1) - 1


def variance(first: int, second: int, both: int) -> float:
    """Return the variance of Chapman's estimate.

    >>> variance(100, 100, 100)
    0.0
    """
    return (first + 1) * (second + 1) * (first - both) * (second - both) / ((both + 1) ** 2 * (both + 2))


def _too_small(captured: ListCoverage) -> str:
    if not captured.listed:
        return "No sitemap or feed has listed a page, so there is no second sample to compare the links with."
    if min(captured.linked, captured.listed) < LEAST_SAMPLE or captured.both < LEAST_BOTH:
        return (
            f"The samples are too small for an estimate: {captured.linked} pages were found by links, "
            f"{captured.listed} in lists, {captured.both} in both; at least {LEAST_SAMPLE} of each and {LEAST_BOTH} in "
            "both are needed."
        )
    return ""
