"""The house has four floors: imports point down, nothing lies where it does not belong, no public class has two homes."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1] / "crawler"
FILES = sorted(ROOT.rglob("*.py"))
NAMES = [str(path.relative_to(ROOT)) for path in FILES]

GROUND = {"items", "errors", "files", "clock"}  # all floors may import these
STAGES = {"frontier", "fetch", "parse", "duplicates", "archive", "export", "search"}
STORES = {"stores"}
# The second floor, each room with those of its own floor that it may import.
CRAWL = {
    "monitor": set(),
    "options": set(),
    "content": {"monitor", "options"},
    "collection": {"monitor", "options", "content"},
    "worker": {"monitor", "options", "content", "collection"},
    "report": {"monitor", "options", "content", "collection", "worker"},
    "simulation": {"monitor", "options", "content", "collection", "worker"},
}
SCRAPY_SIDE = {"spiders", "engine", "middlewares", "pipelines", "extensions", "commands", "settings", "demo"}
# What may lie directly in the package; more than this is a heap.
TOP = {"__init__", "settings", "options", "items", "errors", "files", "clock", "demo", "addon", "__main__"}

FRAMEWORKS = {"scrapy", "twisted"}  # the first floor's only
EVENT_LOOPS = {"asyncio", "uvloop"}  # the first two floors'
CLOCKS = {"time.time", "time.monotonic", "datetime.now", "datetime.utcnow"}


def room_of(path: Path) -> str:
    """The folder or file directly below the package."""
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def module_of(path: Path) -> str:
    return ".".join(("crawler", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imports_of(path: Path) -> Iterator[str]:
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def modules_imported(path: Path, modules: Collection[str]) -> set[str]:
    """The modules themselves, not the packages in which they lie."""
    found = {name for name in imports_of(path) if name in modules}
    return {name for name in found if not any(other.startswith(f"{name}.") for other in found)}


def rooms_imported(path: Path) -> set[str]:
    return {name.split(".")[1] for name in imports_of(path) if name.startswith("crawler.")} - {room_of(path)}


def allowed_in(room: str) -> set[str]:
    if room in GROUND:
        return GROUND
    if room == "urls":
        return GROUND
    if room in STAGES:
        return GROUND | {"urls"}
    if room in STORES:
        return GROUND | {"urls"} | STAGES
    if room in CRAWL:
        below = GROUND | {"urls"} | STAGES | STORES
        return (GROUND | {"urls", "frontier", "stores"} if room == "monitor" else below) | CRAWL[room]
    return {room_of(path) for path in FILES}


def test_every_room_has_a_floor() -> None:
    known = GROUND | {"urls"} | STAGES | STORES | set(CRAWL) | SCRAPY_SIDE | {"__init__", "addon", "__main__"}
    assert {room_of(path) for path in FILES} <= known


def test_nothing_lies_in_the_package_that_has_a_room() -> None:
    assert {path.stem for path in ROOT.glob("*.py")} <= TOP


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_imports_point_down(path: Path) -> None:
    assert rooms_imported(path) <= allowed_in(room_of(path))


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_nobody_imports_the_bare_package(path: Path) -> None:
    assert "crawler" not in imports_of(path)


@pytest.mark.parametrize("path", [path for path in FILES if room_of(path) not in SCRAPY_SIDE], ids=str)
def test_only_the_first_floor_knows_scrapy(path: Path) -> None:
    assert not {name.split(".")[0] for name in imports_of(path)} & FRAMEWORKS


@pytest.mark.parametrize(
    "path", [path for path in FILES if room_of(path) in STAGES | STORES | {"urls", "items"}], ids=str
)
def test_stages_and_stores_know_no_event_loop_and_no_clock(path: Path) -> None:
    assert not {name.split(".")[0] for name in imports_of(path)} & EVENT_LOOPS
    calls = {ast.unparse(node.func) for node in ast.walk(tree_of(path)) if isinstance(node, ast.Call)}
    assert not calls & CLOCKS


def test_what_runs_under_a_virtual_clock_knows_no_event_loop() -> None:
    for path in (ROOT / "worker" / "worker.py", *(ROOT / "simulation").glob("*.py")):
        assert not {name.split(".")[0] for name in imports_of(path)} & EVENT_LOOPS, path


def test_no_modules_import_each_other_in_a_circle() -> None:
    modules = {module_of(path): path for path in FILES}
    imported = {module: modules_imported(path, modules) - {module} for module, path in modules.items()}
    # What imports nothing that is left is taken away, until nothing or a circle is left.
    while free := [module for module, names in imported.items() if not names & imported.keys()]:
        for module in free:
            del imported[module]
    assert sorted(imported) == []


def test_no_public_class_name_is_used_twice() -> None:
    homes: dict[str, list[str]] = defaultdict(list)
    for path in FILES:
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(module_of(path))
    assert {name: modules for name, modules in homes.items() if len(modules) > 1} == {}
