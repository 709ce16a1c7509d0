"""scrapy stats: another name that people look for."""

from __future__ import annotations

from crawler.engine.refusals import OtherName


class StatsCommand(OtherName):
    instead = "`scrapy status`, or `scrapy report` for a page"
