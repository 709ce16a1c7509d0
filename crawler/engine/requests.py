"""What is used of a request that a spider makes: its URL and priority. The rest is told once, and not silently lost."""

from __future__ import annotations

import logging
from collections.abc import Iterator

from scrapy import Request, Spider

from crawler.urls.schemes import WEB_SCHEMES

logger = logging.getLogger(__name__)

_OF_SCRAPY = {"depth", "download_slot", "download_timeout", "is_start_request"}  # that Scrapy itself adds to `meta`

_OF_OTHER_SPIDERS = {"_parse", "_parse_sitemap"}  # callbacks of Scrapy's own spiders, which we do without


class UnusedRequestParts:
    """Warns of the parts of requests that are not used, of each kind once."""

    def __init__(self, spider: Spider) -> None:
        self._spider = spider
        self._told: set[str] = set()

    def warn_of(self, request: Request) -> None:
        for part, text in self._unused(request):
            if part not in self._told:
                self._told.add(part)
                logger.warning("A request, of %s: %s", request.url, text)

    def _unused(self, request: Request) -> Iterator[tuple[str, str]]:
        if request.method != "GET":
            yield "method", f"its method is {request.method}; only GET is sent, so it is dropped"
        if request.url.partition(":")[0] not in WEB_SCHEMES:
            yield "scheme", "only http and https are visited, so it is dropped"
        callback = request.callback
        name = getattr(callback, "__name__", "")  # a partial function has none
        if callable(callback) and callback != self._spider.parse and name not in _OF_OTHER_SPIDERS:
            yield (
                "callback",
                "its callback is not kept; every page goes to the spider's `parse`, where its URL can tell what it is",
            )
        if request.errback is not None:
            yield "errback", "its errback is not called; `scrapy why` tells what became of a URL"
        if request.cb_kwargs or request.meta.keys() - _OF_SCRAPY:
            yield "meta", "meta and cb_kwargs are not kept: a URL has one visit, whoever asks for it"
        if request.headers or request.cookies:
            yield "headers", "its headers and cookies are not sent"
