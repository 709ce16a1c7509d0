"""Files that are complete or absent, and directories that survive a power cut."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import IO, Any, BinaryIO

from crawler.errors import DiskTrouble

_PACKAGE = "crawler"
PART = ".part"  # ending of a file's name until the file is complete
PLACE = Path("workers") / "place"  # in a crawl directory: the identifier by which its store knows it


@contextmanager
def write_atomically(path: Path, *, is_durable: bool = True) -> Iterator[BinaryIO]:
    """Open a file that replaces `path` when the block ends, complete and on the disk.

    If the block fails, what was at `path` stays as it was. If it need not be durable, a power cut may bring that back,
    and the directory need not be readable. `OSError` is the caller's to explain.
    """
    part = path.with_name(path.name + PART)
    try:
        with part.open("wb") as file:
            yield file
            sync_file(file)
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    if is_durable:
        sync_directory(path.parent)


def write_text_atomically(path: Path, text: str) -> None:
    """Write a text file that no reader ever sees half of; `DiskTrouble` if that fails."""
    try:
        with write_atomically(path, is_durable=False) as file:
            file.write(text.encode("utf-8"))
    except OSError as error:
        raise DiskTrouble(f"{path}: cannot be written ({error.strerror}).") from error


def sync_file(file: IO[Any]) -> None:
    """Make what was written to a file durable."""
    file.flush()
    os.fsync(file.fileno())


def sync_directory(directory: Path) -> None:
    """Make creations, renames and deletions in a directory durable."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def data_folder(name: str) -> Path:
    """Return a folder of data/: it comes with the installed package, or lies beside it in a checkout."""
    package = Path(str(files(_PACKAGE)))
    installed = package / "data" / name
    return installed if installed.is_dir() else package.parent / "data" / name
