"""Write docs/settings.md and docs/commands.md: `python -m tests.generated_docs`.

The page of settings is made of the comments in crawler/settings.py, the page of commands of the output of `--help`.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import io
import pkgutil
import re
import textwrap
import tokenize
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from scrapy.commands import ScrapyCommand
from scrapy.settings import Settings

from crawler import commands
from crawler import settings as project
from crawler.engine.command import ScrapysCommand
from crawler.engine.refusals import OtherName

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
WIDTH = 120
_SECTION = re.compile(r"── (.+?) ─+")
_EXAMPLES = re.compile(r"\s*Examples?: (scrapy .+)$")
_CODE = re.compile(
    r"(?<![\w`])(?:[A-Z]+(?:_[A-Z]+)+|CONTACT|SCOPE|EXTRACTOR|TMPDIR|--[a-z][a-z-]+|[a-z]+(?:_[a-z0-9]+)+)(?![\w`])"
)
_LONG = 60  # characters of a value that has a line of its own


class DocumentedSetting(NamedTuple):
    name: str
    default: str  # written as in `-s NAME=VALUE`
    text: str


def pages() -> Mapping[Path, str]:
    """Return the generated pages: file → text."""
    return {DOCS / "settings.md": settings_page(), DOCS / "commands.md": commands_page()}


# ── Settings ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def settings_page() -> str:
    lines = [
        "# Settings",
        "",
        "<!-- Generated from crawler/settings.py by `python -m tests.generated_docs`. Change the comments there. -->",
        "",
        *_wrapped(
            "Every setting of [crawler/settings.py](../crawler/settings.py), with its default. Set one for a single "
            "run with `-s NAME=VALUE`, or for good in a settings module of your own. Lists are comma-separated text. "
            "Times are seconds, sizes bytes. A value that cannot be obeyed stops the start with exit code 78 and a "
            "sentence that names it."
        ),
    ]
    for title, settings in documented_settings().items():
        lines += ["", f"## {title}", ""]
        for setting in settings:
            lines += _setting_lines(setting)
    return "\n".join(lines) + "\n"


def documented_settings() -> Mapping[str, list[DocumentedSetting]]:
    """Return section → its settings, in the order of the file."""
    source = Path(project.__file__).read_text(encoding="utf-8")
    alone, behind = _comments(source)
    starts = [node.lineno for node in ast.parse(source).body]
    titles = {line: found[1] for line, text in alone.items() if (found := _SECTION.match(text)) is not None}
    found: dict[str, list[DocumentedSetting]] = {}
    for node in ast.parse(source).body:
        name, value = _assigned(node)
        if name is None or value is None:
            continue
        before = max((line for line in starts if line < node.lineno), default=0)
        title = titles[max(line for line in titles if line < node.lineno)] if min(titles) < node.lineno else "Project"
        above = [text for line, text in alone.items() if before < line < node.lineno and line not in titles]
        own = [behind[line] for line in (node.lineno, node.end_lineno) if line in behind]
        text = _sentence(" ".join(above)) + " " + _sentence("; ".join(dict.fromkeys(own)))
        found.setdefault(title, []).append(DocumentedSetting(name, _default(value), _escaped(text.strip())))
    return found


def _comments(source: str) -> tuple[dict[int, str], dict[int, str]]:
    """Return the comments by line number: those on a line of their own, and those behind code."""
    alone, behind = {}, {}
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            text = token.string.removeprefix("#").strip()
            (alone if token.line.lstrip().startswith("#") else behind)[token.start[0]] = text
    return alone, behind


def _assigned(node: ast.stmt) -> tuple[str | None, ast.expr | None]:
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id, node.value
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return node.target.id, node.value
    return None, None


def _default(value: ast.expr) -> str:
    """Return a default as it is written on the command line; "" if it is computed on the machine."""
    if any(isinstance(node, ast.Call) for node in ast.walk(value)):
        return ""
    known = eval(compile(ast.Expression(value), "settings", "eval"), {})
    if isinstance(known, dict):
        return ", ".join(f"{key}: {number}" for key, number in known.items())
    return ",".join(known) if isinstance(known, list) else str(known)


def _setting_lines(setting: DocumentedSetting) -> Iterator[str]:
    is_short = len(setting.default) <= _LONG
    default = f" = `{setting.default}`" if setting.default and is_short else ""
    yield from _wrapped(f"- **`{setting.name}`**{default}: {setting.text}", "  ")
    if not is_short:
        parts = [part.strip() for part in setting.default.split(",")]
        yield from _wrapped(f"  Default: {', '.join(f'`{part}`' for part in parts)}.", "  ")


# ── Commands ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def commands_page() -> str:
    found = documented_commands()
    lines = [
        "# Commands",
        "",
        "<!-- Generated from the commands' --help by `python -m tests.generated_docs`. Change the commands. -->",
        "",
        *_wrapped(
            "Each is a file of [crawler/commands](../crawler/commands). All but `sitemap`, `simulate` and "
            "`urls --rules` read or write the crawl in `CRAWL_DIR`; name another with `-s CRAWL_DIR=DIR`. Every "
            "command takes Scrapy's global options, of which `-s NAME=VALUE` (a [setting](settings.md)), `-L LEVEL` "
            "and `--logfile FILE` are the useful ones. [Exit codes](operations.md#exit-codes) mean the same everywhere."
        ),
        "",
        "| command | what it does |",
        "|---|---|",
        *(f"| [`scrapy {name}`](#scrapy-{name}) | {command.short_desc()} |" for name, command in found.items()),
    ]
    for name, command in found.items():
        lines += ["", f"## scrapy {name}", "", "```text", f"scrapy {name} {command.syntax()}", "```", ""]
        lines += _described(command.long_desc())
        if rows := list(_option_rows(command)):
            lines += ["| option | meaning |", "|---|---|", *rows]
        else:
            lines.pop()
    return "\n".join(lines) + "\n"


def documented_commands() -> Mapping[str, ScrapyCommand]:
    """Return name → command, of all commands of this project but those that name another or are Scrapy's."""
    found: dict[str, ScrapyCommand] = {}
    for module in pkgutil.iter_modules(commands.__path__):
        for value in vars(importlib.import_module(f"crawler.commands.{module.name}")).values():
            if (
                isinstance(value, type)
                and issubclass(value, ScrapyCommand)
                and not issubclass(value, OtherName | ScrapysCommand)
                and value.__module__ == f"crawler.commands.{module.name}"
            ):
                found[module.name] = value()
                found[module.name].settings = Settings()
    return found


