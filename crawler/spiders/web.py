"""The spider that crawls the web from the seeds outward."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

from scrapy import Spider

from crawler.engine.responses import FetchedResponse
from crawler.engine.results import visited_of
from crawler.items import Visited


class WebSpider(Spider):
    """Fetches every page inside the scope and follows its links.

    Seeds come from `scrapy seed`, or `-a seeds=FILE-or-URLs`. Derive your own spider from this one, and override
    `parse` to yield items besides the visit.
    """

    name = "web"
    seeds = ""
    yields_visits = True  # `parse` gets every answer, and yields its visit's result

    async def start(self) -> AsyncIterator[Any]:
        """Yield no requests: the scheduler takes what is due from the store."""
        return
        yield

    def parse(self, response: FetchedResponse, **kwargs: Any) -> Iterator[Visited]:  # type: ignore[override]
        yield visited_of(response)
