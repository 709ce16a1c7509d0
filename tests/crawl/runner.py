"""Run `scrapy` as a user does: a process of its own, in the project, with settings on the command line."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import apsw

from tests.webgraph.server import Served

ROOT = Path(__file__).resolve().parents[2]


def scrapy(*words: str, timeout: float = 60, cwd: Path = ROOT, **settings: object) -> subprocess.CompletedProcess[str]:
    """Run a command that ends by itself."""
    return subprocess.run(
        command(*words, **settings), cwd=cwd, timeout=timeout, capture_output=True, text=True, check=False
    )


def command(*words: str, **settings: object) -> list[str]:
    given = [word for name, value in settings.items() for word in ("-s", f"{name}={value}")]
    return [sys.executable, "-m", "scrapy", *words, *given]


def polite_to(served: Served, directory: Path, **settings: object) -> dict[str, object]:
    """Return settings for a crawl of a generated web, with short delays, because the hosts are our own."""
    return {
        "CRAWL_DIR": directory,
        "OWN_HOSTS": "*.test",
        "INTRANET_HOSTS": "*.test",
        "INTRANET_NETWORKS": "127.0.0.0/8",
        "DNS_HOSTS": served.hosts_file,
        "POLITENESS_MIN_DELAY": 0.05,
        "POLITENESS_LATENCY_FACTOR": 1,
        "RETRY_DELAY": 0.2,
        "ROBOTS_RETRY_DELAY": 0.2,
        "CRAWL_HORIZON": 5,
        "LOG_LEVEL": "WARNING",
        "SITEMAPS": False,  # this web has none
        "PROBE_AFTER": 0,
    } | settings


def seeds_file(served: Served, directory: Path) -> Path:
    path = directory / "seeds.txt"
    path.write_text("\n".join(served.web.seeds()) + "\n", encoding="utf-8")
    return path


@contextmanager
def crawling(
    *words: str, output: Path, environment: Mapping[str, str] | None = None, **settings: object
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a crawl in the background; it is killed at the end of the test."""
    with output.open("ab") as log:
        process = subprocess.Popen(
            command(*words, **settings), cwd=ROOT, env=environment, stdout=log, stderr=subprocess.STDOUT
        )
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()
            process.wait()


def rows(directory: Path, statement: str, values: Sequence[object] = ()) -> list[tuple[object, ...]]:
    """Query the store from outside."""
    connection = apsw.Connection(str(directory / "crawl.db"))
    try:
        connection.set_busy_timeout(10_000)
        connection.pragma("query_only", 1)
        return list(connection.execute(statement, values))  # type: ignore[arg-type]
    finally:
        connection.close()


def kill_all(process: subprocess.Popen[bytes]) -> None:
    """Kill a crawl and all its workers at the same moment."""
    try:
        workers = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    except OSError:
        workers = []
    for pid in [process.pid, *map(int, workers)]:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
