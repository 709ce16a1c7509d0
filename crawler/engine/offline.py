"""Scrapy without a network: `shell` and `check` get answers from the archive, and leave the crawl as it is."""

from __future__ import annotations

from typing import Any

from scrapy import Request
from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.settings import Settings
from scrapy.utils.conf import build_component_list
from scrapy.utils.misc import load_object

from crawler.addon import Orbweaver
from crawler.collection.archive_reader import newest_archived
from crawler.engine.command import command_options
from crawler.engine.meta import FETCHED, RULES, VISIT
from crawler.engine.responses import FetchedResponse, plain_response
from crawler.items import Fetched, Kind, Reason, Visit
from crawler.options import Options
from crawler.urls.keys import key_of

_HANDLER = "crawler.engine.offline.ArchiveHandler"
# Scrapy's own engine, with a downloader that cannot reach any host.
_SETTINGS: dict[str, Any] = {
    "SCHEDULER": "scrapy.core.scheduler.Scheduler",
    "DOWNLOADER": "scrapy.core.downloader.Downloader",
    "DOWNLOAD_HANDLERS_BASE": {},
    "DOWNLOAD_HANDLERS": {
        "http": _HANDLER,
        "https": _HANDLER,
        "file": "scrapy.core.downloader.handlers.file.FileDownloadHandler",
        "data": "scrapy.core.downloader.handlers.datauri.DataURIDownloadHandler",
    },
    "DOWNLOADER_MIDDLEWARES_BASE": {"scrapy.downloadermiddlewares.redirect.RedirectMiddleware": 600},
    "DOWNLOADER_MIDDLEWARES": {},
    "SPIDER_MIDDLEWARES_BASE": {"scrapy.spidermiddlewares.referer.RefererMiddleware": 700},  # for redirects
    "SPIDER_MIDDLEWARES": {},
    "REFERER_ENABLED": True,
    "ITEM_PIPELINES": {},
    "EXTENSIONS_BASE": {},
    "EXTENSIONS": {},
    "FEEDS": {},
    "DOWNLOAD_DELAY": 0,
    "JOBDIR": "",
}


def go_offline(settings: Settings) -> Options:
    """Replace the components of a crawl in these settings; return the options of the crawl whose archive is read."""
    options = command_options(settings)
    for name, value in _SETTINGS.items():
        settings.set(name, value, priority="cmdline")
    addons = settings.getdict("ADDONS")
    others = [addon for addon in build_component_list(addons) if load_object(addon) is not Orbweaver]
    settings.set("ADDONS", {addon: addons.get(addon, 0) for addon in others}, priority="cmdline")
    return options


class ArchiveHandler(BaseDownloadHandler):
    """Answers a request with the newest archived answer of its URL."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._crawler = crawler
        self._options = Options.of(crawler.settings)

    async def download_request(self, request: Request) -> Response:
        """Raises `CrawlError`, which says why, if the URL is not archived."""
        archived, document = newest_archived(self._options, request.url)
        fetched = Fetched(
            url=archived.url,
            reason=Reason.OK,
            started=document.fetched,
            ended=document.fetched,
            status=document.status,
            head=archived.head,
            body=archived.body,
        )
        if not getattr(self._crawler.spider, "yields_visits", False):
            return plain_response(fetched, request)
        key = key_of(fetched.url)
        request.meta[VISIT] = Visit(key=key, url=fetched.url, kind=Kind.PAGE, epoch=0, host_key=key.host)
        request.meta.update({FETCHED: fetched, RULES: None})
        return FetchedResponse(fetched.url, status=fetched.status, body=fetched.body, request=request, fetched=fetched)

    async def close(self) -> None:
        """Nothing is open."""
