"""What somebody who takes the collection must be able to do, and what it has when all else is lost."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import msgspec

from crawler.errors import BadInput, CrawlError, DiskTrouble
from crawler.files import write_atomically
from crawler.items import ExportEntry, RejectedDocument


class SinkDown(CrawlError):
    """It did not take what it was given, and may take it later. What it has acknowledged stays noted."""

    exit_code = 69


class Sink(Protocol):
    """Takes documents and deletions in the order of their versions.

    The same may come again after a kill: what is put is keyed by its id, and the later version holds.
    """

    every: int  # entries between two acknowledgements

    def put(self, entry: ExportEntry) -> None:
        """Take one, perhaps only into memory. `SinkDown` if that cannot be."""

    def acknowledge(self) -> Sequence[RejectedDocument]:
        """When this returns, all that was put is safe there, but for these. `SinkDown` if it is not known to be."""

    def close(self) -> None:
        """Let go of files and connections; what was not acknowledged may be lost."""


class Checkpoint(msgspec.Struct, frozen=True, kw_only=True):
    """How far a sink has come."""

    crawl: str  # whose versions these are
    to: str  # the sink
    selection: str  # what it is to have
    version: int  # up to which it has everything
    mark: str = ""  # what tells that version from one by the same number, if the crawl was set back


def read_checkpoint(path: Path) -> Checkpoint | None:
    """None if there is none yet."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Checkpoint)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError) as error:
        raise BadInput(
            f"{path}: this is no checkpoint of an export ({error}). Nothing was exported; remove the file and give --full."
        ) from error


def write_checkpoint(path: Path, checkpoint: Checkpoint) -> None:
    """Whole and on the disk, or as it was before."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with write_atomically(path) as file:
            file.write(msgspec.json.encode(checkpoint) + b"\n")
    except OSError as error:
        raise DiskTrouble(
            f"{path}: cannot be written ({error.strerror}). The sink has more than is noted here; it will get some of it again."
        ) from error
