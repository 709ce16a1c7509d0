"""Crawl the web from the seeds outward."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

from scrapy import Spider

from crawler.engine.meta import FetchedResponse
from crawler.engine.results import visited_of
from crawler.items import Visited


class WebSpider(Spider):
    """Keeps every page and follows every link inside the scope.

    Seeds come from `scrapy seed`, or `-a seeds=FILE-or-URLs`. A spider of your own derives from this one and overrides
    `parse` to yield items besides the visit.
    """

    name = "web"
    seeds = ""

    async def start(self) -> AsyncIterator[Any]:
        """Nothing: what to visit is in the store."""
        return
        yield

    def parse(self, response: FetchedResponse, **kwargs: Any) -> Iterator[Visited]:  # type: ignore[override]
        yield visited_of(response)
