"""scrapy check: check the contracts of spiders on archived answers."""

from __future__ import annotations

import argparse

from scrapy.commands.check import Command as ScrapyCheck

from crawler.engine.command import ReadableHelp, exit_code_of
from crawler.engine.offline import go_offline


class CheckCommand(ReadableHelp, ScrapyCheck):
    def short_desc(self) -> str:
        return "Check the contracts of spiders on archived pages"

    def long_desc(self) -> str:
        return (
            "Check the contracts in the docstrings of callbacks (@url, @returns, @scrapes). The answers are the newest "
            "archived ones: no host is contacted, and the crawl is not changed. A URL that is not archived is an "
            "error. Example: scrapy check web"
        )

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        super().process_options(args, opts)
        assert self.settings is not None
        settings = self.settings
        self.exitcode = exit_code_of(lambda: 0 if go_offline(settings) else 1)
        if self.exitcode:
            raise SystemExit(self.exitcode)
