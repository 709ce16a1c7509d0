"""Start requests: what a spider's `start` yields are seeds of the crawl, not requests that go around the frontier.

A spider middleware; it sees nothing else than the beginning of a crawl, so it costs no page anything.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Self

from scrapy import Request
from scrapy.crawler import Crawler

from crawler.engine.runtime import ScrapyRuntime
from crawler.engine.session import components_of
from crawler.errors import CrawlError
from crawler.worker.seeds import BadSeed, seeds_in
from crawler.worker.session import Session
from crawler.worker.startup import refuse_foreign_hosts


class StartMiddleware:
    """Adds the URLs of start requests as seeds."""

    def __init__(self, session: Session, runtime: ScrapyRuntime) -> None:
        self._session = session
        self._runtime = runtime
        self._policy = session.options.urls.new_policy()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        components = components_of(crawler)
        return cls(components.session, components.get(ScrapyRuntime.of))

    async def process_start(self, start: AsyncIterator[Any]) -> AsyncIterator[Any]:
        async for started in start:
            if isinstance(started, Request) and started.method == "GET":
                self._add(started.url)
            else:
                yield started

    def _add(self, url: str) -> None:
        for seed in seeds_in([url], "start", self._policy.canonicalize):
            if isinstance(seed, BadSeed):
                continue
            try:
                refuse_foreign_hosts(self._session.options, [seed.url])
            except CrawlError as error:
                self._runtime.fail(error)
            else:
                self._runtime.worker.add_seed(seed)
