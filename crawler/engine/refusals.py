"""Commands of Scrapy that would go around the frontier: they are refused, with the commands to use instead."""

from __future__ import annotations

import argparse
import sys

from scrapy.commands import ScrapyCommand

from crawler.engine.command import ReadableHelp, as_called

REFUSED = 2  # exit code, as for other mistakes on the command line


class RefusedCommand(ReadableHelp, ScrapyCommand):
    """A command that does nothing but say why not, and what to use."""

    requires_project = True
    requires_crawler_process = False
    why = ""
    instead = ""

    def syntax(self) -> str:
        return "…"

    def short_desc(self) -> str:
        return f"(not here: {self.instead})"

    def long_desc(self) -> str:
        return f"{self.why} Use instead: {self.instead}."

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Take none: whatever is given, the command is refused."""

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Read none."""
        opts.profile = None

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        print(as_called(f"orbweaver: {self.why} Nothing was done. Use {self.instead}."), file=sys.stderr)
        self.exitcode = REFUSED


class OtherName(RefusedCommand):
    """A command that there is under another name."""

    why = "There is no command of this name."
