"""Which connection may carry a request? One to the address that was checked, on which nothing was said unasked."""

from __future__ import annotations

import select
from collections import OrderedDict
from functools import lru_cache
from ipaddress import ip_address

Route = tuple[str, int, str, int]  # the server's address and port, and our own


@lru_cache(maxsize=4096)
def connect_to(address: str) -> bytes:
    """libcurl's way to say: whatever the URL's host, connect to this address, at the URL's port.

    ValueError if it is not an address that can be connected to.
    """
    if "%" in address:
        raise ValueError(f"address {address!r} has a zone")
    parsed = ip_address(address)
    return f"::[{parsed}]:".encode() if parsed.version == 6 else f"::{parsed}:".encode()


def is_same_address(one: str, other: str) -> bool:
    """Whether two spellings mean one address."""
    return one == other or ip_address(one) == ip_address(other)


class IdleConnections:
    """Did a kept connection stay quiet? What a server says unasked must not become the answer to the next request.

    libcurl looks only at connections that were idle for more than a second (seen in 8.23), so this looks at all.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._sockets: OrderedDict[Route, int] = OrderedDict()

    def add(self, route: Route, fd: int) -> None:
        """The connection is kept, unless libcurl has closed it already and gives -1 for its socket."""
        if fd >= 0:
            self._sockets[route] = fd
        if len(self._sockets) > self._capacity:
            self._sockets.popitem(last=False)

    def take(self, route: Route) -> bool:
        """The connection is to be used again, or is new; False if anything came in, be it the end."""
        fd = self._sockets.pop(route, -1)
        if fd < 0:
            return True
        poll = select.poll()
        poll.register(fd, select.POLLIN)
        return not poll.poll(0)
