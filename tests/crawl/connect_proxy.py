"""A proxy on loopback that opens tunnels, and notes for what it was asked."""

from __future__ import annotations

import base64
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class ConnectProxy:
    """Answers CONNECT, and nothing else."""

    def __init__(self, credentials: str = "", refuses: bool = False) -> None:
        self.asked: list[str] = []  # first lines of requests
        self._expected = base64.b64encode(credentials.encode()).decode() if credentials else ""
        self._refuses = refuses
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]

    def serve(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:  # closed
                return
            threading.Thread(target=self._tunnel, args=(client,), daemon=True).start()

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _tunnel(self, client: socket.socket) -> None:
        with client, suppress(OSError):
            head = b""
            while b"\r\n\r\n" not in head:
                head += client.recv(4096)
            line = head.split(b"\r\n")[0].decode()
            self.asked.append(line)
            if self._refuses or (self._expected and self._expected.encode() not in head):
                client.sendall(b"HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n")
                return
            host, _, port = line.split()[1].rpartition(":")
            with socket.create_connection((host.strip("[]"), int(port))) as server:
                client.sendall(b"HTTP/1.1 200 OK\r\nX-Proxy: tunnel\r\n\r\n")
                back = threading.Thread(target=_copy, args=(server, client), daemon=True)
                back.start()
                _copy(client, server)
                back.join()


@contextmanager
def connect_proxy(credentials: str = "", *, refuses: bool = False) -> Iterator[ConnectProxy]:
    proxy = ConnectProxy(credentials, refuses)
    threading.Thread(target=proxy.serve, daemon=True).start()
    try:
        yield proxy
    finally:
        proxy.close()


def _copy(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65_536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
