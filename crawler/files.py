"""Files that are whole or absent, locks that one process holds, and directories that survive a power cut."""

from __future__ import annotations

import os
from pathlib import Path

from crawler.errors import DiskTrouble


def sync_directory(directory: Path) -> None:
    """Make what was renamed in it durable."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_whole(path: Path, text: str) -> None:
    """Write a file so that nobody ever sees half of it."""
    part = path.with_name(path.name + ".part")
    try:
        with part.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        raise DiskTrouble(f"{path}: cannot be written ({error.strerror}).") from error
