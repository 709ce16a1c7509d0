"""Serve the web as fast as Python can, and log the requests.

All responses are in memory as the bytes that are sent. The server is controlled by lines on standard input: `take`
prints the requests since the last time as one line of JSON; the server ends when its input does.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self, cast

import uvloop

from benchmarks.measure import pinned
from benchmarks.web import MAX_HOSTS, SENTENCES, Web

ROOT = Path(__file__).resolve().parents[1]
_END = b"\r\n\r\n"


class Farm:
    """The responses and the request log, which all connections share."""

    def __init__(self, web: Web, *, compress: bool) -> None:
        self._web = web
        self._compress = compress
        self._log: list[tuple[str, str]] = []  # (address, path)
        self._bytes = 0
        self._cpu = time.process_time()
        self._answers = {path: web.answer(path, compress=compress) for path in web.all_pages()}

    def answer(self, address: str, path: str) -> bytes:
        self._log.append((address, path))
        answer = self._answers.get(path)
        if answer is None:
            answer = self._web.answer(path, compress=self._compress)
            if path == "/robots.txt":
                self._answers[path] = answer
        self._bytes += len(answer)
        return answer

    def take(self) -> dict[str, Any]:
        """Return the requests since the last call, with the bytes sent and the CPU time."""
        log, sent, cpu = self._log, self._bytes, time.process_time()
        taken = {"requests": log, "bytes": sent, "cpu": cpu - self._cpu}
        self._log, self._bytes, self._cpu = [], 0, cpu
        return taken


class Connection(asyncio.Protocol):
    """One client connection; requests have no body, so that each ends with an empty line."""

    def __init__(self, farm: Farm, address: str) -> None:
        self._farm = farm
        self._address = address
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's class has the methods but is no subclass

    def data_received(self, data: bytes) -> None:
        *requests, self._buffer = (self._buffer + data).split(_END)
        for request in requests:
            path = request.split(b" ", 2)[1].decode("latin-1")
            self._transport.write(self._farm.answer(self._address, path))


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestLog:
    """The requests that a server got in one run."""

    pages: list[str]  # URLs, robots.txt apart
    robots: int
    bytes: int
    cpu: float

    @property
    def cpu_per_request(self) -> float:
        return self.cpu / max(1, len(self.pages) + self.robots)


class Served:
    """Serves a web in another process on its own core until the end of the `with` block."""

    def __init__(self, web: Web, core: int | None, *, compress: bool) -> None:
        self.web = web
        self._core = core
        self._options = [f"--pages={web.pages}", f"--hosts={web.hosts}"]
        self._options += ["--open"] * web.is_open + ["--plain"] * (not compress) + ["--sentences", str(web.sentences)]

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.server", *self._options],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=partial(pinned, self._core),
        )
        self.web = replace(self.web, port=self._read()["port"])
        return self

    def take(self) -> RequestLog:
        assert self._process.stdin
        self._process.stdin.write("take\n")
        self._process.stdin.flush()
        taken = self._read()
        pages = [
            f"http://{address}:{self.web.port}{path}" for address, path in taken["requests"] if path != "/robots.txt"
        ]
        robots = len(taken["requests"]) - len(pages)
        return RequestLog(pages=pages, robots=robots, bytes=taken["bytes"], cpu=taken["cpu"])

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the server of the benchmark ended; see its message on standard error")
        return cast("dict[str, Any]", json.loads(line))

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        with self._process:  # closes the pipes, which ends the server, and waits for it
            pass


async def serve(web: Web, *, compress: bool) -> None:
    listeners = _listeners(web.addresses())
    web = replace(web, port=listeners[0].getsockname()[1])
    farm = Farm(web, compress=compress)
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    for listener in listeners:
        await loop.create_server(partial(Connection, farm, listener.getsockname()[0]), sock=listener)
    os.set_blocking(0, False)
    loop.add_reader(0, _command, farm, ended)
    farm.take()
    print(json.dumps({"port": web.port}), flush=True)
    await ended.wait()


def _command(farm: Farm, ended: asyncio.Event) -> None:
    with suppress(BlockingIOError):
        line = os.read(0, 4096)
        if line:
            print(json.dumps(farm.take()), flush=True)
        else:
            ended.set()


def _listeners(addresses: list[str]) -> list[socket.socket]:
    """Open a socket on each address, all with the same port."""
    for _ in range(100):
        opened: list[socket.socket] = []
        try:
            for address in addresses:
                port = opened[0].getsockname()[1] if opened else 0
                opened.append(socket.create_server((address, port), backlog=1024))
        except OSError:
            for listener in opened:
                listener.close()
        else:
            return opened
    raise SystemExit("no port is free on all addresses of the benchmark's web")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.server", description=__doc__)
    parser.add_argument("--pages", type=int, default=1500)
    parser.add_argument("--hosts", type=int, default=50, choices=range(1, MAX_HOSTS + 1), metavar="N")
    parser.add_argument("--open", action="store_true", dest="is_open")
    parser.add_argument("--sentences", type=int, default=SENTENCES)
    parser.add_argument("--plain", action="store_true")
    given = parser.parse_args()
    web = Web(pages=given.pages, hosts=given.hosts, is_open=given.is_open, sentences=given.sentences)
    uvloop.run(serve(web, compress=not given.plain))


if __name__ == "__main__":
    main()
