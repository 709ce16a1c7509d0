"""scrapy list: list the spiders, also those that come with our add-on."""

from __future__ import annotations

import argparse

from scrapy.commands.list import Command as ScrapyList

from crawler.engine.command import ReadableHelp, prepare_settings


class ListCommand(ReadableHelp, ScrapyList):
    def short_desc(self) -> str:
        return "List the spiders that `scrapy crawl` can start"

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        assert self.settings is not None
        prepare_settings(self.settings)
        super().run(args, opts)
