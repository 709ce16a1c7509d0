"""Spiders as Scrapy's own documentation has them, which know nothing of visits."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from functools import partial
from typing import Any

from scrapy import Request, Spider
from scrapy.exceptions import CloseSpider
from scrapy.http import Response
from scrapy.spiders import CrawlSpider, SitemapSpider, XMLFeedSpider
from twisted.internet.defer import Deferred, succeed

from crawler.items import Kind
from crawler.spiders.web import WebSpider


class Titles(Spider):
    """Yields dicts, and follows a link by itself."""

    name = "titles"

    def __init__(self, start: str = "", **arguments: Any) -> None:
        super().__init__(**arguments)
        self.start_urls = [start] if start else []

    def parse(self, response: Response) -> Iterator[Any]:
        title = response.css("title::text").get()
        yield {"url": response.url, "title": title, "class": type(response).__name__, "status": response.status}
        for link in response.css("a.own::attr(href)").getall():
            yield response.follow(link)


class TitlesAsync(Titles):
    name = "titles_async"

    async def parse(self, response: Response) -> AsyncIterator[Any]:  # type: ignore[override]
        for item in super().parse(response):
            yield item


class TitlesCoroutine(Titles):
    name = "titles_coroutine"

    async def parse(self, response: Response) -> list[Any]:  # type: ignore[override]
        return list(super().parse(response))


class TitlesList(Titles):
    name = "titles_list"

    def parse(self, response: Response) -> list[Any]:  # type: ignore[override]
        return list(super().parse(response))


class TitlesOfVisits(WebSpider):
    """Uses Scrapy's selectors on the answer of a visit."""

    name = "titles_of_visits"

    def parse(self, response: Any, **kwargs: Any) -> Iterator[Any]:
        yield from super().parse(response)
        is_page = response.meta["visit"].kind is Kind.PAGE
        if is_page and response.status == 200 and b"html" in response.headers["Content-Type"]:
            title = response.css("title::text").get()
            assert title == response.xpath("//title/text()").get() == response.selector.css("title::text").get()
            assert title in response.text
            yield {"url": response.url, "title": title}


class RaisesOnPages(Spider):
    name = "raises_on_pages"

    def parse(self, response: Response) -> Any:
        raise ValueError("the user's own bug")


class Callbacks(Spider):
    name = "callbacks"
    allowed_domains = ("a.test",)

    def parse(self, response: Response) -> Iterator[Any]:
        yield {"url": response.url}
        for _ in range(2):
            yield Request(response.urljoin("/asked"), callback=partial(self.parse_other))
            yield Request(response.urljoin("/asked"), callback=self.parse_other)
            yield Request(response.urljoin("/asked"), errback=self.parse_other, headers={"X-Own": "1"})
            yield Request(response.urljoin("/asked"), meta={"own": 1})
            yield Request(response.urljoin("/asked"), method="POST")
            yield Request("ftp://a.test/asked")

    def parse_other(self, response: Response) -> None:
        raise AssertionError("callbacks are not kept")


class TitlesWrapped(Titles):
    """Returns a coroutine without being one, as a decorated callback does."""

    name = "titles_wrapped"

    def parse(self, response: Response) -> Any:
        return self._later(response)

    async def _later(self, response: Response) -> list[Any]:
        return list(Titles.parse(self, response))


class TitlesDeferred(Titles):
    name = "titles_deferred"

    def parse(self, response: Response) -> Deferred[list[Any]]:  # type: ignore[override]
        return succeed(list(super().parse(response)))


class Closes(Spider):
    """Has enough after two pages."""

    name = "closes"
    pages = 0

    def parse(self, response: Response) -> Iterator[Any]:
        self.pages += 1
        yield {"url": response.url}
        if self.pages == 2:
            raise CloseSpider("enough")


class ClosesVisits(WebSpider):
    name = "closes_visits"

    def parse(self, response: Any, **kwargs: Any) -> Iterator[Any]:
        yield from super().parse(response)
        if response.url.endswith("/one"):
            raise CloseSpider("enough")


class Starts(Titles):
    """Yields its own first request."""

    name = "starts"

    async def start(self) -> AsyncIterator[Any]:
        yield Request(self.start_urls[0])


class Sitemaps(SitemapSpider):
    name = "sitemaps"

    def __init__(self, start: str, **arguments: Any) -> None:
        self.sitemap_urls = [f"{start}own-sitemap.xml"]
        super().__init__(**arguments)

    def parse(self, response: Response) -> Iterator[Any]:
        yield {"url": response.url, "title": response.css("title::text").get()}


class Ruled(CrawlSpider):
    name = "ruled"


class Texts(Titles):
    name = "texts"

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.start_urls = "http://a.test/"  # type: ignore[assignment]


class Methods(Titles):
    name = "methods"

    def seeds(self) -> list[str]:
        return []


class Empty(Spider):
    name = "empty"


class Nodes(XMLFeedSpider):
    name = "nodes"
    itertag = "title"
    iterator = "html"

    def parse_node(self, response: Response, selector: Any) -> Any:
        return {"url": response.url, "title": selector.xpath("text()").get()}
