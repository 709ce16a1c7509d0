"""scrapy startproject: Scrapy's own, with a help that can be read at any width."""

from __future__ import annotations

from scrapy.commands.startproject import Command as ScrapyStartproject

from crawler.engine.command import ScrapysCommand


class StartprojectCommand(ScrapysCommand, ScrapyStartproject):
    pass
