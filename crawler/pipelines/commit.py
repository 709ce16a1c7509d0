"""Commit visits in batches; an item has passed when its visit is acknowledged."""

from __future__ import annotations

from typing import Any, Self

from scrapy.crawler import Crawler

from crawler.items import Visited


class CommitPipeline:
    """Hands each visit's result to the scheduler, which knows what it means for the frontier."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def process_item(self, item: Any) -> Any:
        if isinstance(item, Visited):
            await self._crawler.engine.scheduler.settle(item)  # type: ignore[union-attr]
        return item
