"""Outputs for an export to a single file: the standard output, or a file that is written atomically."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import BinaryIO

from crawler.errors import AlreadyRunning, DiskTrouble
from crawler.files import PART, sync_directory, sync_file
from crawler.system import lock_file


def output_to(place: str) -> AbstractContextManager[BinaryIO]:
    """The standard output if the place is `-` or empty, else the file of this name."""
    return standard_output() if place in ("", "-") else atomic_file(Path(place))


@contextmanager
def standard_output() -> Iterator[BinaryIO]:
    """The standard output, flushed at the end of the block. BrokenPipeError if the reader has closed the pipe."""
    stream = sys.stdout.buffer
    try:
        yield stream
        stream.flush()
    except OSError as error:
        # At exit Python would try to write the rest of the buffer again, and print an error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            raise
        raise DiskTrouble(
            f"The standard output cannot be written ({error.strerror}); what came out is not all."
        ) from error


@contextmanager
def atomic_file(path: Path) -> Iterator[BinaryIO]:
    """A file that replaces an earlier one of this name only when it is complete and synced to the disk.

    A pipe or a device is written directly.
    """
    try:
        target = Path(os.path.realpath(path))  # replaces the target of a symbolic link, not the link
        if target.exists() and not target.is_file():
            with target.open("wb") as special:
                yield special
            return
        part = target.with_name(target.name + PART)
        file = _open_locked(part)
        try:
            yield file
            sync_file(file)
            part.replace(target)
            sync_directory(target.parent)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
        finally:
            file.close()
    except OSError as error:
        raise DiskTrouble(
            f"{path}: cannot be written ({error.strerror}). Nothing was exported, and a file that was there is as it "
            "was; check the directory and the disk."
        ) from error


def _open_locked(part: Path) -> BinaryIO:
    """Open, lock and empty the unfinished file; one that a killed process left is reused."""
    file = part.open("ab")
    try:
        # Another process may have finished and renamed it just now: then this is no longer the unfinished file.
        is_ours = lock_file(file) and os.path.samestat(os.fstat(file.fileno()), part.stat())
    except FileNotFoundError:
        is_ours = False
    except BaseException:
        file.close()
        raise
    if not is_ours:
        file.close()
        raise AlreadyRunning(f"{part}: another export is writing this file; nothing was changed. Wait for its end.")
    file.truncate(0)
    return file
