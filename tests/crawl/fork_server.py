"""A fork server runs `scrapy` commands in processes of their own that need not import the program again.

Importing Scrapy and this project takes a second, and a command of a test a few milliseconds. So one process imports
everything once and forks for each command. A command gets what a started interpreter would have: its arguments, its
directory's path, its environment, its three streams, and an interpreter that ends as any other. There are two
differences: all modules are imported, in one order; and all commands of one server have the same hash seed. Tests that
depend on either start an interpreter (`runner.started`, `runner.crawling`).
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import runpy
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

_ROOT = Path(__file__).resolve().parents[2]
_PACKAGES = ("commands", "engine", "extensions", "middlewares", "pipelines", "spiders")  # what Scrapy loads by name


class ForkServer:
    """The client of the fork server: starts it for the first command, and sends it one command after another."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def run(self, words: Sequence[str], streams: tuple[int, int, int], timeout: float) -> int:
        """Run `scrapy` with these arguments and streams (stdin, stdout, stderr), and return its exit code."""
        if self._process is None:
            self._start()
        request = json.dumps({"words": list(words), "environment": dict(os.environ)}).encode()
        self._socket.settimeout(None)
        socket.send_fds(self._socket, [len(request).to_bytes(8, "big")], list(streams))
        self._socket.sendall(request)
        pid = 0
        try:
            pid = int(self._answers.readline())
            self._socket.settimeout(timeout)
            return int(self._answers.readline())
        except TimeoutError:
            self._give_up(pid)
            raise subprocess.TimeoutExpired(list(words), timeout) from None
        except BaseException:
            self._give_up(pid)
            raise

    def close(self) -> None:
        """End the server, if there is one."""
        if self._process is not None:
            self._answers.close()
            self._socket.close()
            self._process.wait()
            self._process = None

    def _start(self) -> None:
        self._socket, theirs = socket.socketpair()
        self._answers = self._socket.makefile("r", encoding="utf-8")
        with theirs:
            words = [sys.executable, "-m", "tests.crawl.fork_server", str(theirs.fileno())]
            self._process = subprocess.Popen(words, cwd=_ROOT, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)

    def _give_up(self, pid: int) -> None:
        """Kill a command that timed out or was interrupted, and end the server."""
        if pid:
            os.kill(pid, signal.SIGKILL)
        self.close()


def load() -> None:
    """Import all that a command may need, except a reactor: each command installs its own."""
    for name in _PACKAGES:
        package = importlib.import_module(f"crawler.{name}")
        for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
    importlib.import_module("scrapy.cmdline")
    assert "twisted.internet.reactor" not in sys.modules
    gc.collect()
    gc.freeze()


def serve(server: socket.socket) -> None:
    """Fork for each command until the client closes its socket. Returns in the forked processes only."""
    while True:
        head, streams, _, _ = socket.recv_fds(server, 8, 3)
        if not head:
            sys.exit()
        request = json.loads(_received(server, int.from_bytes(head, "big")))
        pid = os.fork()
        if pid == 0:
            server.close()
            _become(request["words"], request["environment"], streams)
            return
        for stream in streams:
            os.close(stream)
        server.sendall(f"{pid}\n".encode())
        _, status = os.waitpid(pid, 0)
        with suppress(BrokenPipeError):  # the client has given up
            server.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())


def _received(server: socket.socket, length: int) -> bytes:
    data = b""
    while len(data) < length:
        part = server.recv(length - len(data))
        if not part:
            sys.exit()
        data += part
    return data


def _become(words: list[str], environment: dict[str, str], streams: list[int]) -> None:
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["scrapy", *words]


def main() -> NoReturn:
    load()
    serve(socket.socket(fileno=int(sys.argv[1])))
    runpy.run_module("scrapy", run_name="__main__", alter_sys=True)
    sys.exit()


if __name__ == "__main__":
    main()