def parser_of(command: ScrapyCommand) -> argparse.ArgumentParser:
    """Return a command's parser with the global options, as Scrapy builds it."""
    parser = argparse.ArgumentParser(conflict_handler="resolve", exit_on_error=False)
    command.add_options(parser)
    return parser


def _described(text: str) -> Iterator[str]:
    for paragraph in text.split("\n\n"):
        example = _EXAMPLES.search(paragraph)
        prose = paragraph if example is None else paragraph[: example.start()]
        yield from _wrapped(_escaped(" ".join(prose.split())))
        yield ""
        if example is not None:
            calls = " ".join(example[1].split()).split("; ")
            yield from ("```sh", *(line for call in calls for line in _shell_lines(call)), "```", "")


def own_options(command: ScrapyCommand) -> list[argparse.Action]:
    """Return the options of a command without those that all commands of Scrapy have."""
    usual = argparse.ArgumentParser()
    ScrapyCommand.add_options(command, usual)
    scrapys = {word for action in usual._actions for word in action.option_strings}
    return [action for action in parser_of(command)._actions if scrapys.isdisjoint(action.option_strings)]


def _option_rows(command: ScrapyCommand) -> Iterator[str]:
    for action in own_options(command):
        yield f"| {_option(action)} | {_escaped((action.help or '') % vars(action))} |"


def _option(action: argparse.Action) -> str:
    value = action.metavar if isinstance(action.metavar, str) else None
    if value is None and action.choices is not None:
        value = "{" + ",".join(action.choices) + "}"
    words = ", ".join(action.option_strings) + (f" {value}" if value and action.nargs != 0 else "")
    return f"`{words}`"


# ── Text ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _wrapped(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(text, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def _shell_lines(call: str) -> list[str]:
    """Return a call, on several lines if it is long."""
    lines = textwrap.wrap(call, WIDTH - 2, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    return [*(f"{line} \\" for line in lines[:-1]), lines[-1]]


def _sentence(text: str) -> str:
    """Return a text with a capital letter and a full stop; "" stays empty.

    >>> _sentence("seconds; 0 = no limit"), _sentence("module:function to call"), _sentence("")
    ('Seconds; 0 = no limit.', 'module:function to call.', '')
    """
    text = re.sub(r"^[0-9]+\. ", "", text)
    if not text:
        return ""
    is_word = _WORD.match(text) is not None and text.split()[0].rstrip(",") not in _VALUES
    capital = text[0].upper() + text[1:] if is_word else text
    return capital if capital.endswith(".") else f"{capital}."


_WORD = re.compile(r"[a-z]+[,;:]?(?: |$)")
_VALUES = frozenset(["auto"])  # words in lower case that may begin a text


def _escaped(text: str) -> str:
    """Return Markdown that shows a text unchanged, with names of settings and options as code."""
    text = text.replace("|", "\\|").replace("*", "\\*").replace("<", "&lt;")
    parts = text.split("`")  # every second one is code already
    return "`".join(part if place % 2 else _CODE.sub(r"`\g<0>`", part) for place, part in enumerate(parts))


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path.relative_to(ROOT)}")
