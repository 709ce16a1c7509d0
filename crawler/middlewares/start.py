"""Start requests: what a spider's `start` yields are seeds of the crawl, not requests that go around the frontier.

A spider middleware; it sees nothing else than the beginning of a crawl, so it costs no page anything.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any, Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.spiders import SitemapSpider

from crawler.engine.requests import UnusedRequestParts
from crawler.engine.runtime import ScrapyRuntime
from crawler.engine.session import components_of
from crawler.errors import CrawlError
from crawler.items import Kind
from crawler.worker.seeds import BadSeed, seeds_in
from crawler.worker.session import Session
from crawler.worker.startup import refuse_foreign_hosts

logger = logging.getLogger(__name__)

_ROBOTS = "/robots.txt"


class StartMiddleware:
    """Adds the URLs of start requests as seeds, those of a SitemapSpider as sitemaps."""

    def __init__(self, crawler: Crawler, session: Session, runtime: ScrapyRuntime) -> None:
        self._crawler = crawler
        self._session = session
        self._runtime = runtime
        self._policy = session.options.urls.new_policy()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        components = components_of(crawler)
        return cls(crawler, components.session, components.get(ScrapyRuntime.of))

    async def process_start(self, start: AsyncIterator[Any]) -> AsyncIterator[Any]:
        assert self._crawler.spider is not None, "it has opened"
        unused_parts = UnusedRequestParts(self._crawler.spider)
        kind = Kind.SITEMAP if isinstance(self._crawler.spider, SitemapSpider) else Kind.PAGE
        async for started in start:
            if not isinstance(started, Request):
                yield started
                continue
            unused_parts.warn_of(started)
            if started.method == "GET":
                self._add(started.url, kind)

    def _add(self, url: str, kind: Kind) -> None:
        if kind is Kind.SITEMAP and url.endswith(_ROBOTS):
            url, kind = url.removesuffix(_ROBOTS) + "/", Kind.PAGE  # the sitemaps that it names are read anyway
        for seed in seeds_in([url], "start", self._policy.canonicalize):
            if isinstance(seed, BadSeed):
                logger.warning("%s", seed)
                continue
            try:
                refuse_foreign_hosts(self._session.options, [seed.url])
            except CrawlError as error:
                self._runtime.fail(error)
            else:
                self._runtime.worker.add_seed(replace(seed, kind=kind))
