"""Run `scrapy` as a user does: in a process of its own, in the project, with settings on the command line.

Most commands run in a fork server that has imported the program; `started` and `crawling` start an interpreter.
"""

from __future__ import annotations

import atexit
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile

import apsw

from tests.crawl.fork_server import ForkServer
from tests.webgraph.server import Served

ROOT = Path(__file__).resolve().parents[2]
FORK_SERVER = ForkServer()
atexit.register(FORK_SERVER.close)


def scrapy(*words: str, timeout: float = 60, **settings: object) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    ended = scrapy_bytes(*words, timeout=timeout, **settings)
    return subprocess.CompletedProcess(ended.args, ended.returncode, ended.stdout.decode(), ended.stderr.decode())


def scrapy_bytes(
    *words: str, given: bytes = b"", stdout: int | None = None, timeout: float = 60, **settings: object
) -> subprocess.CompletedProcess[bytes]:
    """Run a command to its end, and return its output as bytes; `stdout` is a file for its output, if given."""
    arguments = command(*words, **settings)[3:]
    with TemporaryFile() as stdin, TemporaryFile() as output, TemporaryFile() as errors:
        stdin.write(given)
        stdin.seek(0)
        streams = (stdin.fileno(), output.fileno() if stdout is None else stdout, errors.fileno())
        code = FORK_SERVER.run(arguments, streams, timeout)
        output.seek(0)
        errors.seek(0)
        return subprocess.CompletedProcess(arguments, code, output.read(), errors.read())


def started(*words: str, timeout: float = 60, **settings: object) -> subprocess.CompletedProcess[str]:
    """Run a command to its end in an interpreter that is started for it."""
    return subprocess.run(
        command(*words, **settings), cwd=ROOT, timeout=timeout, capture_output=True, text=True, check=False
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
        "CONTENT_PROCESSES": 0,  # each takes most of a second to start; tests of them set a number
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


def make_due(directory: Path) -> None:
    """Make every waiting URL due now."""
    connection = apsw.Connection(str(directory / "crawl.db"))
    connection.execute("UPDATE urls SET due = 1 WHERE state = 0; UPDATE hosts SET due = 1 WHERE due IS NOT NULL")
    connection.close()


def wait_for(condition: object, timeout: float = 60) -> None:
    """Wait until a condition holds; a generous timeout keeps a broken crawl from hanging the tests."""
    assert callable(condition)
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        with suppress(Exception):  # the store or file that it reads may not exist yet
            if condition():
                return
        time.sleep(0.02)
    raise AssertionError("the condition did not come true in time")


def kill_all(process: subprocess.Popen[bytes]) -> None:
    """Kill a crawl and all its workers at the same time."""
    try:
        workers = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    except OSError:
        workers = []
    for pid in [process.pid, *map(int, workers)]:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def error_line(stderr: str) -> str:
    """Return the error message: one line that begins with the name of the program, and no traceback."""
    assert "Traceback" not in stderr
    (line,) = [line for line in stderr.splitlines() if line.startswith("orbweaver: ")]
    return line
