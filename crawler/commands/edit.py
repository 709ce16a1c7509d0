"""scrapy edit: Scrapy's own, with a help that can be read at any width."""

from __future__ import annotations

from scrapy.commands.edit import Command as ScrapyEdit

from crawler.engine.command import ScrapysCommand


class EditCommand(ScrapysCommand, ScrapyEdit):
    pass
