"""A name server that says exactly what a test tells it to, over UDP and TCP, however wrong."""

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
    """What is said of a name to whoever asks for its addresses."""

    records: Sequence[Record] = ()
    rcode: int = NOERROR
    soa: int | None = None  # in the authority section: how long a failure may be kept
    is_cut: bool = False  # over UDP: the answer must be asked for over TCP
    is_held: bool = False  # nothing until `release`
    instead: Callable[[bytes], bytes] | None = None  # what is sent of the right answer
    before: Callable[[bytes], bytes] | None = None  # what is sent before the right answer
    times: int | None = None  # so often `instead` is, then the right answer


def addresses(name: str, *values: str, ttl: int = 300) -> list[Record]:
    found = [ip_address(value) for value in values]
    return [(name, TYPES[each.version], ttl, each.packed) for each in found]


def alias(name: str, target: str, ttl: int = 300) -> Record:
    return (name, CNAME, ttl, encoded(target))


def encoded(name: str) -> bytes:
    return b"".join(bytes([len(label)]) + label.encode() for label in name.split(".")) + b"\0"


class DnsServer:
    """Listens on one loopback port; names that it was not told about do not exist."""

    def __init__(self, names: Mapping[str, Says] | None = None) -> None:
        self.names = dict(names or {})
        self.asked: list[tuple[str, int, str]] = []  # name, type, over what
        self._held: list[tuple[bytes, tuple[str, int]]] = []
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
        return sum((asked, asked_kind) == (name, kind) for asked, asked_kind, _ in self.asked)

    def release(self) -> None:
        """Say what was held back, and hold nothing back any more."""
        self.names = {name: Says(records=says.records, rcode=says.rcode) for name, says in self.names.items()}
        held, self._held = self._held, []
        for answer, address in held:
            self._udp.sendto(answer, address)

    def _serve(self) -> None:
        while True:
            ready, _, _ = select.select([self._udp, self._tcp, self._stop], [], [])
            if self._stop in ready:
                return
            if self._udp in ready:
                self._by_udp(*self._udp.recvfrom(65_535))
            if self._tcp in ready:
                with suppress(OSError, struct.error):
                    self._by_tcp(self._tcp.accept()[0])

    def _by_udp(self, question: bytes, address: tuple[str, int]) -> None:
        says, answer = self._answer(question, "udp")
        if says.is_held:
            self._held.append((answer, address))
            return
        if says.before is not None:
            self._udp.sendto(says.before(answer), address)
        self._udp.sendto(answer, address)

    def _by_tcp(self, connection: socket.socket) -> None:
        with connection:
            connection.settimeout(20)
            (length,) = struct.unpack(">H", connection.recv(2, socket.MSG_WAITALL))
            _, answer = self._answer(connection.recv(length, socket.MSG_WAITALL), "tcp")
            connection.sendall(struct.pack(">H", len(answer)) + answer)

    def _answer(self, question: bytes, over: str) -> tuple[Says, bytes]:
        name, kind, end = _question(question)
        self.asked.append((name, kind, over))
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
    """A port that is free for both."""
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
