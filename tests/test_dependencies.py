"""What the package imports is a run-time dependency, what it does not import is none, and each has its reason."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions

from tests.generated_docs import DOCS, ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CARD = ("scrapy", "protego", "w3lib", "datasketch", "warcio", "lxml", "pytest")
BY_NAME = {"uvloop"}  # named in settings.py, for Scrapy to import
WITH_SCRAPY = {"twisted"}  # Scrapy's own interface


def canonical(name: str) -> str:
    return re.sub("[-_.]+", "-", name).lower()


def declared(requirements: list[str]) -> set[str]:
    return {canonical(re.split(r"[<>=!~;\[ ]", requirement)[0]) for requirement in requirements}


def imported() -> set[str]:
    """The distributions of the modules that the package imports, anywhere in its code."""
    modules = set()
    for path in (ROOT / "crawler").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                modules |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                modules.add((node.module or "").split(".")[0])
    modules -= {"crawler", *sys.stdlib_module_names}
    known = packages_distributions()
    return {canonical(known.get(module, [module])[0]) for module in modules}


def test_the_run_time_dependencies_are_what_the_package_imports() -> None:
    required = declared(PROJECT["dependencies"])
    optional = set().union(*(declared(names) for names in PROJECT["optional-dependencies"].values()))
    found = imported() - WITH_SCRAPY
    assert required - BY_NAME <= found
    assert found <= required | optional


def test_every_dependency_has_its_reason() -> None:
    page = (DOCS / "dependencies.md").read_text(encoding="utf-8")
    named = {
        canonical(name)
        for row in re.findall(r"^\| ([^|]+) \|", page, re.MULTILINE)
        for name in re.split(r",\s*|\s", re.sub(r"\(.*?\)", "", row))
    }
    everything = [PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()]
    assert set().union(*map(declared, everything)) <= named


def test_each_package_of_the_card_is_accounted_for() -> None:
    page = (DOCS / "dependencies.md").read_text(encoding="utf-8")
    section = page.partition("## The packages on the card")[2].partition("\n## ")[0]
    assert set(re.findall(r"^\| (\w+) \|", section, re.MULTILINE)) >= set(CARD)
