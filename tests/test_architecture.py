"""The package has four floors: imports point down, and no public class name is used twice."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1] / "crawler"
FILES = sorted(ROOT.rglob("*.py"))
NAMES = [str(path.relative_to(ROOT)) for path in FILES]

GROUND = {"items", "errors", "files", "clock", "system"}  # all floors may import these
STAGES = {"frontier", "fetch", "parse", "duplicates", "archive", "export", "search", "focus"}
STORES = {"stores"}
ENGINES = ("crawler.stores.sqlite",)  # reached only through the contract and `crawler.stores.open`
# The second floor: each part with those of its own floor that it may import.
CRAWL = {
    "monitor": set(),
    "options": set(),
    "content": {"monitor", "options"},
    "collection": {"monitor", "options", "content"},
    "worker": {"monitor", "options", "content", "collection"},
    "report": {"monitor", "options", "content", "collection", "worker"},
    "simulation": {"monitor", "options", "content", "collection", "worker"},
}
SCRAPY_SIDE = {
    "spiders", "engine", "middlewares", "pipelines", "extensions", "commands", "settings", "addon", "demo", "__main__",
}  # fmt: skip
# The modules that may be directly in the package.
TOP = {"__init__", "settings", "options", "items", "errors", "files", "clock", "system", "demo", "addon", "__main__"}

FRAMEWORKS = {"scrapy", "twisted"}  # only the first floor may import these
# What not every system has; only `crawler.system` may ask for it.
PLATFORM = re.compile(r"\bimport (?:fcntl|resource)\b|sched_|prctl|/proc\b|[gs]etrlimit|getrusage|os\.sysconf|flock\(")
EVENT_LOOPS = {"asyncio", "uvloop"}  # only the first two floors may import these
CLOCKS = {"time.time", "time.monotonic", "datetime.now", "datetime.utcnow"}


def part_of(path: Path) -> str:
    """Return the folder or file directly below the package."""
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
    """Return the imported modules, without the packages that contain them."""
    found = {name for name in imports_of(path) if name in modules}
    return {name for name in found if not any(other.startswith(f"{name}.") for other in found)}


def parts_imported(path: Path) -> set[str]:
    return {name.split(".")[1] for name in imports_of(path) if name.startswith("crawler.")} - {part_of(path)}


def allowed_in(part: str) -> set[str]:
    if part in GROUND:
        return GROUND
    if part == "urls":
        return GROUND
    if part in STAGES:
        return GROUND | {"urls"}
    if part in STORES:
        return GROUND | {"urls"} | STAGES
    if part in CRAWL:
        below = GROUND | {"urls"} | STAGES | STORES
        return (GROUND | {"urls", "frontier", "focus", "stores"} if part == "monitor" else below) | CRAWL[part]
    return {part_of(path) for path in FILES}


def test_every_part_of_the_package_has_a_floor() -> None:
    known = GROUND | {"urls"} | STAGES | STORES | set(CRAWL) | SCRAPY_SIDE | {"__init__"}
    assert {part_of(path) for path in FILES} <= known


def test_only_known_modules_are_directly_in_the_package() -> None:
    assert {path.stem for path in ROOT.glob("*.py")} <= TOP


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_imports_point_down(path: Path) -> None:
    assert parts_imported(path) <= allowed_in(part_of(path))


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_no_module_imports_the_bare_package(path: Path) -> None:
    assert "crawler" not in imports_of(path)


@pytest.mark.parametrize("path", [path for path in FILES if part_of(path) not in SCRAPY_SIDE], ids=str)
def test_only_the_first_floor_imports_scrapy(path: Path) -> None:
    assert not {name.split(".")[0] for name in imports_of(path)} & FRAMEWORKS


@pytest.mark.parametrize("path", [path for path in FILES if part_of(path) != "system"], ids=str)
def test_only_one_module_asks_for_what_not_every_system_has(path: Path) -> None:
    assert not PLATFORM.search(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "path", [path for path in FILES if part_of(path) in STAGES | STORES | {"urls", "items"}], ids=str
)
def test_stages_and_stores_use_no_event_loop_and_no_clock(path: Path) -> None:
    assert not {name.split(".")[0] for name in imports_of(path)} & EVENT_LOOPS
    calls = {ast.unparse(node.func) for node in ast.walk(tree_of(path)) if isinstance(node, ast.Call)}
    assert not calls & CLOCKS


def test_code_under_a_virtual_clock_uses_no_event_loop() -> None:
    session = ROOT / "worker" / "session.py"  # owns the store's thread; a simulation has another
    for path in {*(ROOT / "worker").glob("*.py"), *(ROOT / "simulation").glob("*.py")} - {session}:
        assert not {name.split(".")[0] for name in imports_of(path)} & EVENT_LOOPS, path


@pytest.mark.parametrize("path", [path for path in FILES if part_of(path) not in STORES], ids=str)
def test_only_the_stores_import_an_engine(path: Path) -> None:
    assert not [name for name in imports_of(path) if name.startswith(ENGINES)]


def test_there_is_no_circle_of_imports() -> None:
    modules = {module_of(path): path for path in FILES}
    imported = {module: modules_imported(path, modules) - {module} for module, path in modules.items()}
    # Remove modules that import none of the remaining ones, until nothing or a circle remains.
    while free := [module for module, names in imported.items() if not names & imported.keys()]:
        for module in free:
            del imported[module]
    assert sorted(imported) == []


def test_no_public_class_name_is_used_twice() -> None:
    modules_by_class: dict[str, list[str]] = defaultdict(list)
    for path in FILES:
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                modules_by_class[node.name].append(module_of(path))
    assert {name: modules for name, modules in modules_by_class.items() if len(modules) > 1} == {}
