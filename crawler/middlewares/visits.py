"""Exactly one item per visit, whatever the spider does."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from typing import Any

from scrapy.http import Response

from crawler.download import VISIT
from crawler.items import Visit, Visited
from crawler.visits import broken

logger = logging.getLogger(__name__)


class OneItemMiddleware:
    """Watches what a callback yields: a visit that it forgot, or over which it raised, ends as an internal error."""

    async def process_spider_output(self, response: Response, result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        visit: Visit = response.meta[VISIT]
        given = False
        try:
            async for item in result:
                if isinstance(item, Visited) and item.visit.key == visit.key:
                    if given:
                        logger.error("The spider gave two results for %s; the second is dropped", visit.url)
                        continue
                    given = True
                yield item
        except Exception as error:
            logger.exception("The spider failed on %s", visit.url)
            if not given:
                yield broken(response.meta, repr(error))
            return
        if not given:
            yield broken(response.meta, "the spider gave no result")

    def process_spider_exception(self, response: Response, exception: Exception) -> list[Visited]:
        """A callback that raised before it gave anything to iterate over."""
        visit: Visit = response.meta[VISIT]
        logger.error("The spider failed on %s", visit.url, exc_info=exception)
        return [broken(response.meta, repr(exception))]
