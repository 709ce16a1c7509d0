"""What a visit carries through Scrapy: keys of `request.meta`, the response, and the refusal of a middleware."""

from __future__ import annotations

from typing import Any

from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response

from crawler.items import Fetched, Link, Reason

VISIT = "visit"  # the Visit that the request stands for; its URL is the one that is requested
FETCHED = "fetched"  # the Fetched, once the handler is done
RULES = "rules"  # the RobotsFile that holds, or that a robots.txt visit brought
TRUST = "trust"  # how far the host can be believed about changes, for each Source
HEADERS = "headers"  # (name, value) pairs to be sent besides the usual
METHOD = "method"  # GET unless it says HEAD
MEANING = "meaning"  # the AnswerMeaning of the Fetched; the HEAD middleware has its own for answers to HEAD
SITEMAPS = "sitemaps"  # Links to the sitemaps that a robots.txt names


class VisitDenied(IgnoreRequest):  # type: ignore[misc, unused-ignore]
    """A middleware refuses a visit, and may name another URL instead."""

    def __init__(self, reason: Reason, detail: str = "", location: Link | None = None) -> None:
        super().__init__(reason.meaning)
        self.reason, self.detail, self.location = reason, detail, location


class FetchedResponse(Response):
    """A response that carries what really came over the wire."""

    def __init__(self, *args: Any, fetched: Fetched, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fetched = fetched
