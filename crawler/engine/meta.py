"""What a visit carries through Scrapy: keys of `request.meta`, and the refusal by a middleware."""

from __future__ import annotations

from typing import Any

from scrapy.exceptions import IgnoreRequest

from crawler.fetch.answers import AnswerMeaning, meaning_of
from crawler.items import Fetched, Link, Reason

VISIT = "visit"  # the Visit that the request stands for; its URL is the one that is requested
FETCHED = "fetched"  # the Fetched, once the handler is done
RULES = "rules"  # the RobotsFile of the origin, or the one that a robots.txt visit fetched
ROBOTS = "robots"  # the RobotsRules that a robots.txt visit fetched, if there are any
TRUST = "trust"  # how reliable the host's statements about changes are, for each Source
HEADERS = "headers"  # (name, value) pairs to be sent besides the usual ones
METHOD = "method"  # GET, if it is not HEAD
MEANING = "meaning"  # the AnswerMeaning of the Fetched; the HEAD middleware has its own for answers to HEAD
SITEMAPS = "sitemaps"  # Links to the sitemaps that a robots.txt names
IS_ANSWERED = "is_answered"  # the answer has passed all downloader middlewares
# Scrapy's own middlewares, which a user may name, leave retries, redirects and bad statuses to the frontier.
LEFT_TO_THE_FRONTIER = {"dont_retry": True, "dont_redirect": True, "handle_httpstatus_all": True}


def meaning_in(meta: dict[str, Any], fetched: Fetched) -> AnswerMeaning:
    """Return the meaning of a visit's answer: found once, whether a handler or a middleware has answered."""
    if MEANING not in meta:
        meta[MEANING] = meaning_of(fetched)
    meaning: AnswerMeaning = meta[MEANING]
    return meaning


class VisitDenied(IgnoreRequest):  # type: ignore[misc, unused-ignore]
    """Raised by a middleware that refuses a visit; it may name another URL to be visited instead."""

    def __init__(self, reason: Reason, detail: str = "", location: Link | None = None) -> None:
        super().__init__(reason.meaning)
        self.reason, self.detail, self.location = reason, detail, location
