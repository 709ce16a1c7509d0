"""scrapy genspider: Scrapy's own, with a help that can be read at any width."""

from __future__ import annotations

from scrapy.commands.genspider import Command as ScrapyGenspider

from crawler.engine.command import ScrapysCommand


class GenspiderCommand(ScrapysCommand, ScrapyGenspider):
    pass
