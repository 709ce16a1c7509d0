"""A name server that sends exactly the answers that a test defines, over UDP and TCP, malformed ones included."""

from __future__ import annotations

import select
import socket
import struct
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Self

A, CNAME, SOA, AAAA = 1, 5, 6, 28
NOERROR, SERVFAIL, NXDOMAIN, REFUSED = 0, 2, 3, 5
TYPES = {4: A, 6: AAAA}
Record = tuple[str, int, int, bytes]  # owner, type, ttl, data


@dataclass(frozen=True, kw_only=True)
class Says:
    """The answer to queries for the addresses of a name."""

    records: Sequence[Record] = ()
    rcode: int = NOERROR
    soa: int | None = None  # in the authority section: the negative TTL
    is_cut: bool = False  # truncated over UDP: the client must repeat the query over TCP
    is_held: bool = False  # no answer before `release`
    instead: Callable[[bytes], bytes] | None = None  # turns the right answer into the one that is sent
    before: Callable[[bytes], bytes] | None = None  # makes a message that is sent before the right answer
    times: int | None = None  # how often `instead` applies; afterwards the right answer is sent


def addresses(name: str, *values: str, ttl: int = 300) -> list[Record]:
    found = [ip_address(value) for value in values]
    return [(name, TYPES[each.version], ttl, each.packed) for each in found]


def alias(name: str, target: str, ttl: int = 300) -> Record:
    return (name, CNAME, ttl, encoded(target))


def encoded(name: str) -> bytes:
    return b"".join(bytes([len(label)]) + label.encode() for label in name.split(".")) + b"\0"


class DnsServer:
    """Listens on one loopback port; names that are not defined do not exist."""

    def __init__(self, names: Mapping[str, Says] | None = None) -> None:
        self.names = dict(names or {})
        self.queries: list[tuple[str, int, str]] = []  # name, type, transport
        self._delayed: list[tuple[bytes, tuple[str, int]]] = []
        self._udp, self._tcp = _one_port()
        self.address = "{}:{}".format(*self._udp.getsockname())
        self._stop, self._stopper = socket.socketpair()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *args: object) -> None:
        self._stopper.send(b"x")
        self._thread.join(20)
        for each in (self._udp, self._tcp, self._stop, self._stopper):
            each.close()

    def count(self, name: str, kind: int = A) -> int:
        return sum((queried, type_) == (name, kind) for queried, type_, _ in self.queries)

    def release(self) -> None:
        """Send the answers that were held back, and hold back none from now on."""
        self.names = {name: Says(records=says.records, rcode=says.rcode) for name, says in self.names.items()}
        delayed, self._delayed = self._delayed, []
        for answer, address in delayed:
            self._udp.sendto(answer, address)

    def _serve(self) -> None:
        while True:
            ready, _, _ = select.select([self._udp, self._tcp, self._stop], [], [])
            if self._stop in ready:
                return
            if self._udp in ready:
                self._serve_udp(*self._udp.recvfrom(65_535))
            if self._tcp in ready:
                with suppress(OSError, struct.error):
                    self._serve_tcp(self._tcp.accept()[0])

    def _serve_udp(self, question: bytes, address: tuple[str, int]) -> None:
        says, answer = self._answer(question, "udp")
        if says.is_held:
            self._delayed.append((answer, address))
            return
        if says.before is not None:
            self._udp.sendto(says.before(answer), address)
        self._udp.sendto(answer, address)

    def _serve_tcp(self, connection: socket.socket) -> None:
        with connection:
            connection.settimeout(20)
            (length,) = struct.unpack(">H", connection.recv(2, socket.MSG_WAITALL))
            _, answer = self._answer(connection.recv(length, socket.MSG_WAITALL), "tcp")
            connection.sendall(struct.pack(">H", len(answer)) + answer)

    def _answer(self, question: bytes, over: str) -> tuple[Says, bytes]:
        name, kind, end = _question(question)
        self.queries.append((name, kind, over))
        says = self.names.get(name, Says(rcode=NXDOMAIN))
        is_cut = says.is_cut and over == "udp"
        records = [] if is_cut else [record for record in says.records if record[1] in (kind, CNAME)]
        authority = [] if says.soa is None else [("test", SOA, says.soa, _soa(says.soa))]
        flags = 0x8180 | (0x0200 if is_cut else 0) | says.rcode
        head = question[:2] + struct.pack(">HHHHH", flags, 1, len(records), len(authority), 0)
        answer = head + question[12:end] + b"".join(map(_record, [*records, *authority]))
        if says.instead is not None and (says.times is None or self.count(name, kind) <= says.times):
            answer = says.instead(answer)
        return says, answer


def _one_port() -> tuple[socket.socket, socket.socket]:
    """Bind one loopback port for both UDP and TCP."""
    while True:
        udp, tcp = socket.socket(type=socket.SOCK_DGRAM), socket.socket()
        udp.bind(("127.0.0.1", 0))
        try:
            tcp.bind(udp.getsockname())
        except OSError:
            udp.close()
            tcp.close()
        else:
            tcp.listen()
            return udp, tcp


def _question(message: bytes) -> tuple[str, int, int]:
    labels, at = [], 12
    while message[at]:
        labels.append(message[at + 1 : at + 1 + message[at]].decode())
        at += 1 + message[at]
    (kind,) = struct.unpack(">H", message[at + 1 : at + 3])
    return ".".join(labels).lower(), kind, at + 5


def _record(record: Record) -> bytes:
    owner, kind, ttl, data = record
    return encoded(owner) + struct.pack(">HHIH", kind, 1, ttl, len(data)) + data


def _soa(minimum: int) -> bytes:
    return encoded("ns.test") + encoded("root.test") + struct.pack(">IIIII", 1, 7200, 3600, 86_400, minimum)
