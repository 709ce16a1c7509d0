"""Resolve host names beside the event loop: with c-ares at the name servers, or with the system's resolver in threads.

c-ares needs no thread per query, so names whose servers do not answer delay no others: with 200 such names under way,
3,000 others took 0.4 s. With dnspython in 64 threads, each of which waits for one name, they took 35 s.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from queue import SimpleQueue

import pycares

from crawler.fetch.dns import LookupResult, system_lookup

OnResult = Callable[[LookupResult], None]

_FIRST_TIMEOUT = 1.0  # seconds, for a server that c-ares has not met; later 5 × its usual time, at least 0.25 s
_TRIES = 5  # each waits twice as long as the one before: 7.75 s in all at a fast server
# Names in a URL are complete: domains of our own network are not tried behind them.
_FLAGS = pycares.ARES_FLAG_EDNS | pycares.ARES_FLAG_NOSEARCH | pycares.ARES_FLAG_NO_DFLT_SVR
_UNSORTED = 1 << 7  # ARES_AI_NOSORT: sorting connects a socket to each address
# c-ares caches answers, 2 KB a name and without limit, and pycares cannot switch that off. A new channel starts empty.
_CHANNEL_NAMES = 1_000
_NO_SUCH_NAME = {pycares.errno.ARES_ENOTFOUND, pycares.errno.ARES_ENODATA, pycares.errno.ARES_EBADNAME}


class NameLookups:
    """Resolves names for an event loop; each query gets a result after `timeout` at the latest."""

    def __init__(self, *, servers: Sequence[str] = (), threads: int, timeout: float) -> None:
        self._servers = NameServers(servers)
        self._system = LookupThreads(threads)
        self._has_own_servers = bool(servers)
        self._timeout = timeout

    def ask(self, name: str, on_result: OnResult) -> None:
        """Resolve a name. After a time-out `on_result` is called once more if an answer comes after all."""
        loop = asyncio.get_running_loop()
        timer = loop.call_later(self._timeout, on_result, LookupResult(error=f"no answer within {self._timeout:g} s"))

        def in_loop(result: LookupResult) -> None:
            timer.cancel()
            on_result(result)

        def in_thread(result: LookupResult) -> None:
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(in_loop, result)

        by_system = _is_local(name) and not self._has_own_servers
        if by_system or not self._servers.ask(name, in_thread):
            self._system.run(lambda: in_thread(system_lookup(name)))

    def close(self) -> None:
        self._servers.close()


class NameServers:
    """Resolves names with c-ares: /etc/hosts, several servers, both families at once, retries, TCP for long answers.

    Results are passed on in its own thread.
    """

    def __init__(self, servers: Sequence[str]) -> None:
        self._servers = servers
        self._channel: pycares.Channel | None = None
        self._queries = 0

    def ask(self, name: str, on_result: OnResult) -> bool:
        """Resolve a name; False if no name server is configured."""
        if self._queries % _CHANNEL_NAMES == 0:
            self._renew()
        self._queries += 1
        if self._channel is None:
            return False
        self._channel.getaddrinfo(
            name, None, type=socket.SOCK_STREAM, flags=_UNSORTED, callback=partial(_pass_result, on_result)
        )
        return True

    def close(self) -> None:
        if self._channel is not None:
            self._channel.close()

    def _renew(self) -> None:
        """Replace the channel; the old one lives until its last query is answered."""
        # Not `lookups` or `resolvconf_path`: pycares 5.2.1 frees these texts before c-ares reads them.
        with suppress(pycares.AresError):  # no name server is configured
            self._channel = pycares.Channel(servers=self._servers, flags=_FLAGS, timeout=_FIRST_TIMEOUT, tries=_TRIES)


class LookupThreads:
    """A bounded number of daemon threads: a query without an answer can delay others, but not the exit."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._threads: list[threading.Thread] = []
        self._calls: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._idle = threading.Semaphore(0)

    def run(self, act: Callable[[], None]) -> None:
        """Run a call, which must not raise, in a thread."""
        self._calls.put(act)
        if not self._idle.acquire(blocking=False) and len(self._threads) < self._most:
            thread = threading.Thread(target=self._work, name="lookup", daemon=True)
            self._threads.append(thread)
            thread.start()

    def _work(self) -> None:
        while True:
            self._calls.get()()
            self._idle.release()


def _is_local(name: str) -> bool:
    """Whether only the system's resolver can know a name: by the search domains of our network, or by multicast."""
    return "." not in name or name.endswith(".local")


def _pass_result(on_result: OnResult, result: pycares.AddrInfoResult | None, error: int | None) -> None:
    if result is None:
        code = error or 0
        on_result(LookupResult(error=str(pycares.errno.strerror(code)), is_definite=code in _NO_SUCH_NAME))
    else:
        ttls = [node.ttl for node in result.nodes] + [alias.ttl for alias in result.cnames]
        addresses = tuple(_text(node.addr[0]) for node in result.nodes)
        on_result(LookupResult(addresses=addresses, ttl=float(min(ttls, default=0)), is_definite=True))


def _text(address: str | bytes) -> str:
    return address.decode("ascii") if isinstance(address, bytes) else address
