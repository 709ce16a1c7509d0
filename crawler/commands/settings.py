"""scrapy settings: print the value of a setting, also of those that our add-on sets."""

from __future__ import annotations

import argparse

from scrapy.commands.settings import Command as ScrapySettings

from crawler.engine.command import ReadableHelp, prepare_settings


class SettingsCommand(ReadableHelp, ScrapySettings):
    def short_desc(self) -> str:
        return "Print the value of a setting"

    def long_desc(self) -> str:
        return (
            "Print the value that a setting has in this project, with what -s gives. docs/settings.md explains each. "
            "Example: scrapy settings --get POLITENESS_MIN_DELAY"
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        assert self.settings is not None
        prepare_settings(self.settings)
        super().run(args, opts)
