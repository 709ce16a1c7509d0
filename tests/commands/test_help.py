"""The help of each command can be read, however wide the terminal is."""

from __future__ import annotations

import argparse
import re
from itertools import pairwise

import pytest
from scrapy.cmdline import ScrapyArgumentParser
from scrapy.commands import ScrapyCommand, ScrapyHelpFormatter
from scrapy.settings import Settings

from crawler.__main__ import commands_in
from crawler.engine.command import COMMANDS

HEADINGS = {"Usage", "Options", "Global Options", "Positional Arguments"}
ALL = commands_in(COMMANDS)
UNDERLINE = re.compile(r"[=-]{3,}")


def help_of(name: str, command: ScrapyCommand) -> tuple[str, argparse.ArgumentParser]:
    """Return what Scrapy prints, and the parser that has printed it."""
    command.settings = Settings()
    parser = ScrapyArgumentParser(
        formatter_class=ScrapyHelpFormatter,
        usage=f"scrapy {name} {command.syntax()}",
        conflict_handler="resolve",
        description=command.long_desc(),
    )
    command.add_options(parser)
    return parser.format_help(), parser


def without_breaks(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("width", range(40, 201, 16))
@pytest.mark.parametrize("name", ALL)
def test_help_is_whole_at_any_width(name: str, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    text, parser = help_of(name, ALL[name])
    lines = text.splitlines()
    for above, line in pairwise(lines):
        if UNDERLINE.fullmatch(line):
            assert above in HEADINGS
            assert len(line) == len(above)
    assert lines[:2] == ["Usage", "====="]
    shown = without_breaks(text)
    assert without_breaks(parser.description or "") in shown
    for action in parser._actions:
        told = without_breaks(parser._get_formatter()._expand_help(action))
        assert f"{action.option_strings[-1]}" in shown
        assert told in shown
    for line in lines[3:]:
        assert len(line) < width or len(line.split()) == 1 or line.lstrip().startswith("-"), line
