"""scrapy bench: refused."""

from __future__ import annotations

from crawler.engine.refusals import RefusedCommand


class BenchCommand(RefusedCommand):
    why = "`scrapy bench` measures Scrapy's own downloader, which no crawl here uses."
    instead = "`make bench` in a checkout to measure this crawler, `scrapy simulate` to predict a crawl"
