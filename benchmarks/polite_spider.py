"""A spider for stock Scrapy that follows links with the delay of each host.

It is run by its file name outside of any project, so that none of our settings apply. Delays are given by host in
DOWNLOAD_SLOTS.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, ClassVar, Self

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.linkextractors import LinkExtractor


class PoliteSpider(Spider):
    name = "polite"
    web = ""  # a JSON file: port, seconds, and the delay of each address
    _links = LinkExtractor()
    custom_settings: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        # https://docs.scrapy.org/en/latest/topics/broad-crawls.html
        "SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.DownloaderAwarePriorityQueue",
        "CONCURRENT_REQUESTS": 100,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
        "REACTOR_THREADPOOL_MAXSIZE": 20,
        "LOG_LEVEL": "INFO",
        "COOKIES_ENABLED": False,
        "RETRY_ENABLED": False,
        "REDIRECT_ENABLED": False,
        "ROBOTSTXT_OBEY": False,
        "TELNETCONSOLE_ENABLED": False,
        "REMOTE_CONTROL_ENABLED": False,
        "RANDOMIZE_DOWNLOAD_DELAY": False,
    }

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        web = json.loads(Path(kwargs["web"]).read_text(encoding="ascii"))
        slots = {address: {"delay": delay, "concurrency": 1} for address, delay in web["delays"].items()}
        crawler.settings.set("DOWNLOAD_SLOTS", slots, priority="spider")
        spider = super().from_crawler(crawler, *args, **kwargs)
        spider._web = web
        return spider

    async def start(self) -> AsyncIterator[Request]:
        # A clean end would wait for all queued requests, which takes minutes for a host with a long delay.
        asyncio.get_running_loop().call_later(self._web["seconds"], os._exit, 0)
        for address in self._web["delays"]:
            yield Request(f"http://{address}:{self._web['port']}/0")

    def parse(self, response: Response, **kwargs: Any) -> Iterator[Request]:
        for link in self._links.extract_links(response):  # type: ignore[arg-type]
            yield Request(link.url)
