"""Conditional requests: who holds a document asks only whether it has changed.

Reads `request.meta["visit"]` and `["trust"]`; writes `["headers"]`. What the validators say is not taken for granted: every
so many visits the whole is fetched and compared, and a host whose validators were wrong is not asked by them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.statscollectors import StatsCollector

from crawler.engine.meta import HEADERS, TRUST, VISIT
from crawler.engine.session import session_of
from crawler.frontier.trust import UNKNOWN, Source, Trust
from crawler.items import Visit


class ConditionalMiddleware:
    """Adds If-None-Match and If-Modified-Since."""

    def __init__(self, stats: StatsCollector, full_every: int) -> None:
        self._stats = stats
        self._full_every = full_every

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler.stats, session_of(crawler).options.revisit.full_every)

    def process_request(self, request: Request) -> None:
        visit: Visit = request.meta[VISIT]
        held = visit.validators
        if held.length is None or held.reused + 1 >= self._full_every or not (held.etag or held.last_modified):
            return
        trust: Mapping[Source, Trust] = request.meta[TRUST]
        told = trust.get(Source.VALIDATORS, UNKNOWN)
        if told.believes_same and told.believes_change:
            self._stats.inc_value("conditional/sent")
            asked = (("If-None-Match", held.etag), ("If-Modified-Since", held.last_modified))
            request.meta[HEADERS] = [(name, value) for name, value in asked if value]
