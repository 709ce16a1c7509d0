"""Where exported bytes go: the standard output, or a file that is whole or not there."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import BinaryIO

from crawler.errors import AlreadyRunning, DiskTrouble
from crawler.files import PART, exclusive_lock, sync_directory, sync_file


def output_to(place: str) -> AbstractContextManager[BinaryIO]:
    """The standard output for `-` or nothing, else the file of this name."""
    return standard_output() if place in ("", "-") else whole_file(Path(place))


@contextmanager
def standard_output() -> Iterator[BinaryIO]:
    """Everything has left the process at the end of the block. BrokenPipeError if nobody reads any more."""
    stream = sys.stdout.buffer
    try:
        yield stream
        stream.flush()
    except OSError as error:
        # At its end Python would write once more what could not be written, and complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            raise
        raise DiskTrouble(
            f"The standard output cannot be written ({error.strerror}); what came out is not all."
        ) from error


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A file that gets its name when it is complete and on the disk; until then the name means what it meant before.

    What is not a file, such as a pipe or a device, is written as it is.
    """
    try:
        target = Path(os.path.realpath(path))  # behind a link: the link stays
        if target.exists() and not target.is_file():
            with target.open("wb") as special:
                yield special
            return
        part = target.with_name(target.name + PART)
        file = _claimed(part)
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
            f"{path}: cannot be written ({error.strerror}). Nothing was exported, and a file that was there is as it was; "
            "check the directory and the disk."
        ) from error


def _claimed(part: Path) -> BinaryIO:
    """The unfinished file, empty and ours alone; one that a killed process left is taken over."""
    file = part.open("ab")
    try:
        # Who had it before may have finished it just now: then this is no longer the unfinished file.
        is_ours = exclusive_lock(file) and os.path.samestat(os.fstat(file.fileno()), part.stat())
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
