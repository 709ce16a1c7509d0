"""Storage: archive and commit visits in batches. A page becomes an item for feeds when its visit is acknowledged."""

from __future__ import annotations

from typing import Any, Self

from scrapy.crawler import Crawler

from crawler.engine.listeners import Listeners
from crawler.engine.results import NotAPage
from crawler.engine.runtime import ScrapyRuntime
from crawler.engine.session import components_of
from crawler.export.documents import fields_of
from crawler.items import Kind, Visited


class StorePipeline:
    """Gives the result of each visit to the worker, and waits until it is committed.

    If anybody takes items, a page is passed on as a dict with the fields of an exported document, and a visit without
    a page is dropped.
    """

    def __init__(self, runtime: ScrapyRuntime, listeners: Listeners) -> None:
        self._runtime = runtime
        self._listeners = listeners

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(components_of(crawler).get(ScrapyRuntime.of), Listeners.of(crawler))

    async def process_item(self, item: Any) -> Any:
        if not isinstance(item, Visited):
            return item
        listeners = self._listeners
        wants_page = item.keeps_text and item.visit.kind is Kind.PAGE and listeners.want_pages
        page = await self._runtime.finish_visit(item, wants_page=wants_page)
        if page is not None:
            return fields_of(page)
        if listeners.take_items:
            raise NotAPage
        return item
