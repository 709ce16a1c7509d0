"""scrapy runspider: Scrapy's own, with a help that can be read at any width."""

from __future__ import annotations

from scrapy.commands.runspider import Command as ScrapyRunspider

from crawler.engine.command import ScrapysCommand


class RunspiderCommand(ScrapysCommand, ScrapyRunspider):
    pass
