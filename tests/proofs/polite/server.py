"""Serve the world on real sockets and log every request.

python -m tests.proofs.polite.server --seed 7 --hosts 300 --pages 13000 --log access.tsv

A request begins when its first byte is read, and its answer ends just before its last write; so errors of the times can
only favour the client, by as much as this process is late (it prints how much at its end). The log is written a few
times a second.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import threading
from argparse import ArgumentParser
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TextIO, cast

import uvloop

from tests.proofs.polite.log import Entry, steady_clock
from tests.proofs.polite.world import Answer, World
from tests.webgraph.server import listeners, raise_open_files

FLUSH_EVERY = 0.1
LEAVE_AFTER = 0.15  # seconds after which a server with the ending "leave" closes a kept connection


class Server:
    """The state that all connections share."""

    def __init__(self, world: World, log: TextIO) -> None:
        self.world = world
        self.now = steady_clock()
        self.connections = 0
        self.lateness: list[float] = []
        self._log = log
        self._lines: list[str] = []
        self._attempts: Counter[tuple[str, str]] = Counter()

    def answer(self, host: str, target: str) -> Answer:
        self._attempts[host, target] += 1
        return self.world.answer(host, target, self._attempts[host, target], self.now())

    def write(self, entry: Entry) -> None:
        self._lines.append(entry.line())

    async def keep_writing(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + FLUSH_EVERY
            await asyncio.sleep(FLUSH_EVERY)
            self.lateness.append(loop.time() - due)
            self.flush()

    def flush(self) -> None:
        self._log.write("".join(self._lines))
        self._log.flush()
        self._lines.clear()


class Connection(asyncio.Protocol):
    """One client: at any moment it waits for a request (no entry), or for its answer (an entry, not yet logged)."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._buffer = b""
        self._arrived = 0.0
        self._entry: Entry | None = None
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._server.connections += 1
        self._number = self._server.connections
        self._address, self._server_port = transport.get_extra_info("sockname")[:2]
        self._port: int = transport.get_extra_info("peername")[1]

    def data_received(self, data: bytes) -> None:
        if not self._buffer:
            self._arrived = self._server.now()
        self._buffer += data
        if self._entry is None:
            self._next_request()

    def connection_lost(self, _error: Exception | None) -> None:
        self._cancel()
        if self._entry:
            self._server.write(self._entry._replace(t1=self._server.now(), aborted=True))
            self._entry = None

    def _next_request(self) -> None:
        head, end, rest = self._buffer.partition(b"\r\n\r\n")
        if not end:
            return
        self._cancel()
        self._buffer = rest
        target, host = _parsed(head.decode("latin-1"))
        answer = self._server.answer(host, target)
        self._entry = Entry(
            self._arrived,
            self._arrived,
            host,
            target,
            0 if answer.ending == "drop" else answer.status,
            connection=self._number,
            port=self._port,
            address=self._address,
            server_port=self._server_port,
        )
        if answer.delay:
            self._later(answer.delay, self._send, answer)
        else:
            self._send(answer)

    def _send(self, answer: Answer) -> None:
        assert self._entry
        now = self._server.now()
        data = b"" if answer.ending == "drop" else _bytes_of(answer)
        not_before = now + answer.retry_after if answer.retry_after else answer.date
        self._server.write(self._entry._replace(t1=now, not_before=not_before))
        self._entry = None
        if data:
            self._transport.write(data)
        if answer.ending in ("close", "short", "drop"):
            self._transport.close()
        elif answer.ending == "leave":
            self._later(LEAVE_AFTER, self._transport.close)
        if self._buffer:
            self._next_request()

    def _later(self, delay: float, act: object, *values: object) -> None:
        self._timer = asyncio.get_running_loop().call_later(delay, act, *values)  # type: ignore[arg-type]

    def _cancel(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None


def _parsed(head: str) -> tuple[str, str]:
    """Return the target and host of a request."""
    first, *lines = head.split("\r\n")
    target = first.split(" ")[1] if first.count(" ") == 2 else "?"
    host = next((line[5:] for line in lines if line[:5].lower() == "host:"), "")
    return target, host.strip().partition(":")[0].lower()


def _bytes_of(answer: Answer) -> bytes:
    closes = "Connection: close\r\n" if answer.ending == "close" else ""
    head = f"HTTP/1.1 {answer.status} As it is\r\n{answer.headers}{closes}Content-Length: {len(answer.body)}\r\n\r\n"
    body = answer.body[: len(answer.body) // 2] if answer.ending == "short" else answer.body
    return head.encode() + body


async def serve(world: World, log: Path) -> None:
    """Serve until standard input ends; prints a line of JSON when it is ready, and one with its lateness at the end."""
    sockets = [opened for _ in range(2) for opened in listeners(world.addresses(), 0)]
    port, second_port = sockets[0].getsockname()[1], sockets[-1].getsockname()[1]
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, stop.set)
    threading.Thread(target=_wait_for_end_of_input, args=(loop, stop), daemon=True).start()
    with log.open("a") as file:
        server = Server(replace(world, port=port, second_port=second_port), file)
        listening = [await loop.create_server(lambda: Connection(server), sock=opened) for opened in sockets]
        writing = asyncio.create_task(server.keep_writing())
        print(json.dumps({"port": port, "second_port": second_port}), flush=True)
        await stop.wait()
        writing.cancel()
        server.flush()
        late = sorted(server.lateness) or [0.0]
        print(json.dumps({"late": late[int(len(late) * 0.99)], "latest": late[-1]}), flush=True)
        for one in listening:
            one.close()


def _wait_for_end_of_input(loop: asyncio.AbstractEventLoop, stop: asyncio.Event) -> None:
    while os.read(0, 4096):
        pass
    with suppress(RuntimeError):  # the loop has ended for another reason
        loop.call_soon_threadsafe(stop.set)


def main() -> None:
    parser = ArgumentParser(prog="python -m tests.proofs.polite.server", description=__doc__.splitlines()[0])
    for name in ("seed", "hosts", "pages"):
        parser.add_argument(f"--{name}", type=int, required=True)
    parser.add_argument("--rates", action="store_true")
    parser.add_argument("--log", type=Path, required=True)
    options = parser.parse_args()
    raise_open_files()
    world = World(options.seed, options.hosts, options.pages, rates=options.rates)
    uvloop.run(serve(world, options.log))


if __name__ == "__main__":
    main()
