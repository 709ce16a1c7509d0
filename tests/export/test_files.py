"""An exported file is complete or absent."""

from __future__ import annotations

import fcntl
import os
import stat
import threading
from pathlib import Path

import pytest

from crawler.errors import AlreadyRunning, DiskTrouble
from crawler.export.files import atomic_file, output_to
from crawler.files import PART


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "out.jsonl"


def names(directory: Path) -> list[str]:
    return sorted(found.name for found in directory.iterdir())


def test_a_file_gets_its_name_when_it_is_complete(path: Path) -> None:
    with atomic_file(path) as file:
        file.write(b"all")
        assert names(path.parent) == [path.name + PART]
    assert path.read_bytes() == b"all"
    assert names(path.parent) == [path.name]


def test_a_failure_leaves_what_was_there(path: Path) -> None:
    path.write_bytes(b"old")

    def fail() -> None:
        with atomic_file(path) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert path.read_bytes() == b"old"
    assert names(path.parent) == [path.name]


def test_an_unfinished_file_of_a_killed_process_is_reused(path: Path) -> None:
    path.with_name(path.name + PART).write_bytes(b"much that was left behind")
    with atomic_file(path) as file:
        file.write(b"new")
    assert path.read_bytes() == b"new"
    assert names(path.parent) == [path.name]


def test_two_exports_cannot_write_one_file(path: Path) -> None:
    part = path.with_name(path.name + PART)
    with part.open("wb") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        other.write(b"of another process")
        other.flush()
        with pytest.raises(AlreadyRunning, match="another export"), atomic_file(path):
            raise AssertionError("must not be reached")
    assert part.read_bytes() == b"of another process"


@pytest.mark.parametrize("where", ["no/such/directory/out", "."])
def test_a_place_that_cannot_be_written_is_one_clear_error(tmp_path: Path, where: str) -> None:
    with pytest.raises(DiskTrouble, match=f"{tmp_path / where}: cannot be written"), atomic_file(tmp_path / where):
        raise AssertionError("must not be reached")
    assert names(tmp_path) == []


def test_a_link_stays_a_link(tmp_path: Path, path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(path.name)
    with atomic_file(link) as file:
        file.write(b"all")
    assert link.is_symlink()
    assert path.read_bytes() == b"all"


def test_a_pipe_is_written_and_stays_a_pipe(path: Path) -> None:
    os.mkfifo(path)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(path.read_bytes()))
    reader.start()
    with output_to(str(path)) as file:
        file.write(b"all")
    reader.join()
    assert read == [b"all"]
    assert stat.S_ISFIFO(path.stat().st_mode)
    assert names(path.parent) == [path.name]
