"""Collect from the code the public names on which scripts, dashboards and cron jobs rely.

They are listed in surfaces.txt; a change of that list is a change for users. `python -m tests.surfaces` writes it anew.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from scrapy.commands import ScrapyCommand
from scrapy.settings import Settings

from crawler import commands, errors
from crawler import settings as project
from crawler.export.fields import FIELDS
from crawler.items import Kind, Outcome, Reason, State, Tier
from crawler.monitor.prometheus import LastRun, RunCollector
from tests.extensions.test_metrics import VITALS, run

LIST = Path(__file__).with_name("surfaces.txt")
ROOT = Path(__file__).resolve().parents[1] / "crawler"
_COUNTING = ("inc_value", "set_value", "max_value", "count", "tell")
_LEVELS = ("debug", "info", "warning", "error", "exception", "critical")


def surfaces() -> Mapping[str, list[str]]:
    """Return all public names, by kind."""
    return {
        "Settings": sorted(name for name in vars(project) if name.isupper()),
        "Commands and their options": sorted(_commands()),
        "Exit codes": sorted(_exit_codes()),
        "Metrics": sorted(set(_metrics())),
        "Stats": sorted(_stats()),
        "Log lines": sorted(_log_lines()),
        "Exported fields": list(FIELDS),
        "Codes in the store": [
            f"{kind.__name__} {member.value} {member.name}"
            for kind in (State, Kind, Outcome, Tier, Reason)
            for member in kind
        ],
    }


def text_of(found: Mapping[str, list[str]]) -> str:
    return "\n\n".join("\n".join([f"# {title}", *lines]) for title, lines in found.items()) + "\n"


def _commands() -> Iterator[str]:
    for module in pkgutil.iter_modules(commands.__path__):
        for value in vars(importlib.import_module(f"crawler.commands.{module.name}")).values():
            if (
                isinstance(value, type)
                and issubclass(value, ScrapyCommand)
                and value.__module__ == f"crawler.commands.{module.name}"
            ):
                yield f"{module.name} {' '.join(sorted(_options(value())))}"


def _options(command: ScrapyCommand) -> Iterator[str]:
    usual, ours = argparse.ArgumentParser(), argparse.ArgumentParser(conflict_handler="resolve")
    command.settings = Settings()
    ScrapyCommand.add_options(command, usual)
    command.add_options(ours)
    scrapys = {word for action in usual._actions for word in action.option_strings}
    yield from (word for action in ours._actions for word in action.option_strings if word not in scrapys)


def _exit_codes() -> Iterator[str]:
    for name, value in vars(errors).items():
        if isinstance(value, type) and issubclass(value, errors.CrawlError):
            yield f"{value.exit_code:2} {name}"
    yield f"{errors.FINISHED_BADLY:2} finished, but over the error budget"


def _metrics() -> Iterator[str]:
    """Yield the names and labels of the metrics of a run."""
    ended = LastRun(at=1.0, exit_code=0, seconds=1.0)
    for family in RunCollector(run(), lambda: VITALS, started=1.0, ended=ended).collect():
        for sample in family.samples:
            yield " ".join([sample.name, *sorted(sample.labels)])


def _calls() -> Iterator[ast.Call]:
    for path in sorted(ROOT.rglob("*.py")):
        yield from (node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call))


def _name(call: ast.Call) -> str:
    return ast.unparse(call.func).rpartition(".")[2]


def _stats() -> set[str]:
    texts = {_literal(call.args[0]) for call in _calls() if _name(call) in _COUNTING and call.args}
    return {text for text in texts if text is not None and "/" in text.strip("/")}


def _log_lines() -> set[str]:
    calls = (call for call in _calls() if _name(call) in _LEVELS and "logg" in ast.unparse(call.func) and call.args)
    return {text for call in calls if (text := _literal(call.args[0])) is not None}


def _literal(node: ast.expr) -> str | None:
    """Return a string as in the source, with … for interpolated values; None if it is no string."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values)
    return None


if __name__ == "__main__":
    LIST.write_text(text_of(surfaces()), encoding="utf-8")
