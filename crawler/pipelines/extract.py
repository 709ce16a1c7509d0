"""Content extraction: all that can be read from one answer alone, in one call, in a content process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from msgspec.structs import replace
from scrapy.crawler import Crawler

from crawler.content.answers import ArchivedAnswer
from crawler.content.examine import examine
from crawler.content.messages import ContentConfiguration
from crawler.content.pool import ContentDied, ContentPool
from crawler.content.similarity import TemplatedAnswer, compare, learn_template
from crawler.engine.runtime import ScrapyRuntime
from crawler.engine.session import components_of
from crawler.errors import CrawlError
from crawler.items import Outcome, Reason, Visited
from crawler.worker.session import Session


class ExtractPipeline:
    """Adds the page, its links and the archive records to a visit."""

    def __init__(self, session: Session, runtime: ScrapyRuntime) -> None:
        self._session = session
        self._runtime = runtime
        self._pool: ContentPool | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        components = components_of(crawler)
        return cls(components.session, components.get(ScrapyRuntime.of))

    def open_spider(self) -> None:
        session = self._session
        session.content = self
        if session.options.content.processes:
            self._pool = new_pool(session)
            self._pool.start()
            session.pages_waiting = self._pool.waiting
            self._pool.add_seeds(session.seeds)
            session.on_seeds.append(self._pool.add_seeds)
        session.content_is_open.set()

    def close_spider(self) -> None:
        if self._pool is not None:
            self._session.on_seeds.remove(self._pool.add_seeds)
            self._pool.close()

    async def process_item(self, item: Any) -> Any:
        if not isinstance(item, Visited) or item.fetched is None or not item.fetched.head:
            return item
        if self._pool is None:
            options = self._session.options
            seen = examine(item, self._session.scope, options.reading, options.duplicates)
            return self._without_feeds(seen)
        try:
            return self._without_feeds(await self._pool.examine(item))
        except ContentDied as death:
            outcome = Outcome.ABORTED if death.reason is Reason.STOPPED else Outcome.FAILED
            return replace(item, outcome=outcome, reason=death.reason)
        except CrawlError as error:
            self._runtime.fail(error)
            raise

    async def compare(self, new: TemplatedAnswer, others: Sequence[TemplatedAnswer]) -> list[float] | None:
        """Compare the text of a page with those of others; an empty list if that killed a content process.

        None if the crawl ends first.
        """
        try:
            if self._pool is not None:
                return await self._pool.compare(new, others)
            return compare(new, others, self._session.options.reading, self._session.options.duplicates)
        except ContentDied as death:
            return None if death.reason is Reason.STOPPED else []

    async def learn_template(
        self, pages: Sequence[ArchivedAnswer], template: bytes | None
    ) -> tuple[bytes, list[bytes]] | None:
        """Return the template of a host and the sketches of its pages; no sketches if that killed a content process.

        None if the crawl ends first.
        """
        try:
            if self._pool is not None:
                return await self._pool.learn_template(pages, template)
            return learn_template(pages, template, self._session.options.reading, self._session.options.duplicates)
        except ContentDied as death:
            return None if death.reason is Reason.STOPPED else (template or b"", [])

    def _without_feeds(self, visited: Visited) -> Visited:
        """Drop the feeds that a page names, unless they are to be followed."""
        if self._session.options.newsfeeds or visited.page is None or not visited.page.feeds:
            return visited
        return replace(visited, page=replace(visited.page, feeds=()))


def new_pool(session: Session) -> ContentPool:
    options = session.options
    configuration = ContentConfiguration(
        urls=options.urls,
        reading=options.reading,
        rule=options.duplicates,
        cpu_seconds=options.content.cpu_time,
        memory=options.content.max_memory,
        hook=options.content.hook,
    )
    return ContentPool(options.content.processes, configuration, options.content.timeout)
