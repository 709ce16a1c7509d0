"""The program `orbweaver`, or `python -m crawler`: our commands in any directory, without a Scrapy project.

Inside a project that has our add-on, or is built on our settings, the project's settings apply.
"""

from __future__ import annotations

import inspect
import io
import os
import sys
import sysconfig
import traceback
from collections.abc import Sequence
from contextlib import redirect_stdout
from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from pkgutil import iter_modules

import scrapy
from scrapy.cmdline import execute
from scrapy.commands import ScrapyCommand
from scrapy.settings import Settings
from scrapy.utils.project import ENVVAR, get_project_settings
from scrapy.utils.python import garbage_collect

from crawler.addon import is_used_in
from crawler.engine.command import COMMANDS, PROGRAM, ScrapysCommand, as_called, exit_with
from crawler.engine.refusals import OtherName
from crawler.errors import Misconfigured
from crawler.options import PRODUCT, VERSION

SETTINGS = "crawler.settings"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command of ours, or of Scrapy, and exit."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    os.environ.setdefault(PROGRAM, "orbweaver")
    settings = settings_here()
    if "--version" in words[:1]:
        print(f"{PRODUCT} {VERSION} (Scrapy {scrapy.__version__})")
    elif not words or words[0] in ("-h", "--help", "help"):
        print(as_called("\n".join(help_lines())))
    elif not words[0].startswith("-") and words[0] not in (names := all_names()):
        near = get_close_matches(words[0], names, n=1)
        meant = f"did you mean `orbweaver {near[0]}`? " if near else ""
        print(f"orbweaver: there is no command {words[0]!r}; {meant}`orbweaver --help` lists them.", file=sys.stderr)
        sys.exit(2)
    elif {"-h", "--help"}.intersection(words):
        _run_with_our_name(words, settings)
    else:
        sys.argv = ["orbweaver", *words]
        try:
            execute(sys.argv, settings)
        finally:
            garbage_collect()  # an event loop that was never used complains if it goes later


def settings_here() -> Settings:
    """Return the settings of the project that we are in, if it is one of ours; else those of this package."""
    try:
        settings = get_project_settings()
        has_add_on = is_used_in(settings)
    except Exception as error:
        exit_with(_unreadable_settings(error))
    if settings["COMMANDS_MODULE"] == COMMANDS:
        return settings
    if has_add_on:
        settings.set("COMMANDS_MODULE", COMMANDS, priority="cmdline")
        return settings
    os.environ[ENVVAR] = SETTINGS  # tells Scrapy that we are in a project
    settings = Settings()
    settings.setmodule(SETTINGS)
    settings.set("NEWSPIDER_MODULE", "")  # `genspider` writes into the current directory, not into this package
    return settings


def _unreadable_settings(error: Exception) -> Misconfigured:
    """Return the error for settings of a project that raise one when they are read."""
    others = (str(Path(__file__).parent), str(Path(scrapy.__file__).parent), sysconfig.get_path("stdlib"), "<frozen")
    frames = traceback.extract_tb(error.__traceback__)
    places = [(frame.filename, frame.lineno) for frame in frames if not frame.filename.startswith(others)]
    if isinstance(error, SyntaxError):
        places.append((str(error.filename), error.lineno))
    place = ", {}, line {}".format(*places[-1]) if places else ""
    return Misconfigured(
        f"The settings of this project ({os.environ.get(ENVVAR)}{place}) cannot be read: "
        f"{type(error).__name__}: {error}. Nothing was done; correct them, or call orbweaver in another directory."
    )


def help_lines() -> list[str]:
    ours = {name: each for name, each in commands_in(COMMANDS).items() if not isinstance(each, ScrapysCommand)}
    scrapys = commands_in("scrapy.commands")
    return [
        f"{PRODUCT} {VERSION}: a polite crawler for search engines, and the collection that it makes.",
        "",
        "Usage: orbweaver COMMAND [options] [arguments]",
        "",
        *(
            f"  {name:<13} {command.short_desc()}"
            for name, command in ours.items()
            if not isinstance(command, OtherName)
        ),
        "",
        "Commands of Scrapy:",
        *(f"  {name:<13} {command.short_desc()}" for name, command in scrapys.items() if name not in ours),
        "",
        "`orbweaver COMMAND --help` explains a command. Begin with:",
        "  orbweaver crawl web -a seeds=https://example.org/ -s CONTACT=https://your.site/about-the-bot",
    ]


def all_names() -> list[str]:
    """Return the names of all commands: ours, Scrapy's, and those of other packages."""
    return [*names_in(COMMANDS), *names_in("scrapy.commands"), *entry_points(group="scrapy.commands").names]


def names_in(package: str) -> list[str]:
    """Return the names of the commands of a package: those of its modules."""
    return [module.name for module in iter_modules(import_module(package).__path__)]


def commands_in(package: str) -> dict[str, ScrapyCommand]:
    """Return the commands of a package by their names."""
    found = {}
    for name in names_in(package):
        for value in vars(import_module(f"{package}.{name}")).values():
            is_command = inspect.isclass(value) and issubclass(value, ScrapyCommand)
            if is_command and value.__module__ == f"{package}.{name}":
                found[name] = value()
    return found


def _run_with_our_name(words: Sequence[str], settings: Settings) -> None:
    """Run a command that prints its help, with our name in place of Scrapy's."""
    printed = io.StringIO()
    try:
        with redirect_stdout(printed):
            execute(["orbweaver", *words], settings)
    finally:
        print(as_called(printed.getvalue()), end="")


if __name__ == "__main__":
    main()
