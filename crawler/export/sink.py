"""The interface of export sinks, and the checkpoint that lets an export resume."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import msgspec

from crawler.errors import BadInput, CrawlError, DiskTrouble
from crawler.files import write_atomically
from crawler.items import ExportEntry, RejectedDocument


class SinkDown(CrawlError):
    """A sink cannot take entries now, but may later. The checkpoint still covers what it has acknowledged."""

    exit_code = 69


class Sink(Protocol):
    """Receives documents and deletions in the order of their versions.

    After a kill the same entries may come again: an entry replaces an earlier one with the same id.
    """

    acknowledge_every: int  # entries between two acknowledgements, unless the caller wants another number

    def put(self, entry: ExportEntry) -> None:
        """Accept an entry, perhaps only into memory. `SinkDown` if that is impossible."""

    def acknowledge(self) -> Sequence[RejectedDocument]:
        """Make everything that was put durable, and return the documents that were refused.

        `SinkDown` if it is not known to be durable.
        """

    def close(self) -> None:
        """Release files and connections; entries that were not acknowledged may be lost."""


class Checkpoint(msgspec.Struct, frozen=True, kw_only=True):
    """The version up to which a target has everything, and of which export."""

    crawl: str  # identity of the crawl whose change feed the version belongs to
    to: str  # the target, as in --to
    selection: str  # of documents and fields, as JSON
    version: int
    mark: str = ""  # fingerprint of that version of the feed: differs if the crawl was restored from an older backup


def read_checkpoint(path: Path) -> Checkpoint | None:
    """The checkpoint in this file; None if there is none yet, `BadInput` if it cannot be read."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Checkpoint)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError) as error:
        raise BadInput(
            f"{path}: this is no checkpoint of an export ({error}). Nothing was exported; remove the file and give "
            "--full."
        ) from error


def write_checkpoint(path: Path, checkpoint: Checkpoint) -> None:
    """Replace the checkpoint atomically and durably."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with write_atomically(path) as file:
            file.write(msgspec.json.encode(checkpoint) + b"\n")
    except OSError as error:
        raise DiskTrouble(
            f"{path}: cannot be written ({error.strerror}). The sink has more than is noted here; it will get some of "
            "it again."
        ) from error
