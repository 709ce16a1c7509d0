"""Serves the synthetic web on real sockets and writes an access log.

One listener per address, all on one port. A connection answers its requests one after another. Errors of the log's
times can only favour the client: a request begins when its first byte has been read, and its answer ends just before
the last write, so no client saw the end earlier. The line is written before that last write: a client that has the
whole answer finds it in the log.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from http import HTTPStatus
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self, cast

from tests.webgraph.answers import Answer, notice
from tests.webgraph.generate import Web
from tests.webgraph.log import Entry, read_log

LARGE = 65_536  # the last byte of a longer answer is sent only when the rest has left the process
_ROOT = Path(__file__).parents[2]


class Request(NamedTuple):
    """The part of a request that matters here."""

    method: str
    host: str
    target: str
    agent: str
    keeps_alive: bool
    none_match: str = ""


class Server:
    """The state that all connections share: the web, the number of requests for each URL, and the log."""

    def __init__(self, web: Web, log: Path):
        self.web = web
        self.addresses = web.addresses()
        self.connections = 0
        self.requests = 0
        self._attempts: Counter[tuple[str, str]] = Counter()
        self._log = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)

    def answer(self, request: Request, address: str) -> tuple[Answer, int]:
        """Return the answer to a request, and the number of requests for this URL so far."""
        self._attempts[request.host, request.target] += 1
        attempt = self._attempts[request.host, request.target]
        if self.addresses.get(request.host) != address:
            return notice(421, "This server does not know the host."), attempt
        return conditional(self.web.answer(request.host, request.target, attempt), request.none_match), attempt

    def write(self, entry: Entry) -> None:
        self.requests += 1
        line = json.dumps(entry._replace(n=self.requests)._asdict()) + "\n"
        os.write(self._log, line.encode())


class Connection(asyncio.Protocol):
    """One client. At any moment it waits for a request (no entry), or sends an answer (an entry, not yet logged)."""

    def __init__(self, server: Server):
        self._server = server
        self._buffer = b""
        self._arrived = 0.0  # when the first byte in the buffer came
        self._entry: Entry | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._waits_for_drain = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's has the methods, not the class
        self._address: str = transport.get_extra_info("sockname")[0]
        self._server.connections += 1
        self._number = self._server.connections
        self._transport.set_write_buffer_limits(high=0)

    def data_received(self, data: bytes) -> None:
        if not self._buffer:
            self._arrived = time.monotonic()
        self._buffer += data
        if self._entry is None:
            self._next_request()

    def connection_lost(self, _error: Exception | None) -> None:
        if self._timer:
            self._timer.cancel()
        if self._entry:
            self._server.write(self._entry._replace(t1=time.monotonic(), aborted=True))
            self._entry = None

    def resume_writing(self) -> None:
        if self._waits_for_drain:
            self._waits_for_drain = False
            self._send()

    def _next_request(self) -> None:
        head, end, rest = self._buffer.partition(b"\r\n\r\n")
        if not end:
            return
        self._buffer = rest
        request = _parsed(head.decode("latin-1"))
        answer, attempt = self._server.answer(request, self._address) if request else (notice(400, "What?"), 0)
        request = request or Request("", "", "", "", keeps_alive=False)
        self._begin(request, answer, attempt)

    def _begin(self, request: Request, answer: Answer, attempt: int) -> None:
        self._entry = Entry(
            host=request.host,
            port=self._server.web.port,
            target=request.target,
            method=request.method,
            t0=self._arrived,
            t1=self._arrived,
            status=answer.status,
            connection=self._number,
            address=self._address,
            attempt=attempt,
            behaviour=answer.behaviour,
            agent=request.agent,
            retry_after=_retry_after(answer),
        )
        self._behaviour, self._pause = answer.behaviour, answer.pause
        self._closes = not request.keeps_alive or answer.behaviour == "short"
        self._pieces = pieces(answer, is_head=request.method == "HEAD", closes=self._closes)
        self._after(answer.delay)

    def _after(self, seconds: float) -> None:
        if seconds:
            self._timer = asyncio.get_running_loop().call_later(seconds, self._send)
        else:
            self._send()

    def _send(self) -> None:
        """Send the next piece, or after the last one go on to the next request."""
        if len(self._pieces) <= 1:
            self._finish(self._pieces[0] if self._pieces else b"")
            return
        self._write(self._pieces.pop(0))
        if self._pause:
            self._after(self._pause)
        elif self._transport.get_write_buffer_size():
            self._waits_for_drain = True
        else:
            self._send()

    def _write(self, data: bytes) -> None:
        assert self._entry
        self._entry = self._entry._replace(bytes=self._entry.bytes + len(data))
        self._transport.write(data)

    def _finish(self, last: bytes) -> None:
        assert self._entry
        self._server.write(self._entry._replace(t1=time.monotonic(), bytes=self._entry.bytes + len(last)))
        self._entry = None
        if self._behaviour == "reset":
            self._reset()
            return
        self._transport.write(last)
        if self._closes:
            self._transport.close()
        elif self._buffer:
            self._next_request()

    def _reset(self) -> None:
        """Reset the connection: lingering for zero seconds makes the system send RST, not FIN."""
        linger = struct.pack("ii", 1, 0)
        self._transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self._transport.abort()


def _parsed(head: str) -> Request | None:
    """Parse a GET or HEAD request without a body; None if it is anything else."""
    first, *lines = head.split("\r\n")
    method, _, rest = first.partition(" ")
    target, _, version = rest.partition(" ")
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    if method not in ("GET", "HEAD") or not target.startswith("/") or "content-length" in headers:
        return None
    connection = headers.get("connection", "keep-alive" if version == "HTTP/1.1" else "close").lower()
    host = headers.get("host", "").partition(":")[0].lower()
    agent, none_match = headers.get("user-agent", ""), headers.get("if-none-match", "")
    return Request(method, host, target, agent, keeps_alive=connection != "close", none_match=none_match)


def conditional(answer: Answer, none_match: str) -> Answer:
    """Answer 304 if the client's If-None-Match is the answer's ETag."""
    if not none_match or dict(answer.headers).get("ETag") != none_match:
        return answer
    return Answer(status=304, headers=answer.headers)


def pieces(answer: Answer, *, is_head: bool, closes: bool) -> list[bytes]:
    """Return the bytes of an answer, divided into the pieces that are written one by one."""
    if answer.behaviour == "reset":
        return []
    body = answer.body
    head = _head(answer, closes=closes)
    if is_head:
        return [head]
    if answer.behaviour == "chunked":
        parts = [f"{len(part):x}\r\n".encode() + part + b"\r\n" for part in _divided(body, 3)]
        return [head + parts[0], *parts[1:], b"0\r\n\r\n"]
    if answer.behaviour == "slow":
        first, *others = _divided(body, 4)
        return [head + first, *others]
    if answer.behaviour == "short":
        return [head + body[: len(body) // 2]]
    return [head + body] if len(body) < LARGE else [head + body[:-1], body[-1:]]


def _head(answer: Answer, *, closes: bool) -> bytes:
    is_chunked = answer.behaviour == "chunked"
    frame = ("Transfer-Encoding", "chunked") if is_chunked else ("Content-Length", str(len(answer.body)))
    headers = [*answer.headers, frame, *([("Connection", "close")] if closes else [])]
    lines = [
        f"HTTP/1.1 {answer.status} {HTTPStatus(answer.status).phrase}",
        *(f"{name}: {value}" for name, value in headers),
    ]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def _divided(body: bytes, count: int) -> list[bytes]:
    step = -(-len(body) // count)
    return [body[start : start + step] for start in range(0, len(body), step)]


def _retry_after(answer: Answer) -> float:
    return float(dict(answer.headers).get("Retry-After", 0))


def listeners(addresses: Sequence[str], port: int) -> list[socket.socket]:
    """Open a listening socket on each address, all with the same port; 0 means any port that is free on all."""
    for _ in range(100 if port == 0 else 1):
        sockets: list[socket.socket] = []
        try:
            for address in addresses:
                sockets.append(_listener(address, sockets[0].getsockname()[1] if sockets else port))
            return sockets
        except OSError as error:
            taken = error
            for opened in sockets:
                opened.close()
    raise taken


def _listener(address: str, port: int) -> socket.socket:
    listener = socket.socket()
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address, port))
        listener.listen(512)
    except OSError:
        listener.close()
        raise
    return listener


async def serve(web: Web, log: Path) -> None:
    """Serve the web until standard input ends or SIGTERM arrives; prints one line when it is ready."""
    sockets = listeners(sorted(set(web.addresses().values())), web.port)
    web = replace(web, port=sockets[0].getsockname()[1])
    server = Server(web, log)
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, stop.set)
    threading.Thread(target=_wait_for_end_of_input, args=(loop, stop), daemon=True).start()
    listening = [await loop.create_server(lambda: Connection(server), sock=opened) for opened in sockets]
    print(json.dumps({"port": web.port, "pid": os.getpid()}), flush=True)
    await stop.wait()
    for one in listening:
        one.close()


def _wait_for_end_of_input(loop: asyncio.AbstractEventLoop, stop: asyncio.Event) -> None:
    # Not sys.stdin: its lock, held by a thread at the end of the process, would make the interpreter abort.
    while os.read(0, 4096):
        pass
    with suppress(RuntimeError):  # the loop has ended for another reason
        loop.call_soon_threadsafe(stop.set)


def raise_open_files() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


class Served:
    """A web served by a separate process, from `with` to the end of the block or stop().

    The server's count of attempts ends with the process; the log in the directory is only appended to.
    """

    def __init__(self, web_kwargs: Mapping[str, int | float | bool], directory: Path):
        self.web = Web(**{"port": 0, **web_kwargs})  # type: ignore[arg-type]
        self.hosts_file = directory / "hosts"
        self.log_file = directory / "access.jsonl"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        assert self._process, "not started"
        return self._process.pid

    def start(self) -> Self:
        options = [f"--{name.replace('_', '-')}={value}" for name, value in asdict(self.web).items()]
        options += [f"--log={self.log_file.resolve()}", f"--hosts-file={self.hosts_file.resolve()}"]
        command = [sys.executable, "-m", "tests.webgraph", *options]
        self._process = subprocess.Popen(command, cwd=_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._process.stdout
        ready = self._process.stdout.readline()
        if not ready:
            self.stop()
            raise RuntimeError("the test web did not start; the reason is on standard error")
        self.web = replace(self.web, port=json.loads(ready)["port"])
        return self

    def stop(self) -> None:
        """End the server and wait until it has ended; a second call does nothing."""
        process, self._process = self._process, None
        if process is None:
            return
        with process:  # closes both pipes and waits
            assert process.stdin
            process.stdin.close()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()

    def log(self) -> list[Entry]:
        return read_log(self.log_file)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.stop()
