"""Store visits in batches; an item has passed when its visit is acknowledged."""

from __future__ import annotations

from typing import Any, Self

from scrapy.crawler import Crawler

from crawler.engine.runtime import ScrapyRuntime
from crawler.engine.session import components_of
from crawler.items import Visited


class StorePipeline:
    """Gives the result of each visit to the worker, and waits until it is committed."""

    def __init__(self, runtime: ScrapyRuntime) -> None:
        self._runtime = runtime

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(components_of(crawler).get(ScrapyRuntime.of))

    async def process_item(self, item: Any) -> Any:
        if isinstance(item, Visited):
            await self._runtime.finish_visit(item)
        return item
