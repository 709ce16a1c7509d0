"""Content extraction: all that can be read from one answer alone, in one call, in a content process."""

from __future__ import annotations

from typing import Any, Self

from msgspec.structs import replace
from scrapy.crawler import Crawler

from crawler.content.pool import ContentDied
from crawler.engine.content_processes import ContentProcesses
from crawler.engine.listeners import Listeners
from crawler.engine.runtime import ScrapyRuntime
from crawler.engine.session import components_of
from crawler.errors import CrawlError
from crawler.items import Outcome, Reason, Visited


class ExtractPipeline:
    """Adds the page, its links and the archive records to a visit."""

    def __init__(
        self, content: ContentProcesses, runtime: ScrapyRuntime, listeners: Listeners, *, follows_feeds: bool
    ) -> None:
        self._content = content
        self._runtime = runtime
        self._listeners = listeners
        self._follows_feeds = follows_feeds

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        components = components_of(crawler)
        return cls(
            components.get(ContentProcesses.of),
            components.get(ScrapyRuntime.of),
            Listeners.of(crawler),
            follows_feeds=components.session.options.newsfeeds,
        )

    def open_spider(self) -> None:
        self._content.open()

    def close_spider(self) -> None:
        self._content.close()

    async def process_item(self, item: Any) -> Any:
        if not isinstance(item, Visited) or item.fetched is None or not item.fetched.head:
            return item
        if self._listeners.want_text:
            item = replace(item, keeps_text=True)
        try:
            return self._without_feeds(await self._content.examine(item))
        except ContentDied as death:
            outcome = Outcome.ABORTED if death.reason is Reason.STOPPED else Outcome.FAILED
            return replace(item, outcome=outcome, reason=death.reason, detail=death.last_words)
        except CrawlError as error:
            self._runtime.fail(error)
            raise

    def _without_feeds(self, visited: Visited) -> Visited:
        """Drop the feeds that a page names, unless they are to be followed."""
        if self._follows_feeds or visited.page is None or not visited.page.feeds:
            return visited
        return replace(visited, page=replace(visited.page, feeds=()))
