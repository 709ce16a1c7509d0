"""What libraries say while they read pages does not reach the terminal, and is shown if a command fails over it."""

from __future__ import annotations

import logging
import re
import subprocess
import sys
from collections import Counter
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions
from pathlib import Path

import pytest

from crawler.errors import BadInput
from crawler.monitor.library_output import LIBRARIES, count_library_messages

ROOT = Path(__file__).resolve().parents[2]
# Libraries whose messages are not about pages: Scrapy and the event loops log to the user; the others do not run.
OTHERS = {
    *("scrapy", "twisted", "zope", "uvloop", "apsw", "filelock", "setuptools", "pkg_resources", "packaging"),
    *("tldextract", "tqdm", "aiohttp", "requests", "pypdfium2_cli", "dateparser_cli"),
}
PROGRAM = """
import os, sys
from crawler.errors import BadInput
from crawler.monitor.library_output import quiet_libraries
print("before", file=sys.stderr)
try:
    with quiet_libraries():
        os.write(2, b"native words \\x1b[31m\\n")
        print("ours", file=sys.stderr)
        {ending}
except Exception as error:
    print(type(error).__name__, file=sys.stderr)
os.write(2, b"after\\n")
"""


def required(name: str, extras: tuple[str, ...] = ()) -> set[str]:
    """All distributions that one needs, and those which these need."""
    found: set[str] = set()
    waiting = [(name, extras)]
    while waiting:
        current, with_extras = waiting.pop()
        try:
            requirements = distribution(current).requires or []
        except PackageNotFoundError:
            continue
        for requirement in requirements:
            match = re.match(r"[\w.-]+", requirement)
            assert match is not None
            extra = re.search(r"extra == ['\"]([\w-]+)['\"]", requirement)
            other = re.sub("[-_.]+", "-", match[0]).lower()
            if (extra is None or extra[1] in with_extras) and other not in found:
                found.add(other)
                waiting.append((other, ()))
    return found


def test_every_library_that_logs_is_known() -> None:
    needed = required("orbweaver", ("datasketch", "extractors", "parquet"))
    logging_ones = set()
    for module, names in packages_distributions().items():
        if {re.sub("[-_.]+", "-", name).lower() for name in names} & needed:
            files = distribution(names[0]).files or []
            for file in files:
                if file.suffix == ".py" and file.parts[0] in (module, f"{module}.py") and "test" not in str(file):
                    text = Path(str(file.locate())).read_text(encoding="utf-8", errors="replace")
                    if "getLogger(" in text:
                        logging_ones.add(module)
                        break
    assert "pypdfium2" in logging_ones
    assert logging_ones - OTHERS <= set(LIBRARIES)


def test_log_records_are_counted_by_library(caplog: pytest.LogCaptureFixture) -> None:
    said: Counter[str] = Counter()
    for _ in range(2):  # a second crawl in the same process counts once
        said.clear()
        count_library_messages(said)
        logging.getLogger("pypdfium2._helpers.document").warning("Maximum recursion depth %d reached", 5)
        logging.getLogger("urllib3").error("gone")
        assert said == {"pypdfium2": 1, "urllib3": 1}
    logging.getLogger("a.users.own").warning("heard")
    assert caplog.messages == ["heard"]


@pytest.mark.parametrize(
    ("ending", "shown"),
    [
        ("pass", ["before", "ours", "after"]),
        ("raise BadInput('a known mistake')", ["before", "ours", BadInput.__name__, "after"]),
        ("raise RuntimeError('in the library')", ["before", "ours", "native words \\x1b[31m", "RuntimeError", "after"]),
    ],
)
def test_native_code_is_heard_only_if_the_command_fails_unexpectedly(ending: str, shown: list[str]) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(ending=ending)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert ended.stderr.splitlines() == shown


def test_without_a_place_for_temporary_files_commands_work(tmp_path: Path) -> None:
    program = PROGRAM.format(ending="pass").replace(
        "import os, sys", "import os, sys, tempfile; tempfile.tempdir = '/nowhere'"
    )
    ended = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ended.stderr.splitlines() == ["before", "native words \x1b[31m", "ours", "after"]
