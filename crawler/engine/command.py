"""What our commands share: how they read settings, how they name the program, and how they end."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from typing import NoReturn

from scrapy.addons import AddonManager
from scrapy.settings import Settings
from scrapy.utils.project import get_project_settings

from crawler.engine.wiring import refuse_commands_alone
from crawler.errors import CrawlError
from crawler.options import Options

COMMANDS = "crawler.commands"
PROGRAM = "ORBWEAVER_PROGRAM"  # environment variable: the name by which the user called us, if it is not scrapy
_CALL = re.compile(
    r"\bscrapy (?=(?:bench|check|crawl|duplicates|export|fetch|genspider|inspect|list|parse|report|search|seed|settings|"
    r"shell|show|simulate|sitemap|status|urls|view|why|NAME)\b)"
)


def load_addons(settings: Settings) -> None:
    """Let add-ons set their values for a command that starts no crawler; Scrapy does so only for those that do."""
    AddonManager.load_pre_crawler_settings(settings)


def command_options(settings: Settings) -> Options:
    """Return the options of a command that starts no crawler."""
    load_addons(settings)
    refuse_commands_alone(settings)
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
    print(f"orbweaver: {as_called(str(error))}", file=sys.stderr)
