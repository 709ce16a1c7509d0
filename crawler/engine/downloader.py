"""Scrapy's downloader without slots: the frontier is the only queue, so a request that is here is sent at once."""

from __future__ import annotations

from typing import Any

from scrapy import Request
from scrapy.core.downloader.handlers import DownloadHandlers
from scrapy.core.downloader.middleware import DownloaderMiddlewareManager
from scrapy.crawler import Crawler
from scrapy.exceptions import NotSupported
from scrapy.http import Response
from scrapy.utils.defer import deferred_from_coro
from scrapy.utils.misc import build_from_crawler
from twisted.internet.defer import Deferred

from crawler.engine.meta import IS_ANSWERED, VISIT
from crawler.engine.wiring import check_components


class FrontierDownloader:
    """Implements what Scrapy's engine needs of a downloader: middlewares, handlers, the requests under way.

    Scrapy's own has a queue and a timer per host and sends three signals per request. That is needless work here: the
    frontier already allows only one request per host at a time.
    """

    def __init__(self, crawler: Crawler) -> None:
        check_components(crawler.settings)  # once more: what they were when the crawl began may have been replaced
        self.active: set[Request] = set()
        self.slots: dict[str, Any] = {}  # read by Scrapy's statistics
        self.handlers = DownloadHandlers(crawler)
        self.middleware: DownloaderMiddlewareManager = build_from_crawler(DownloaderMiddlewareManager, crawler)
        self._most = crawler.settings.getint("CONCURRENT_REQUESTS")

    def fetch(self, request: Request) -> Deferred[Response | Request]:
        if VISIT not in request.meta:
            raise NotSupported(
                f"{request.url} was not released by the frontier, and is not fetched: pages are visited politely or "
                "not at all. Yield the request from the spider instead."
            )
        self.active.add(request)
        return deferred_from_coro(self._fetch(request))

    async def _fetch(self, request: Request) -> Response:
        try:
            response = await self.middleware.download_async(self._send, request)
        finally:
            self.active.remove(request)
        if isinstance(response, Request):
            raise NotSupported(
                f"A downloader middleware has answered {request.url} with a request. Retries and redirects are visits "
                "of the frontier: leave them to it, and take the middleware out of DOWNLOADER_MIDDLEWARES."
            )
        request.meta[IS_ANSWERED] = True
        return response

    async def _send(self, request: Request) -> Response:
        handler = self.handlers._get_handler(request.url.partition(":")[0])
        if handler is None:
            raise NotSupported(f"no handler for {request.url}")
        return await handler.download_request(request)

    def needs_backout(self) -> bool:
        return 0 < self._most <= len(self.active)

    def close(self) -> None:
        """Do nothing: the handlers close themselves when the engine stops."""
