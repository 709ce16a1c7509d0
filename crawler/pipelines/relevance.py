"""Relevance: pages below FOCUS_KEEP are off topic, so they are not exported; their links are followed by their worth.

The content process has judged the page and its links by the topic of the crawl. A pipeline of your own before this one
may set another `page.relevance`.
"""

from __future__ import annotations

import math
from typing import Any, Self

from msgspec.structs import replace
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from crawler.archive.records import facts_record
from crawler.engine.session import session_of
from crawler.items import Kind, Reason, Visited
from crawler.options import FocusOptions


class RelevancePipeline:
    """Applies FOCUS_KEEP and FOCUS_ARCHIVE."""

    def __init__(self, options: FocusOptions) -> None:
        self._options = options

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        session = session_of(crawler)
        if session.model is None:  # the crawl has no topic
            raise NotConfigured
        return cls(session.options.focus)

    def process_item(self, item: Any) -> Any:
        if not isinstance(item, Visited) or item.reason is not Reason.OK or item.visit.kind is not Kind.PAGE:
            return item
        item = _with_valid_relevance(item)
        page = item.page
        if page is None or page.relevance is None or page.relevance >= self._options.keep:
            return item
        item = replace(item, reason=Reason.OFF_TOPIC, page=replace(page, sketch=b""))
        if self._options.archives_all or item.fetched is None:
            return item
        return replace(item, records=[facts_record(item.visit, item.fetched, page)])


def _with_valid_relevance(item: Visited) -> Visited:
    """Return the visit with a relevance from 0 to 1, whatever a pipeline of the project has set; NaN is none."""
    page = item.page
    if page is None or page.relevance is None or 0 <= page.relevance <= 1:
        return item
    valid = None if math.isnan(page.relevance) else min(max(page.relevance, 0.0), 1.0)
    return replace(item, page=replace(page, relevance=valid))
