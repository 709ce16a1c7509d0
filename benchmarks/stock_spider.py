"""A spider for stock Scrapy that follows links, with the settings that its documentation gives for broad crawls.

It is run by its file name outside of any project, so that none of our settings apply.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, ClassVar

from scrapy import Request, Spider
from scrapy.exceptions import CloseSpider
from scrapy.http import Response
from scrapy.linkextractors import LinkExtractor


class LinksSpider(Spider):
    """Requests every URL that it finds, and does nothing else."""

    name = "links"
    seeds = ""  # a file with one URL a line
    stop = ""  # "seeds" = stop when all seeds are fetched, because an open web has no end
    custom_settings: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        # https://docs.scrapy.org/en/latest/topics/broad-crawls.html
        "SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.DownloaderAwarePriorityQueue",
        "CONCURRENT_REQUESTS": 100,
        "REACTOR_THREADPOOL_MAXSIZE": 20,
        "LOG_LEVEL": "INFO",
        "COOKIES_ENABLED": False,
        "RETRY_ENABLED": False,
        "REDIRECT_ENABLED": False,
        # Features that would only cost time here
        "DOWNLOAD_DELAY": 0,
        "ROBOTSTXT_OBEY": False,
        "TELNETCONSOLE_ENABLED": False,
        "REMOTE_CONTROL_ENABLED": False,
    }
    _links = LinkExtractor()

    async def start(self) -> AsyncIterator[Request]:
        seeds = self._seeds()
        self._unanswered = set(seeds)
        for url in seeds:
            yield Request(url, priority=1)

    def _seeds(self) -> list[str]:
        return Path(self.seeds).read_text(encoding="ascii").split()

    def parse(self, response: Response, **kwargs: Any) -> Iterator[Request]:
        for link in self._links.extract_links(response):  # type: ignore[arg-type]
            # Seeds keep their priority, also if a page links to them before their turn.
            yield Request(link.url, priority=int(link.url in self._unanswered))
        self._unanswered.discard(response.url)
        if self.stop == "seeds" and not self._unanswered:
            raise CloseSpider("all seeds are fetched")
