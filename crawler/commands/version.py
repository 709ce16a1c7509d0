"""scrapy version: Scrapy's own, with a help that can be read at any width."""

from __future__ import annotations

from scrapy.commands.version import Command as ScrapyVersion

from crawler.engine.command import ScrapysCommand


class VersionCommand(ScrapysCommand, ScrapyVersion):
    pass
