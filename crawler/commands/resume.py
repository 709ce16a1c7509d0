"""scrapy resume: another name that people look for."""

from __future__ import annotations

from crawler.engine.refusals import OtherName


class ResumeCommand(OtherName):
    instead = "`scrapy crawl web`, which continues where the last crawl stopped"
