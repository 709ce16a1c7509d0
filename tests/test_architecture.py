"""Imports point down: the Scrapy side → stores → stages → items and urls."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1] / "crawler"
FILES = sorted(ROOT.rglob("*.py"))
STAGES = {"frontier", "fetch", "parse", "archive", "export", "duplicates", "search"}
GROUND = {"items", "errors", "files", "urls"}
PROPER = STAGES | GROUND | {"stores"}
# What only the Scrapy side may know: the framework and the event loop.
FRAMEWORKS = {"scrapy", "twisted", "asyncio", "uvloop"}
CLOCKS = {"time.time", "time.monotonic", "datetime.now", "datetime.utcnow"}


def part_of(path: Path) -> str:
    """The folder or file directly below the package."""
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imports_of(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module or ""
            if node.module == "crawler":
                yield from (f"crawler.{alias.name}" for alias in node.names)


def allowed_of(part: str) -> set[str]:
    if part in GROUND:
        return {"items", "errors", "files", part} | ({"urls"} if part == "urls" else set())
    if part in STAGES:
        return GROUND | {part}
    if part == "stores":
        return GROUND | STAGES | {"stores"}
    return {part_of(path) for path in FILES}


def test_there_is_something_to_check() -> None:
    assert PROPER - {part_of(path) for path in FILES} == set()


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_down(path: Path) -> None:
    allowed = allowed_of(part_of(path))
    inside = {name.split(".")[1] for name in imports_of(path) if name.startswith("crawler.")}
    assert inside <= allowed


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_nobody_imports_the_bare_package(path: Path) -> None:
    assert "crawler" not in imports_of(path)


@pytest.mark.parametrize(
    "path",
    [path for path in FILES if part_of(path) in {"messenger", "simulation"}],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_what_runs_under_a_virtual_clock_knows_no_framework(path: Path) -> None:
    assert not {name.split(".")[0] for name in imports_of(path)} & FRAMEWORKS


@pytest.mark.parametrize(
    "path", [path for path in FILES if part_of(path) in PROPER], ids=lambda path: str(path.relative_to(ROOT))
)
def test_the_crawler_proper_knows_no_framework_and_no_clock(path: Path) -> None:
    assert not {name.split(".")[0] for name in imports_of(path)} & FRAMEWORKS
    calls = {ast.unparse(node.func) for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)}
    assert not calls & CLOCKS
