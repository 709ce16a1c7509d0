"""scrapy recrawl: another name that people look for."""

from __future__ import annotations

from crawler.engine.refusals import OtherName


class RecrawlCommand(OtherName):
    instead = "`scrapy seed --now --all`, `--host NAME` or `FILE`, and then `scrapy crawl web`"
