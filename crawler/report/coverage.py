"""How many pages are there that nobody has named yet?

Links and lists are two samples of the pages of the sites that have both. If they were taken independently, the share of the
listed pages that links have found as well is the share of all pages that links have found (Chapman's estimator, which is that
of Lincoln and Petersen without its bias for small numbers).
"""

from __future__ import annotations

import math
from typing import Any

from crawler.stores.contract.survey import ListCoverage

LEAST_SAMPLE = 50  # pages in each sample
LEAST_BOTH = 10  # and in both: with fewer, the interval says nothing
_SURE = 1.96  # standard errors, for 95 of 100 cases
ASSUMPTION = (
    "This holds as far as sites list their pages without regard to whether they link to them. Pages that are neither linked nor "
    "listed anywhere are not counted. A page that a list named first, and that only its own host links to, is known as listed "
    "alone, so the estimate is rather too high than too low."
)


def coverage(captured: ListCoverage) -> dict[str, Any]:
    """The estimate with its interval, or why there is none."""
    known, linked, listed, both = captured
    data: dict[str, Any] = {"known": known, "linked": linked, "listed": listed, "both": both}
    why_not = _too_small(captured)
    if why_not:
        return data | {"estimate": None, "low": None, "high": None, "why_not": why_not, "assumption": ASSUMPTION}
    estimate = chapman(linked, listed, both)
    spread = _SURE * math.sqrt(variance(linked, listed, both))
    found = linked + listed - both
    return data | {
        "estimate": round(estimate),
        "low": round(max(estimate - spread, found)),
        "high": round(max(estimate + spread, found)),
        "why_not": "",
        "assumption": ASSUMPTION,
    }


def chapman(first: int, second: int, both: int) -> float:
    """
    >>> chapman(100, 100, 50)
    199.01960784313727
    """
    return (first + 1) * (second + 1) / (both + 1) - 1


def variance(first: int, second: int, both: int) -> float:
    """
    >>> variance(100, 100, 100)
    0.0
    """
    return (first + 1) * (second + 1) * (first - both) * (second - both) / ((both + 1) ** 2 * (both + 2))


def _too_small(captured: ListCoverage) -> str:
    if not captured.listed:
        return "No sitemap or feed has listed a page, so there is nothing to hold the links against."
    if min(captured.linked, captured.listed) < LEAST_SAMPLE or captured.both < LEAST_BOTH:
        return (
            f"The samples are too small for an estimate: {captured.linked} pages were found by links, {captured.listed} in "
            f"lists, {captured.both} in both; it takes {LEAST_SAMPLE} of each, and {LEAST_BOTH} in both."
        )
    return ""
