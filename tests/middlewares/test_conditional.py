"""Conditional requests are sent for documents that we have, if the host's validators are reliable."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.spiders import Spider
from scrapy.statscollectors import MemoryStatsCollector

from crawler.engine.meta import HEADERS, TRUST, VISIT
from crawler.frontier.trust import Source, Trust
from crawler.items import NO_VALIDATORS, Kind, Validators
from crawler.middlewares.conditional import ConditionalMiddleware
from tests.samples import NOW, visit_to

URL = "http://a.test/page"
DATE = "Wed, 21 Oct 2015 07:28:00 GMT"
FULL_EVERY = 10
BOTH = [("If-None-Match", '"a"'), ("If-Modified-Since", DATE)]


def headers_for(
    known: Validators, trust: dict[Source, Trust] | None = None, full_every: int = FULL_EVERY, **facts: Any
) -> Any:
    """Return the headers that are sent, and how often that was counted."""
    stats = MemoryStatsCollector(Crawler(Spider))
    visit = visit_to(URL, validators=known, visited=NOW, **facts)
    request = Request(URL, meta={VISIT: visit, TRUST: trust or {}})
    assert ConditionalMiddleware(stats, full_every).process_request(request) is None
    headers = request.meta.get(HEADERS, [])
    assert stats.get_value("conditional/sent", 0) == bool(headers)
    return headers


@pytest.mark.parametrize(
    ("known", "headers"),
    [
        (NO_VALIDATORS, []),
        (Validators(length=5), []),
        (Validators('"a"', length=5), BOTH[:1]),
        (Validators("", DATE, length=5), BOTH[1:]),
        (Validators('"a"', DATE, length=5), BOTH),
        (Validators('"a"', DATE, length=0), BOTH),  # an empty document counts too
        (Validators('"a"', DATE), []),  # we have no document
        (Validators('W/"a"', length=5), [("If-None-Match", 'W/"a"')]),  # as the server wrote it
    ],
)
def test_validators_are_sent_for_documents_that_we_have(known: Validators, headers: list[tuple[str, str]]) -> None:
    assert headers_for(known) == headers


@pytest.mark.parametrize(
    ("reused", "full_every", "is_sent"),
    [(0, 10, True), (8, 10, True), (9, 10, False), (30, 10, False), (0, 2, True), (1, 2, False), (0, 1, False)],
)
def test_one_of_so_many_visits_fetches_the_document_in_full(reused: int, full_every: int, is_sent: bool) -> None:
    assert bool(headers_for(Validators('"a"', DATE, 5, reused), full_every=full_every)) is is_sent


@pytest.mark.parametrize(
    ("trust", "is_sent"),
    [
        ({}, True),
        ({Source.VALIDATORS: Trust(same_wrong=1)}, True),
        ({Source.VALIDATORS: Trust(same_wrong=2)}, False),  # it called changed documents unchanged
        ({Source.VALIDATORS: Trust(changed_wrong=5)}, False),  # or unchanged ones changed: that saves nothing
        ({Source.HEAD: Trust(same_wrong=60), Source.LASTMOD: Trust(changed_wrong=60)}, True),  # other sources
    ],
)
def test_a_host_whose_validators_were_wrong_gets_no_conditional_requests(
    trust: dict[Source, Trust], is_sent: bool
) -> None:
    assert bool(headers_for(Validators('"a"', DATE, 5), trust)) is is_sent


@pytest.mark.parametrize("kind", [Kind.PAGE, Kind.FEED, Kind.SITEMAP])
def test_sitemaps_and_feeds_get_conditional_requests_like_pages(kind: Kind) -> None:
    assert headers_for(Validators('"a"', DATE, 5), kind=kind) == BOTH
