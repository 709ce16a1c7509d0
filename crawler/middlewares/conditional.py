"""Conditional requests: if we have a document, ask the server only whether it has changed.

Reads `request.meta["visit"]` and `["trust"]`; writes `["headers"]`. Validators are checked: every so many visits the
document is fetched in full and compared, and hosts whose validators were wrong get no conditional requests.
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
    """Adds If-None-Match and If-Modified-Since to requests for documents that we have."""

    def __init__(self, stats: StatsCollector, full_every: int) -> None:
        self._stats = stats
        self._full_every = full_every

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler.stats, session_of(crawler).options.revisit.full_every)

    def process_request(self, request: Request) -> None:
        visit: Visit = request.meta[VISIT]
        validators = visit.validators
        if validators.length is None or validators.reused + 1 >= self._full_every:
            return
        if not (validators.etag or validators.last_modified):
            return
        trust: Mapping[Source, Trust] = request.meta[TRUST]
        validator_trust = trust.get(Source.VALIDATORS, UNKNOWN)
        if validator_trust.believes_same and validator_trust.believes_change:
            self._stats.inc_value("conditional/sent")
            headers = (("If-None-Match", validators.etag), ("If-Modified-Since", validators.last_modified))
            request.meta[HEADERS] = [(name, value) for name, value in headers if value]
