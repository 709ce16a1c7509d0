"""scrapy retry: another name that people look for."""

from __future__ import annotations

from crawler.engine.refusals import OtherName


class RetryCommand(OtherName):
    instead = "`scrapy seed --now --failed` and then `scrapy crawl web`"
