"""Near-duplicates: mark the pages that are to be compared with others, and compare their texts where sketches cannot.

Which page is a duplicate is decided inside the transaction that commits it: two copies that are fetched at the same
time would otherwise both become originals. Without this pipeline, only exact copies are found.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from msgspec.structs import replace
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from crawler.content.answers import ArchivedAnswer
from crawler.content.pool import ContentDied
from crawler.content.similarity import TemplatedAnswer
from crawler.engine.content_processes import ContentProcesses
from crawler.engine.page_reader import ArchivedPageReader
from crawler.engine.runtime import ScrapyRuntime
from crawler.engine.session import components_of
from crawler.items import Reason, Visited


class DuplicatesPipeline:
    """Applies DUPLICATE_THRESHOLD and DUPLICATE_SHINGLE. Implements `crawler.engine.page_reader.TextReader`."""

    def __init__(self, content: ContentProcesses, page_reader: ArchivedPageReader) -> None:
        self._content = content
        self._page_reader = page_reader

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        components = components_of(crawler)
        page_reader = components.get(ScrapyRuntime.of).page_reader
        if page_reader is None:  # DUPLICATE_THRESHOLD is 0
            raise NotConfigured
        return cls(components.get(ContentProcesses.of), page_reader)

    def open_spider(self) -> None:
        self._page_reader.open(self)

    def process_item(self, item: Any) -> Any:
        if isinstance(item, Visited) and item.page is not None and item.page.sketch:
            return replace(item, is_compared=True)
        return item

    async def compare(self, new: TemplatedAnswer, others: Sequence[TemplatedAnswer]) -> list[float] | None:
        """Compare the text of a page with those of others; an empty list if that killed a content process.

        None if the crawl ends first.
        """
        try:
            return await self._content.compare(new, others)
        except ContentDied as death:
            return None if death.reason is Reason.STOPPED else []

    async def learn_template(
        self, pages: Sequence[ArchivedAnswer], template: bytes | None
    ) -> tuple[bytes, list[bytes]] | None:
        """Return the template of a host and the sketches of its pages; no sketches if that killed a content process.

        None if the crawl ends first.
        """
        try:
            return await self._content.learn_template(pages, template)
        except ContentDied as death:
            return None if death.reason is Reason.STOPPED else (template or b"", [])
