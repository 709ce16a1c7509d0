"""The files, links, commands, options, settings and examples in the documents exist."""

from __future__ import annotations

import ast
import importlib.util
import re
import shlex
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import pytest
from scrapy.settings import default_settings

from crawler import settings as project
from tests.generated_docs import DOCS, ROOT, documented_commands, documented_settings, pages, parser_of

README, ARCHITECTURE = ROOT / "README.md", ROOT / "ARCHITECTURE.md"
WRITTEN = [README, ARCHITECTURE, *sorted(DOCS.glob("*.md"))]
GENERATED = [DOCS / "settings.md", DOCS / "commands.md"]
SETTINGS = {name for name in vars(project) if name.isupper()}
COMMANDS = documented_commands()
SCRAPYS = {"genspider", "list", "settings", "shell", "startproject", "version"}  # commands of Scrapy's own
SCRAPYS_SETTINGS = {name for name in vars(default_settings) if name.isupper()}
README_BYTES, ARCHITECTURE_BYTES = 8_000, 9_000
PICTURE_BYTES = 200_000
COLUMNS = 120

_LITERAL = re.compile(r"  # (\([^)]*\), None|'[^']*'|True|False|[0-9.]+)(?=$|[,;:])")  # a result in a comment
_URL = re.compile(r"  # (https?:\S+)$")
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)", re.DOTALL)
_CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_PATH = re.compile(r"(?:[\w.-]+/)+[\w.-]*|[\w-]+\.(?:py|md|toml|cfg|txt|json|sd)")
_MADE = ("CRAWL_DIR/", "warc/", "workers/", "search/", "exports/", "feed/", "data/crawl", "data/demo/", "data/again")
_EXAMPLES = {"my.txt", "NAME.py", "../orbweaver", "shop/settings.py", "shop/spiders/prices.py"}  # of the reader
_MEDIA_TYPE = re.compile("(?:image|audio|video|font|application)/")
_MODULE = re.compile(r"(?:crawler|tests|benchmarks)(?:\.\w+)+")
_SETTING = re.compile(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b")
_NOT_SETTINGS = {  # upper-case words that are not settings
    "EXTRACTORS", "FORMATS", "TARGET_NAMES", "ORBWEAVER_EXPORT_AUTH", "REQUEST_TARGET", "PATH_AS_IS", "RLIMIT_NOFILE",
    "BEGIN_IMMEDIATE",
}  # fmt: skip


class Example(NamedTuple):
    document: Path
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.document.name}: {self.text.splitlines()[0] if self.text else ''}"


def examples_in(path: Path, *languages: str) -> list[Example]:
    found = _FENCE.finditer(path.read_text(encoding="utf-8"))
    return [Example(path, example[1], example[2]) for example in found if example[1] in languages]


def examples(*languages: str) -> list[Example]:
    return [example for path in WRITTEN for example in examples_in(path, *languages)]


def prose_of(path: Path) -> str:
    """Return the text of a document without its examples."""
    return _FENCE.sub("", path.read_text(encoding="utf-8"))


def anchors_of(path: Path) -> set[str]:
    """Return the anchors that GitHub makes of a document's headings.

    >>> sorted(anchors_of(README))[:1]
    ['commands']
    """
    headings = _HEADING.findall(prose_of(path))
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


def shell_lines(text: str, language: str) -> Iterator[str]:
    """Yield the lines that a user types: in a console only those with a prompt."""
    for line in text.replace("\\\n", " ").splitlines():
        if language == "console":
            if line.startswith("$ "):
                yield line[2:]
        elif line.strip():
            yield line


def calls_of(line: str) -> Iterator[list[str]]:
    """Yield the words of each program call in a line."""
    words: list[str] = []
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;<>")
    lexer.whitespace_split = True
    for word in lexer:
        if word in ("|", "&&", "||", ";", "&", ">", ">>", "<"):
            if words:
                yield words
            words = [">"] if word in (">", ">>", "<") else []
        else:
            words.append(word)
    if words:
        yield words


