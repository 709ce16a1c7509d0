"""A crawl on a system that lacks a call of Linux: it goes on without, or says what is missing."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.crawl.pages import Pages, pages_served, seeds_of
from tests.crawl.runner import ROOT, command, rows

pytestmark = pytest.mark.crawl

SITE: Pages = {f"{name}.test": {"/": '<a href="/one">1</a>', "/one": f"<p>page of {name}"} for name in ("a", "b", "c")}
# What Python runs at the start of every process of the crawl.
TAKEN_AWAY = {
    "prctl": "import ctypes; ctypes.CDLL = lambda name: object()",
    "sched_getaffinity": "import os; del os.sched_getaffinity",
    "/proc": """
import pathlib
def hide(real):
    def read(path, *args, **kwargs):
        if str(path).startswith("/proc/"):
            raise FileNotFoundError(2, "No such file or directory", str(path))
        return real(path, *args, **kwargs)
    return read
pathlib.Path.read_text = hide(pathlib.Path.read_text)
pathlib.Path.read_bytes = hide(pathlib.Path.read_bytes)
""",
    "rlimits": """
import resource
def refuse(*args):
    raise ValueError("current limit exceeds maximum limit")
resource.setrlimit = refuse
""",
    "flock": """
import errno, fcntl
def refuse(*args):
    raise OSError(errno.ENOLCK, "No locks available")
fcntl.flock = refuse
""",
}


def crawl_without(call: str, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    (tmp_path / "start").mkdir()
    (tmp_path / "start" / "sitecustomize.py").write_text(TAKEN_AWAY[call])
    with pages_served(SITE, tmp_path) as (settings, _):
        seeds = seeds_of(SITE, settings.pop("port"))
        settings["CONTENT_PROCESSES"] = 1
        return subprocess.run(
            command("crawl", "web", "-a", f"seeds={seeds}", "--workers", "2", **settings), cwd=ROOT, timeout=120,
            env=os.environ | {"PYTHONPATH": str(tmp_path / "start")}, capture_output=True, text=True, check=False,
        )  # fmt: skip


@pytest.mark.parametrize(
    ("call", "said"),
    [("prctl", ""), ("sched_getaffinity", ""), ("/proc", ""), ("rlimits", "CONTENT_MAX_MEMORY has no effect")],
)
def test_a_crawl_needs_no_call_of_one_system(call: str, said: str, tmp_path: Path) -> None:
    ended = crawl_without(call, tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert said in ended.stderr
    assert bool(said) == bool(ended.stderr)
    assert rows(tmp_path / "crawl", "SELECT count(*) FROM documents WHERE kind = 0 AND status = 200") == [(6,)]


def test_a_crawl_without_locks_is_refused(tmp_path: Path) -> None:
    ended = crawl_without("flock", tmp_path)
    assert ended.returncode == 74
    assert "cannot lock files" in ended.stderr
    assert "local disk" in ended.stderr
    assert not (tmp_path / "crawl" / "crawl.db").exists()
