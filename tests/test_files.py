"""A file is written completely or not at all."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from crawler import files
from crawler.errors import DiskTrouble
from crawler.files import write_atomically, write_text_atomically


def test_a_file_appears_under_its_name_only_when_it_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with write_atomically(path) as file:
        file.write(b"whole")
        assert not path.exists()
    assert path.read_bytes() == b"whole"
    assert [found.name for found in tmp_path.iterdir()] == ["file"]


def test_a_failure_while_writing_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"before")
    with pytest.raises(ZeroDivisionError), write_atomically(path) as file:
        file.write(bytes([1 // (file.tell())]))
    assert path.read_bytes() == b"before"
    assert [found.name for found in tmp_path.iterdir()] == ["file"]


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(DiskTrouble, match="absent/file: cannot be written"):
        write_text_atomically(tmp_path / "absent" / "file", "text")


def test_a_text_file_needs_no_readable_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(directory: Path) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(directory))

    monkeypatch.setattr(files, "sync_directory", refuse)  # root may read every directory
    write_text_atomically(tmp_path / "file", "text")
    assert (tmp_path / "file").read_text() == "text"
    with pytest.raises(PermissionError), write_atomically(tmp_path / "file"):
        pass
