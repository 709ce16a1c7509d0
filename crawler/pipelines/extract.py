"""Look at the page: everything that depends on it alone, in one call."""

from __future__ import annotations

from typing import Any, Self

from scrapy.crawler import Crawler

from crawler.content import examine
from crawler.fetch.answers import meaning_of
from crawler.items import Visited
from crawler.session import session_of
from crawler.urls.scope import Scope


class ExtractPipeline:
    """Adds page, links and archive records to a visit."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(session_of(crawler).scope)

    def process_item(self, item: Any) -> Any:
        if not isinstance(item, Visited) or item.fetched is None:
            return item
        return examine(item, self._scope.rejection, meaning_of(item.fetched).location)
