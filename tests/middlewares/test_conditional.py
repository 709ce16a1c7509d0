"""Who holds a document asks only whether it has changed."""

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


def asked_by(
    held: Validators, trust: dict[Source, Trust] | None = None, full_every: int = FULL_EVERY, **facts: Any
) -> Any:
    """The headers that are sent, and how often that was counted."""
    stats = MemoryStatsCollector(Crawler(Spider))
    visit = visit_to(URL, validators=held, visited=NOW, **facts)
    request = Request(URL, meta={VISIT: visit, TRUST: trust or {}})
    assert ConditionalMiddleware(stats, full_every).process_request(request) is None
    headers = request.meta.get(HEADERS, [])
    assert stats.get_value("conditional/sent", 0) == bool(headers)
    return headers


@pytest.mark.parametrize(
    ("held", "headers"),
    [
        (NO_VALIDATORS, []),
        (Validators(length=5), []),
        (Validators('"a"', length=5), BOTH[:1]),
        (Validators("", DATE, length=5), BOTH[1:]),
        (Validators('"a"', DATE, length=5), BOTH),
        (Validators('"a"', DATE, length=0), BOTH),  # an empty document is one too
        (Validators('"a"', DATE), []),  # what is not held cannot be reused
        (Validators('W/"a"', length=5), [("If-None-Match", 'W/"a"')]),  # as the server wrote it
    ],
)
def test_validators_are_sent_for_what_is_held(held: Validators, headers: list[tuple[str, str]]) -> None:
    assert asked_by(held) == headers


@pytest.mark.parametrize(
    ("reused", "full_every", "is_sent"),
    [(0, 10, True), (8, 10, True), (9, 10, False), (30, 10, False), (0, 2, True), (1, 2, False), (0, 1, False)],
)
def test_one_of_so_many_visits_fetches_the_whole(reused: int, full_every: int, is_sent: bool) -> None:
    assert bool(asked_by(Validators('"a"', DATE, 5, reused), full_every=full_every)) is is_sent


@pytest.mark.parametrize(
    ("trust", "is_sent"),
    [
        ({}, True),
        ({Source.VALIDATORS: Trust(same_wrong=1)}, True),
        ({Source.VALIDATORS: Trust(same_wrong=2)}, False),  # it says "the same" of what has changed
        ({Source.VALIDATORS: Trust(changed_wrong=5)}, False),  # or "changed" of what has not: that spares nothing
        ({Source.HEAD: Trust(same_wrong=60), Source.LASTMOD: Trust(changed_wrong=60)}, True),  # another matter
    ],
)
def test_a_host_whose_validators_were_wrong_is_not_asked_by_them(trust: dict[Source, Trust], is_sent: bool) -> None:
    assert bool(asked_by(Validators('"a"', DATE, 5), trust)) is is_sent


@pytest.mark.parametrize("kind", [Kind.PAGE, Kind.FEED, Kind.SITEMAP])
def test_lists_are_asked_for_like_pages(kind: Kind) -> None:
    assert asked_by(Validators('"a"', DATE, 5), kind=kind) == BOTH
