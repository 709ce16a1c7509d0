"""An HTTP server that sends exactly the bytes that a test defines, malformed ones included."""

from __future__ import annotations

import select
import socket
import ssl
import struct
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum, auto


class Act(Enum):
    CLOSE = auto()  # close the connection properly
    RESET = auto()  # end it with a TCP reset
    SILENCE = auto()  # send nothing until the client disconnects


@dataclass(frozen=True)
class Wait:
    """Send nothing for a while, or until the client disconnects or sends more."""

    seconds: float


@dataclass(frozen=True)
class Repeat:
    """Send the same bytes until the client disconnects."""

    data: bytes
    pause: float = 0.0


Step = bytes | Act | Wait | Repeat
OK = (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",)


@dataclass
class Connection:
    """The traffic of one connection."""

    requests: list[bytes] = field(default_factory=list)
    sent: int = 0
    ended: threading.Event = field(default_factory=threading.Event)
    server_name: str | None = None  # SNI of the TLS handshake


class RawServer:
    """Listens on a loopback address; answers each request target with the steps given for it, others with OK."""

    def __init__(
        self,
        answers: Mapping[str, Sequence[Step]] | None = None,
        *,
        address: str = "127.0.0.1",
        port: int = 0,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.answers = answers or {}
        self.connections: list[Connection] = []
        self._tls = tls
        self._sockets: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._listener = socket.create_server((address, port), family=_family(address), backlog=512)
        self.address, self.port = self._listener.getsockname()[:2]
        self._run(self._accept)

    @property
    def requests(self) -> list[bytes]:
        return [request for connection in self.connections for request in connection.requests]

    def url(self, target: str = "/", host: str | None = None, scheme: str = "http") -> str:
        return f"{scheme}://{host or self.address}:{self.port}{target}"

    def close(self) -> None:
        for each in (self._listener, *self._sockets):
            with suppress(OSError):  # gone already
                each.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(10)
            assert not thread.is_alive()
        self._listener.close()

    def _run(self, target, *arguments) -> None:
        thread = threading.Thread(target=target, args=arguments)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                accepted, _ = self._listener.accept()
            except OSError:
                return
            self._sockets.append(accepted)
            connection = Connection()
            self.connections.append(connection)
            self._run(self._serve, accepted, connection)

    def _serve(self, plain: socket.socket, connection: Connection) -> None:
        with suppress(OSError), plain, self._secured(plain, connection) as sock:  # the client may go away
            self._answer_requests(sock, connection)
        connection.ended.set()

    def _secured(self, plain: socket.socket, connection: Connection) -> socket.socket:
        if self._tls is None:
            return plain
        self._tls.sni_callback = lambda _sock, name, _context: setattr(connection, "server_name", name)
        secured = self._tls.wrap_socket(plain, server_side=True, do_handshake_on_connect=False)
        self._sockets.append(secured)
        secured.do_handshake()
        return secured

    def _answer_requests(self, sock: socket.socket, connection: Connection) -> None:
        buffer = b""
        while True:
            while b"\r\n\r\n" not in buffer:
                received = sock.recv(65536)
                if not received:
                    return
                buffer += received
            request, blank, buffer = buffer.partition(b"\r\n\r\n")
            connection.requests.append(request + blank)
            target = request.split(b" ")[1].decode("latin-1")
            for step in self.answers.get(target, OK):
                if not _run_step(step, sock, connection):
                    return


def _run_step(step: Step, sock: socket.socket, connection: Connection) -> bool:
    """Run one step; False if it ends the connection."""
    if isinstance(step, bytes):
        sock.sendall(step)
        connection.sent += len(step)
    elif isinstance(step, Wait):
        select.select([sock], [], [], step.seconds)
    elif isinstance(step, Repeat):
        while not (step.pause and select.select([sock], [], [], step.pause)[0]):
            sock.sendall(step.data)
            connection.sent += len(step.data)
        return False
    else:
        if step is Act.SILENCE:
            sock.recv(1)
        if step is Act.RESET:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        return False
    return True


def _family(address: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in address else socket.AF_INET
