"""The access log of the politeness proof: one tab-separated line for each request."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple


class Entry(NamedTuple):
    """One request, as the server saw it."""

    t0: float  # when its first byte had been read
    t1: float  # when the last byte of the answer was about to be sent, or the client was found to have disconnected
    host: str
    target: str
    status: int = 200  # 0 = the connection was closed without an answer
    aborted: bool = False  # the client disconnected before the answer ended
    not_before: float = 0.0  # when the answer allows the next request, by Retry-After
    connection: int = 0
    port: int = 0  # the client's
    address: str = ""  # the server's
    server_port: int = 0

    def line(self) -> str:
        return (
            f"{self.t0:.6f}\t{self.t1:.6f}\t{self.host}\t{self.target}\t{self.status}\t{self.aborted:d}\t"
            f"{self.not_before:.6f}\t{self.connection}\t{self.port}\t{self.address}\t{self.server_port}\n"
        )


def steady_clock() -> Callable[[], float]:
    """Return a clock of seconds since the epoch that never jumps. The largest of several offsets is the most exact."""
    offset = max(time.time() - time.monotonic() for _ in range(20))
    return lambda: offset + time.monotonic()


def read_log(path: Path) -> list[Entry]:
    """Read all entries whose lines are complete, in order of their start times."""
    lines = path.read_text().splitlines(keepends=True) if path.exists() else []
    return sorted(_entry(line) for line in lines if line.endswith("\n"))


def _entry(line: str) -> Entry:
    t0, t1, host, target, status, aborted, not_before, connection, port, address, server_port = line.rstrip("\n").split(
        "\t"
    )
    return Entry(
        float(t0),
        float(t1),
        host,
        target,
        int(status),
        aborted == "1",
        float(not_before),
        int(connection),
        int(port),
        address,
        int(server_port),
    )
