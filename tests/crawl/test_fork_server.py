"""A command that the fork server runs behaves as one in an interpreter of its own."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.crawl.runner import scrapy, scrapy_bytes, started

pytestmark = pytest.mark.crawl


@pytest.mark.parametrize(
    ("words", "code"),
    [(("status",), 69), (("urls", "--rules"), 0), (("why",), 2), (("crawl", "nobody"), 78)],
    ids=lambda given: " ".join(given) if isinstance(given, tuple) else "",
)
def test_a_forked_command_has_the_output_and_exit_code_of_a_started_one(
    words: tuple[str, ...], code: int, tmp_path: Path
) -> None:
    forked, alone = (run(*words, CRAWL_DIR=tmp_path / "x") for run in (scrapy, started))
    assert (forked.returncode, forked.stdout, forked.stderr) == (alone.returncode, alone.stdout, alone.stderr)
    assert forked.returncode == code


def test_a_forked_command_has_the_current_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCRAPY_PROJECT", "of another name")
    assert scrapy("status", CRAWL_DIR=tmp_path).returncode != 69
    monkeypatch.delenv("SCRAPY_PROJECT")
    assert scrapy("status", CRAWL_DIR=tmp_path).returncode == 69


def test_a_forked_command_reads_and_writes_the_given_streams(tmp_path: Path) -> None:
    with (tmp_path / "output").open("wb") as file:
        done = scrapy_bytes("urls", "-", given=b"http://a.example/", stdout=file.fileno(), CONTACT="me@a.example")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert (tmp_path / "output").read_bytes().startswith(b"http://a.example/\n")


def test_a_forked_command_that_takes_too_long_is_killed_and_the_next_one_runs(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "never written")
    with pytest.raises(subprocess.TimeoutExpired):
        scrapy("seed", str(tmp_path / "never written"), timeout=0.5, CRAWL_DIR=tmp_path / "x")
    assert scrapy("status", CRAWL_DIR=tmp_path / "nowhere").returncode == 69
