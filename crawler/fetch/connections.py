"""Which connection may carry a request? One to the checked address, on which no unsolicited data has arrived."""

from __future__ import annotations

import select
from collections import OrderedDict
from functools import lru_cache
from ipaddress import ip_address

Route = tuple[str, int, str, int]  # the server's address and port, and our own


@lru_cache(maxsize=4096)
def connect_to(address: str) -> bytes:
    """Return libcurl's CONNECT_TO entry for: whatever the URL's host, connect to this address, at the URL's port.

    Raises ValueError if the address cannot be connected to.
    """
    if "%" in address:
        raise ValueError(f"address {address!r} has a zone")
    parsed = ip_address(address)
    return f"::[{parsed}]:".encode() if parsed.version == 6 else f"::{parsed}:".encode()


def is_same_address(one: str, other: str) -> bool:
    """Whether two strings denote the same IP address."""
    return one == other or ip_address(one) == ip_address(other)


class IdleConnections:
    """Checks idle connections for unsolicited data, which must not be taken for the answer to the next request.

    libcurl checks only connections that were idle for more than a second (seen in 8.23), so this checks all.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._sockets: OrderedDict[Route, int] = OrderedDict()

    def add(self, route: Route, fd: int) -> None:
        """Record a connection that stays open; libcurl gives -1 for the socket if it has closed it already."""
        if fd >= 0:
            self._sockets[route] = fd
        if len(self._sockets) > self._capacity:
            self._sockets.popitem(last=False)

    def take(self, route: Route) -> bool:
        """Whether a connection may be used: it is new, or nothing has arrived on it, not even its end."""
        fd = self._sockets.pop(route, -1)
        if fd < 0:
            return True
        poll = select.poll()
        poll.register(fd, select.POLLIN)
        return not poll.poll(0)
