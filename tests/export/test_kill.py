"""After kill -9 in the middle of writing, every file with its final name is complete."""

from __future__ import annotations

import io
import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

import pyarrow.parquet as pq
import pytest

from crawler.export.directory import last_version
from crawler.export.formats import FORMATS
from crawler.items import Key, identifier
from tests.export.endless import END, EVERY, GONE
from tests.export.trec_reader import text_records, web_records

KILLS = 5
_VERSION = re.compile(rf"([0-9]+) {END}")


def of_lines(data: bytes) -> list[int]:
    return [json.loads(line)["version"] for line in data.decode().splitlines()]


def of_collection(data: bytes) -> list[int]:
    return [_version_in(json.loads(line)["contents"]) for line in data.decode().splitlines()]


def of_parquet(data: bytes) -> list[int]:
    table = pq.read_table(io.BytesIO(data))
    assert len(table.column("text").to_pylist()) == table.num_rows
    return [int(version) for version in table.column("version").to_pylist()]


def of_web(data: bytes) -> list[int]:
    return [_version_in(record.body) for record in web_records(data)]


def of_text(data: bytes) -> list[int]:
    return [_version_in(record.body) for record in text_records(data)]


def _version_in(text: str) -> int:
    found = _VERSION.findall(text)
    assert len(found) == 1
    return int(found[0])


def run_and_kill(what: str, directory: Path, entries: int) -> None:
    """Kill a process while it writes, after it has printed that it put this many entries."""
    command = [sys.executable, "-m", "tests.export.endless", what, str(directory)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for _ in range(entries):
            assert process.stdout.readline()
        process.kill()
        process.stdout.read()
    assert process.returncode == -signal.SIGKILL


@pytest.mark.parametrize(
    ("name", "versions_in"),
    [
        ("jsonl", of_lines),
        ("parquet", of_parquet),
        ("jsoncollection", of_collection),
        ("trecweb", of_web),
        ("trectext", of_text),
    ],
)
def test_increments_are_complete_and_follow_each_other(
    name: str, versions_in: Callable[[bytes], list[int]], tmp_path: Path
) -> None:
    form, chance, last = FORMATS[name], Random(name), 0
    for _ in range(KILLS):
        run_and_kill(name, tmp_path, chance.randrange(EVERY + 1, 6 * EVERY))
        last = 0
        for path in sorted(tmp_path.glob(f"*.{form.suffix}")):
            first, last = (int(part) for part in path.stem.split("-"))
            put = range(first + 1, last + 1)
            gone = [identifier(Key(version - 1, 0)) for version in put if version % GONE == 0]
            if form.has_deletions:
                assert versions_in(path.read_bytes()) == list(put)
            else:
                assert versions_in(path.read_bytes()) == [version for version in put if version % GONE]
                assert path.with_suffix(".deleted").read_text().split() == gone
        assert last_version(tmp_path, form.suffix) == last
        assert all(int(path.stem.split("-")[1]) == int(path.stem.split("-")[0]) + EVERY for path in tmp_path.glob("0*"))
    assert last >= KILLS * EVERY


def test_files_of_a_markdown_directory_are_complete(tmp_path: Path) -> None:
    chance = Random(3)
    for _ in range(KILLS):
        put = chance.randrange(EVERY, 8 * EVERY)
        run_and_kill("markdown", tmp_path, put)
        found = {path.stem: path.read_text() for path in tmp_path.rglob("*.md")}
        for text in found.values():
            assert text.startswith("---\n")
            (version,) = re.findall(r"^version: ([0-9]+)$", text, re.MULTILINE)
            assert int(version) == _version_in(text)
            assert text.endswith(f"{END}\n")
        expected = {identifier(Key(n, 0)) for n in range(1, put + 1) if n % GONE not in (0, GONE - 1)}
        assert expected <= found.keys()
