"""Who wants the pages of a crawl as items: feeds, signals, pipelines of the user. For nobody, nothing is built."""

from __future__ import annotations

from typing import Self

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.signalmanager import SignalManager

from crawler.engine.session import session_of
from crawler.engine.signals import is_heard
from crawler.engine.wiring import own_pipelines


class Listeners:
    """Says, at any time during a crawl, what is wanted of its pages."""

    def __init__(self, manager: SignalManager, *, pages: bool, before_storage: bool, behind_storage: bool) -> None:
        self._manager = manager
        self._pages = pages  # pages are items at all
        self._before_storage = before_storage  # the user has pipelines before the one that stores
        self._behind_storage = behind_storage

    @classmethod
    def of(cls, crawler: Crawler) -> Self:
        before, behind = own_pipelines(crawler.settings)
        pages = session_of(crawler).options.page_items
        return cls(crawler.signals, pages=pages, before_storage=bool(before), behind_storage=bool(behind))

    @property
    def take_items(self) -> bool:
        """Whether what the last of our pipelines returns is seen by anybody."""
        return self._behind_storage or is_heard(self._manager, signals.item_scraped)

    @property
    def want_pages(self) -> bool:
        """Whether each page is an item."""
        return self._pages and self.take_items

    @property
    def want_text(self) -> bool:
        """Whether the text of each page is to be sent along by the content process."""
        return self._before_storage or self.want_pages
