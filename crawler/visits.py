"""From what Scrapy hands around to the one item of a visit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crawler.download import FETCHED, RULES, VISIT, Denied, FetchedResponse
from crawler.fetch.answers import meaning_of
from crawler.items import Fetched, Kind, OriginRules, Outcome, Reason, Visit, Visited


def visited_of(response: FetchedResponse) -> Visited:
    """What became of a visit, by the answer to it."""
    visit: Visit = response.meta[VISIT]
    fetched = response.fetched
    if fetched.reason is Reason.INTERNAL_ERROR:
        return broken(response.meta, fetched.detail)
    meaning = meaning_of(fetched)
    return Visited(
        visit=visit,
        outcome=meaning.outcome,
        reason=meaning.reason,
        detail=fetched.detail,
        fetched=fetched,
        rules=_rules(response.meta),
        retry_after=meaning.retry_after,
    )


def refused(meta: Mapping[str, Any], error: Denied) -> Visited:
    """A visit that a middleware did not let out."""
    return Visited(visit=meta[VISIT], outcome=Outcome.DENIED, reason=error.reason, detail=error.detail)


def broken(meta: Mapping[str, Any], detail: str) -> Visited:
    """A visit over which our own code failed."""
    fetched: Fetched | None = meta.get(FETCHED)
    return Visited(
        visit=meta[VISIT], outcome=Outcome.BROKEN, reason=Reason.INTERNAL_ERROR, detail=detail, fetched=fetched
    )


def _rules(meta: Mapping[str, Any]) -> OriginRules | None:
    visit: Visit = meta[VISIT]
    rules: OriginRules | None = meta[RULES] if visit.kind is Kind.ROBOTS else None
    return rules
