"""Spiders, pipelines and middlewares of users fail in every place where they can."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from scrapy import Request, Spider
from scrapy.exceptions import DropItem, IgnoreRequest
from scrapy.http import HtmlResponse, Response

from crawler.engine.meta import FETCHED, VISIT
from crawler.engine.responses import FetchedResponse
from crawler.items import Kind, Visited
from crawler.spiders.web import WebSpider
from tests.samples import answer


class Raises(WebSpider):
    """Raises on every third page."""

    name = "raises"

    def parse(self, response: Any, **kwargs: Any) -> Iterator[Any]:
        if is_third(response.url):
            raise ValueError("the user's own bug")
        yield from super().parse(response)


class RaisesLate(WebSpider):
    name = "raises_late"

    def parse(self, response: Any, **kwargs: Any) -> Iterator[Any]:
        yield from super().parse(response)
        if is_third(response.url):
            raise ValueError("after the result was given")


class Forgets(WebSpider):
    name = "forgets"

    def parse(self, response: Any, **kwargs: Any) -> Iterator[Any]:
        if not is_third(response.url):
            yield from super().parse(response)


class Repeats(WebSpider):
    name = "repeats"

    def parse(self, response: Any, **kwargs: Any) -> Iterator[Any]:
        yield from super().parse(response)
        yield from super().parse(response)


class Extras(WebSpider):
    """Yields its own items and a request besides the visit."""

    name = "extras"

    def parse(self, response: Any, **kwargs: Any) -> Iterator[Any]:
        yield {"url": response.url}
        yield from super().parse(response)
        yield Request(response.urljoin("/asked-for-by-the-spider"))


class Annotates(Spider):
    """Knows nothing of visits."""

    name = "annotates"

    def parse(self, response: Response) -> Iterator[Any]:
        yield {"url": response.url}


class RaisingPipeline:
    def process_item(self, item: Any) -> Any:
        if isinstance(item, Visited) and is_third(item.visit.url):
            raise ValueError("in a pipeline")
        return item


class DroppingPipeline:
    def process_item(self, item: Any) -> Any:
        if isinstance(item, Visited) and is_third(item.visit.url):
            raise DropItem("unwanted")
        return item


class SwallowingPipeline:
    """Passes something other than the visit on to the commit."""

    def process_item(self, item: Any) -> Any:
        return {"not": "a visit"} if isinstance(item, Visited) and is_third(item.visit.url) else item


class RaisingRequestMiddleware:
    def process_request(self, request: Request) -> None:
        if is_third(request.url):
            raise ValueError("before the download")


class RaisingResponseMiddleware:
    def process_response(self, request: Request, response: Response) -> Response:
        if is_third(request.url):
            raise ValueError("after the download")
        return response


class DecliningRequestMiddleware:
    def process_request(self, request: Request) -> None:
        if is_third(request.url):
            raise IgnoreRequest("not for us")


class DecliningResponseMiddleware:
    def process_response(self, request: Request, response: Response) -> Response:
        if is_third(request.url):
            raise IgnoreRequest
        return response


class RepeatingMiddleware:
    """Wants pages to be fetched again by itself."""

    def process_response(self, request: Request, response: Response) -> Request | Response:
        return request.replace(dont_filter=True) if is_third(request.url) else response


class ForeignAnswerMiddleware:
    """Answers with a response that did not come over the wire."""

    def process_request(self, request: Request) -> Response | None:
        return HtmlResponse(request.url, body=b"<p>Made up.", request=request) if is_third(request.url) else None


class ReplacingMiddleware:
    """Replaces what the spider sees."""

    def process_response(self, request: Request, response: Response) -> Response:
        if request.meta[VISIT].kind is not Kind.PAGE:
            return response
        return HtmlResponse(response.url, response.status, body=b"<title>Replaced</title>", request=request)


class ItemsOnlyMiddleware:
    """A spider middleware that knows only the items of its own spider."""

    async def process_spider_output(self, response: Response, result: Any) -> Any:
        async for item in result:
            item["seen"] = "yes"
            yield item


class SwallowingMiddleware:
    """A spider middleware that leaves out what some pages gave."""

    async def process_spider_output(self, response: Response, result: Any) -> Any:
        if is_third(response.url):
            return
        async for item in result:
            yield item
            return


class RefusingHostMiddleware:
    def process_request(self, request: Request) -> None:
        if request.meta[VISIT].url.partition("://")[2].startswith("h0"):
            raise IgnoreRequest("no such host for us")


class ProxyMiddleware:
    def process_request(self, request: Request) -> None:
        if is_third(request.url):
            request.meta["proxy"] = "http://127.0.0.1:1"


class RaisingInputMiddleware:
    def process_spider_input(self, response: Response) -> None:
        if is_third(response.url):
            raise ValueError("before the spider")


class RaisingOutputMiddleware:
    async def process_spider_output(self, response: Response, result: Any) -> Any:
        if is_third(response.url):
            raise ValueError("behind the spider")
        async for item in result:
            yield item


class AnsweringMiddleware:
    """Answers by itself, as a cache does: some pages with a redirect to the top page, others with text."""

    def process_request(self, request: Request) -> Response | None:
        url = request.meta[VISIT].url
        if not is_third(url):
            return None
        now = time.time()
        fetched = answer(url, started=now, ended=now, body=f"<p>Cached {url}".encode())
        if sum(url.encode()) % 2:
            fetched = answer(url, started=now, ended=now, status=301, head=b"HTTP/1.1 301 X\r\nLocation: /\r\n\r\n")
        request.meta[FETCHED] = fetched
        return FetchedResponse(url, status=fetched.status, body=fetched.body, request=request, fetched=fetched)


def is_third(url: str) -> bool:
    """Choose some pages, always the same; never a robots.txt."""
    return not url.endswith("robots.txt") and sum(url.partition(".test")[2].partition("/")[2].encode()) % 3 == 1
