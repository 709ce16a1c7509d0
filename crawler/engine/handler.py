"""Scrapy's download handler: a table of fetchers by scheme and kind of visit, each of which returns what it fetched."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Protocol

from scrapy import Request
from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.crawler import Crawler
from scrapy.exceptions import NotSupported
from scrapy.http import Response

from crawler.engine.client import FetchClient
from crawler.engine.meta import FETCHED, HEADERS, METHOD, VISIT
from crawler.engine.responses import FetchedResponse
from crawler.engine.session import components_of
from crawler.fetch.limits import FetchLimits
from crawler.fetch.robots import LARGEST_FILE
from crawler.items import Fetched, Kind, Reason, Visit
from crawler.options import Options
from crawler.parse.sitemaps import MOST_BYTES
from crawler.urls.schemes import WEB_SCHEMES

logger = logging.getLogger(__name__)

ROBOTS_TIME = 10.0  # seconds that a robots.txt may take
_TYPES_CHECKED = (Kind.PAGE, Kind.PROBE)  # kinds of visits whose answer may be of a type that is not read


class Fetcher(Protocol):
    """Makes one kind of visit."""

    async def fetch(self, visit: Visit, meta: Mapping[str, Any]) -> Fetched:
        """Fetch a visit's URL as its meta says. What goes wrong on the way is a reason in the result."""


class HttpFetcher:
    """Fetches over HTTP with the limits of a kind of visit."""

    def __init__(
        self, client: FetchClient, limits: FetchLimits, wants: Callable[[bytes, str], bool] | None = None
    ) -> None:
        self._client = client
        self._limits = limits
        self._wants = wants  # whether a body is worth fetching, by the head of the answer and the URL

    async def fetch(self, visit: Visit, meta: Mapping[str, Any]) -> Fetched:
        method, headers = meta.get(METHOD, "GET"), meta.get(HEADERS, ())
        return await self._client.fetch(visit.url, method, headers, limits=self._limits, wants=self._wants)


def fetchers_for(options: Options, client: FetchClient) -> dict[tuple[str, Kind], Fetcher]:
    """Return the fetcher for each scheme and kind of visit. A new scheme, or a kind that is rendered, is one entry."""
    usual, skipped = options.fetch.limits, options.fetch.skip_types
    most_robots = LARGEST_FILE + 1
    limits = {
        Kind.ROBOTS: replace(
            usual, max_body=most_robots, max_document=most_robots, timeout=min(usual.timeout, ROBOTS_TIME)
        ),
        Kind.SITEMAP: replace(usual, max_body=max(usual.max_body, MOST_BYTES)),
    }
    fetchers = {
        kind: HttpFetcher(client, limits.get(kind, usual), skipped.wants if kind in _TYPES_CHECKED else None)
        for kind in Kind
    }
    return {(scheme, kind): fetcher for scheme in WEB_SCHEMES for kind, fetcher in fetchers.items()}


class CurlHandler(BaseDownloadHandler):
    """Scrapy's download handler: the fetcher of a visit fetches it. An error is a reason in `Fetched`, never raised."""

    lazy = False

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        components = components_of(crawler)
        self._has_warned = False  # of headers
        self._session = components.session
        self._client = components.get(FetchClient.of)
        self._fetchers = fetchers_for(self._session.options, self._client)

    async def download_request(self, request: Request) -> Response:
        visit: Visit = request.meta[VISIT]
        if (request.headers or request.cookies) and not self._has_warned:
            self._has_warned = True
            logger.warning("A middleware has set headers or cookies of %s: they are not sent", request.url)
        try:
            if request.meta.get("proxy"):
                raise NotSupported("a middleware has set a proxy for it, and there are none for single requests")
            fetcher = self._fetchers[visit.url.partition(":")[0], visit.kind]
            fetched = await fetcher.fetch(visit, request.meta)
        except Exception as error:
            now = self._session.now()
            fetched = Fetched(url=visit.url, reason=Reason.INTERNAL_ERROR, detail=repr(error), started=now, ended=now)
        request.meta[FETCHED] = fetched
        return FetchedResponse(request.url, status=fetched.status, body=fetched.body, request=request, fetched=fetched)

    async def close(self) -> None:
        self._client.close()