@pytest.mark.parametrize("path", GENERATED, ids=lambda path: path.name)
def test_generated_pages_are_current(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == pages()[path], "run: python -m tests.generated_docs"


def test_every_setting_is_documented_with_a_reason() -> None:
    documented = [setting for section in documented_settings().values() for setting in section]
    assert {setting.name for setting in documented} == SETTINGS
    assert [setting.name for setting in documented if len(setting.text.split()) < 3] == []


def test_every_command_is_documented() -> None:
    page, readme = (DOCS / "commands.md").read_text(encoding="utf-8"), README.read_text(encoding="utf-8")
    for name in COMMANDS:
        assert f"## scrapy {name}\n" in page
        assert f"`scrapy {name}" in readme, f"README has no line for scrapy {name}"


def test_every_document_is_linked_from_the_readme() -> None:
    linked = {target.partition("#")[0] for target in _LINK.findall(README.read_text(encoding="utf-8"))}
    assert {str(path.relative_to(ROOT)) for path in WRITTEN if path != README} <= linked


def test_the_first_documents_are_short() -> None:
    assert README.stat().st_size <= README_BYTES
    assert ARCHITECTURE.stat().st_size <= ARCHITECTURE_BYTES


@pytest.mark.parametrize("path", sorted((DOCS / "pictures").iterdir()), ids=lambda path: path.name)
def test_pictures_are_small_and_used(path: Path) -> None:
    assert path.stat().st_size < PICTURE_BYTES
    assert any(str(path.relative_to(ROOT)) in document.read_text(encoding="utf-8") for document in WRITTEN)


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: path.name)
def test_lines_fit_on_a_screen(path: Path) -> None:
    long = [
        line
        for line in path.read_text(encoding="utf-8").splitlines()
        if len(line) > COLUMNS and not line.startswith("|") and "](" not in line
    ]
    assert long == []


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: path.name)
def test_links_resolve(path: Path) -> None:
    for target in _LINK.findall(prose_of(path)):
        if re.match("[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        file = (path.parent / name).resolve() if name else path
        assert file.exists(), target
        if anchor:
            assert anchor in anchors_of(file), target


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: path.name)
def test_named_files_exist(path: Path) -> None:
    """Text in backticks that looks like a path is one, from the root of the project or of the package."""
    for words in _CODE.findall(prose_of(path)):
        if not _PATH.fullmatch(words) or _MEDIA_TYPE.match(words) or words in _EXAMPLES:
            continue
        if not words.startswith(_MADE):
            assert any((place / words).exists() for place in (ROOT, ROOT / "crawler", DOCS)), words


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: path.name)
def test_named_modules_exist(path: Path) -> None:
    """Dotted names of modules, classes and functions exist, and the modules of `python -m`."""
    for words in _CODE.findall(prose_of(path)):
        for name in _MODULE.findall(words.removeprefix("python -m ").split()[0]):
            module, _, member = name.rpartition(".")
            assert (
                find_spec(name) is not None if not member[:1].isupper() else hasattr(import_module(module), member)
            ), name


def find_spec(name: str) -> object | None:
    try:
        return importlib.util.find_spec(name)
    except ModuleNotFoundError:
        return None


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: path.name)
def test_named_settings_exist(path: Path) -> None:
    for words in _CODE.findall(prose_of(path)):
        if found := _SETTING.match(words):
            assert found[0] in SETTINGS | SCRAPYS_SETTINGS | _NOT_SETTINGS, words


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: path.name)
def test_named_commands_exist(path: Path) -> None:
    for words in _CODE.findall(prose_of(path)):
        if found := re.match(r"scrapy ([a-z]+)", words):
            assert found[1] in COMMANDS.keys() | SCRAPYS, words
        if found := re.match(r"make ([a-z-]+)", words):
            assert found[1] in make_targets(), words


def make_targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):(?!=)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


@pytest.mark.parametrize("example", examples("sh", "console"), ids=str)
def test_shell_examples_use_existing_commands_and_files(example: Example) -> None:
    for line in shell_lines(example.text, example.language):
        for words in calls_of(line):
            program, rest = words[0].rpartition("/")[2], words[1:]
            if program == "scrapy":
                check_scrapy(rest)
            elif program == "make":
                assert {word for word in rest if "=" not in word} <= make_targets(), line
            elif program == "python" and rest[:1] == ["-m"]:
                assert find_spec(rest[1]) is not None, line


def check_scrapy(words: list[str]) -> None:
    """Assert that a call has an existing command, existing options and existing settings."""
    if words[0] in SCRAPYS:
        return
    options, rest = parser_of(COMMANDS[words[0]]).parse_known_args(words[1:])
    assert [word for word in rest if word.startswith("-") and word != "-"] == [], words
    assert {pair.partition("=")[0] for pair in options.set} <= SETTINGS, words


# Those of docs/extending.md that need a project are run by a crawl of their own.
OF_A_PROJECT = ("scrapy", "class ", "import *")
PURE = [example for example in examples("python") if not any(mark in example.text for mark in OF_A_PROJECT)]


@pytest.mark.parametrize("example", PURE, ids=str)
def test_python_examples_without_a_crawl_run_with_the_results_in_their_comments(
    example: Example, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A comment behind an expression is its result if it is a literal, and what `print` prints if it is a URL."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "page.html").write_text("<title>Example</title><p>Some words, and <a href=b>a link</a>.")
    names: dict[str, object] = {}
    lines = example.text.splitlines()
    for node in ast.parse(example.text).body:
        if isinstance(node, ast.Expr):
            value = eval(ast.unparse(node), names)
            literal, url = (expected.search(lines[node.lineno - 1]) for expected in (_LITERAL, _URL))
            printed = capsys.readouterr().out
            assert literal is None or value == ast.literal_eval(literal[1])
            assert url is None or printed == f"{url[1]}\n"
        else:
            exec(ast.unparse(node), names)


@pytest.mark.parametrize("example", examples("python"), ids=str)
def test_python_examples_compile_and_import_existing_names(example: Example) -> None:
    tree = ast.parse(example.text)
    compile(tree, example.document.name, "exec")
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                import_module(alias.name)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            module = import_module(node.module)
            for alias in node.names:
                assert alias.name == "*" or hasattr(module, alias.name), f"{node.module}.{alias.name}"
