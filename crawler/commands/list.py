"""scrapy list: list the spiders, also those that come with our add-on."""

from __future__ import annotations

import argparse

from scrapy.commands.list import Command as ScrapyList

from crawler.engine.command import load_addons


class ListCommand(ScrapyList):
    def short_desc(self) -> str:
        return "List the spiders that `scrapy crawl` can start"

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        assert self.settings is not None
        load_addons(self.settings)
        super().run(args, opts)
