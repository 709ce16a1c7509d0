"""What a user connects to a crawl: a spider with items of its own, pipelines, receivers of signals."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from scrapy import signals
from scrapy.crawler import Crawler

from crawler.items import Kind, Visited
from crawler.spiders.web import WebSpider


@dataclass
class Price:
    url: str
    price: int


class Prices(WebSpider):
    """Yields an item of its own for each page, besides the visit."""

    name = "prices"

    def parse(self, response: Any, **kwargs: Any) -> Iterator[Any]:
        yield from super().parse(response)
        if response.meta["visit"].kind is Kind.PAGE:
            yield Price(response.url, len(response.url))


class Notes:
    """Appends what it is given to the file of the setting ITEM_NOTES."""

    def __init__(self, crawler: Crawler) -> None:
        self._path = Path(crawler.settings["ITEM_NOTES"])

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def note(self, event: str, item: Any) -> None:
        facts = item if isinstance(item, dict) else {}
        if isinstance(item, Visited) and item.page is not None:
            facts = {"url": item.visit.url, "text": item.page.text}
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps([event, type(item).__name__, facts]) + "\n")


class ItemReceiver(Notes):
    """Notes every item that Scrapy announces as scraped, and every one as dropped."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        receiver = cls(crawler)
        crawler.signals.connect(receiver.scraped, signal=signals.item_scraped)
        crawler.signals.connect(receiver.dropped, signal=signals.item_dropped)
        return receiver

    def scraped(self, item: Any) -> None:
        self.note("scraped", item)

    def dropped(self, item: Any) -> None:
        self.note("dropped", item)


class NotingPipeline(Notes):
    def process_item(self, item: Any) -> Any:
        self.note("pipeline", item)
        return item
