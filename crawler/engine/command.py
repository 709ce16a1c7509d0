"""What our commands share: how they read settings, how they name the program, and how they end."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any, ClassVar, NoReturn

from scrapy.addons import AddonManager
from scrapy.commands import ScrapyCommand, ScrapyHelpFormatter
from scrapy.exceptions import UsageError
from scrapy.settings import BaseSettings, Settings, default_settings
from scrapy.utils.project import get_project_settings

import crawler.settings as ours
from crawler.engine.given_settings import (
    FILE_PRIORITY,
    apply_given,
    crawl_file,
    nearest_name,
    read_crawl_file,
    with_origin,
)
from crawler.engine.wiring import refuse_commands_alone
from crawler.errors import CrawlError, Misconfigured, NoCrawl
from crawler.monitor.run_settings import settings_lines, settings_of_last_run
from crawler.options import Options
from crawler.stores.open import open_store

COMMANDS = "crawler.commands"
PROGRAM = "ORBWEAVER_PROGRAM"  # environment variable: the name by which the user called us, if it is not scrapy
_CALL = re.compile(
    r"\bscrapy (?=(?:bench|check|crawl|duplicates|export|fetch|genspider|init|inspect|list|parse|report|search|seed|"
    r"settings|shell|show|simulate|sitemap|status|topic|urls|view|why|NAME)\b)"
)


class HelpFormatter(ScrapyHelpFormatter):
    """Underlines the headings of `--help`, and breaks lines only between words.

    Scrapy takes every part that ends with a colon for a heading, so a line of text becomes one, depending on the width
    of the terminal.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._headings: set[str] = set()

    def start_section(self, heading: str | None) -> None:
        self._headings.add(f"{heading}:\n")
        super().start_section(heading)

    def format_part_strings(self, part_strings: list[str]) -> list[str]:
        parts: list[str] = []
        for part in part_strings:
            if part.lstrip() in self._headings:
                title = part.strip().removesuffix(":").title()
                parts.append(f"{title}\n{('-' if title == 'Global Options' else '=') * len(title)}\n")
            elif not parts and part.startswith("usage: "):
                parts.append(
                    f"Usage\n=====\n{self._fill_text(part.removeprefix('usage: '), self._width - 2, '  ')}\n\n"
                )
            else:
                parts.append(part)
        return parts

    def _split_lines(self, text: str, width: int) -> list[str]:
        return _wrapped(text, width)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n".join(indent + line for line in _wrapped(text, width))


def _wrapped(text: str, width: int) -> list[str]:
    """Break a text into lines; names of options and URLs stay whole."""
    return textwrap.wrap(" ".join(text.split()), width, break_on_hyphens=False, break_long_words=False)


class ReadableHelp:
    """Part of a command of ours that is derived from one of Scrapy's."""

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        parser.formatter_class = HelpFormatter
        parser.usage, parser.description = as_called(parser.usage or ""), as_called(parser.description or "")
        super().add_options(parser)  # type: ignore[misc]
        self._parser = parser

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Refuse options that there are not, which Scrapy takes for arguments, and values that it cannot take."""
        for word in args:
            if word.startswith("--") and word != "--":
                near = get_close_matches(word.partition("=")[0], self._parser._option_string_actions, n=1)
                setting = nearest_name(word.strip("-").partition("=")[0].replace("-", "_"))
                meant = near[0] if near else f"-s {setting}=VALUE" if setting else ""
                hint = f" Did you mean {meant}?" if meant else ""
                raise UsageError(f"{word}: there is no such option.{hint}", print_help=False)
        for given in opts.set:
            name, _, value = given.partition("=")
            if isinstance(getattr(default_settings, name, None), dict) and not _is_json_object(value):
                raise UsageError(f"-s {given}: the value must be a JSON object, such as {{}}", print_help=False)
        super().process_options(args, opts)  # type: ignore[misc]


class ScrapysCommand(ReadableHelp):
    """Part of a command of Scrapy's that is as it was but for the look of its help."""


def _is_json_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


class OrbweaverCommand(ReadableHelp, ScrapyCommand):
    """A command that starts no crawler."""

    requires_project = True
    requires_crawler_process = False
    default_settings: ClassVar = {"LOG_ENABLED": False}

    def options(self) -> Options:
        """Read the settings; raises `Misconfigured` for one that cannot be used."""
        assert self.settings is not None
        return command_options(self.settings)

    def options_of_crawl(self) -> Options:
        """Read the settings as the last run had them, except for those of the command line."""
        assert self.settings is not None
        settings, options = self.settings, self.options()
        try:
            store = open_store(options.store, read_only=True)
        except NoCrawl:
            return options
        try:
            used = settings_of_last_run(store.crawl.facts())
        finally:
            store.close()
        own = settings.copy()
        own.update(used, priority=FILE_PRIORITY)
        try:
            return Options.of(own)
        except Misconfigured:  # such as a file that has been moved
            return options


def lines_on_settings(settings: BaseSettings, facts: Mapping[str, str]) -> Iterator[str]:
    """Say with which settings the last run was made, and where the crawl's file says something else."""
    file = crawl_file(settings)
    yield from settings_lines(facts, vars(ours), read_crawl_file(file), str(file))


def prepare_settings(settings: Settings) -> None:
    """Let add-ons set their values, and apply what the user has given; Scrapy loads add-ons only with a crawler."""
    AddonManager.load_pre_crawler_settings(settings)
    apply_given(settings)


def command_options(settings: Settings) -> Options:
    """Return the options of a command that starts no crawler."""
    prepare_settings(settings)
    refuse_commands_alone(settings)
    with with_origin(settings):
        return Options.of(settings)


def program_here() -> str:
    """Return the program that has our commands in this directory: `scrapy` in a project that names them."""
    return "scrapy" if get_project_settings()["COMMANDS_MODULE"] == COMMANDS else "orbweaver"


def as_called(text: str) -> str:
    """Return a text with its commands as the user can call them: with `orbweaver` if he did so."""
    program = os.environ.get(PROGRAM)
    return _CALL.sub(f"{program} ", text) if program else text


def exit_code_of(run: Callable[[], int]) -> int:
    """Run a command and return its exit code; an error is printed as one sentence, not as a traceback."""
    try:
        return run()
    except CrawlError as error:
        print_error(error)
        return error.exit_code
    except BrokenPipeError:
        return 0


def exit_with(error: CrawlError) -> NoReturn:
    """End the program with an error as a sentence and its exit code, wherever in Scrapy it has come up."""
    print_error(error)
    raise SystemExit(error.exit_code) from error


def print_error(error: CrawlError) -> None:
    print_message(str(error))


def print_message(text: str) -> None:
    print(f"orbweaver: {as_called(text)}", file=sys.stderr)
