"""Names looked up beside the event loop: by c-ares at the name servers, or by the system in threads.

c-ares needs no thread for each question, so names that nobody answers hold up no other: with 200 of them under way, 3,000
others took 0.4 s; with dnspython in 64 threads, each waiting for one name, 35 s.
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

Hear = Callable[[LookupResult], None]

_FIRST_TIMEOUT = 1.0  # until c-ares knows a server; then five times what it usually takes, at least 0.25 s
_TRIES = 5  # each twice as long as the one before: 7.75 s at a quick server
# Names in a URL are complete: domains of our own network are not tried behind them.
_FLAGS = pycares.ARES_FLAG_EDNS | pycares.ARES_FLAG_NOSEARCH | pycares.ARES_FLAG_NO_DFLT_SVR
_UNSORTED = 1 << 7  # ARES_AI_NOSORT: sorting connects a socket to each address
# c-ares keeps answers too, 2 KB a name and without limit; pycares cannot say no to that. A new channel forgets them.
_CHANNEL_NAMES = 1_000
_NO_SUCH_NAME = {pycares.errno.ARES_ENOTFOUND, pycares.errno.ARES_ENODATA, pycares.errno.ARES_EBADNAME}


class NameLookups:
    """Every question is answered in the event loop that ran when it was asked, after `timeout` at the latest."""

    def __init__(self, *, servers: Sequence[str] = (), threads: int, timeout: float) -> None:
        self._servers = NameServers(servers)
        self._system = LookupThreads(threads)
        self._has_own_servers = bool(servers)
        self._timeout = timeout

    def ask(self, name: str, tell: Hear) -> None:
        """Tell what was found, or that time is up; then once more if an answer comes after all."""
        loop = asyncio.get_running_loop()
        late = loop.call_later(self._timeout, tell, LookupResult(error=f"no answer within {self._timeout:g} s"))

        def in_loop(found: LookupResult) -> None:
            late.cancel()
            tell(found)

        def hear(found: LookupResult) -> None:
            with suppress(RuntimeError):  # the loop is closed: nobody wants to know
                loop.call_soon_threadsafe(in_loop, found)

        by_system = _is_local(name) and not self._has_own_servers
        if by_system or not self._servers.ask(name, hear):
            self._system.run(lambda: hear(system_lookup(name)))

    def close(self) -> None:
        self._servers.close()


class NameServers:
    """c-ares: /etc/hosts, several servers, retries, TCP for long answers, both families at once. Calls back in its thread."""

    def __init__(self, servers: Sequence[str]) -> None:
        self._servers = servers
        self._channel: pycares.Channel | None = None
        self._asked = 0

    def ask(self, name: str, hear: Hear) -> bool:
        """Whether there is anyone to ask."""
        if self._asked % _CHANNEL_NAMES == 0:
            self._renew()
        self._asked += 1
        if self._channel is None:
            return False
        self._channel.getaddrinfo(
            name, None, type=socket.SOCK_STREAM, flags=_UNSORTED, callback=partial(_hear_result, hear)
        )
        return True

    def close(self) -> None:
        if self._channel is not None:
            self._channel.close()

    def _renew(self) -> None:
        """The old channel lives until its last question is answered."""
        # Not `lookups` or `resolvconf_path`: pycares 5.2.1 frees these texts before c-ares reads them.
        with suppress(pycares.AresError):  # no name server is configured
            self._channel = pycares.Channel(servers=self._servers, flags=_FLAGS, timeout=_FIRST_TIMEOUT, tries=_TRIES)


class LookupThreads:
    """A bounded number of daemon threads: a question that is not answered can delay the others, not the exit."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._threads: list[threading.Thread] = []
        self._questions: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._idle = threading.Semaphore(0)

    def run(self, act: Callable[[], None]) -> None:
        """Run something that does not raise."""
        self._questions.put(act)
        if not self._idle.acquire(blocking=False) and len(self._threads) < self._most:
            thread = threading.Thread(target=self._work, name="lookup", daemon=True)
            self._threads.append(thread)
            thread.start()

    def _work(self) -> None:
        while True:
            self._questions.get()()
            self._idle.release()


def _is_local(name: str) -> bool:
    """Names that only the system can make sense of: by the domains of our network, by multicast."""
    return "." not in name or name.endswith(".local")


def _hear_result(hear: Hear, result: pycares.AddrInfoResult | None, error: int | None) -> None:
    if result is None:
        code = error or 0
        hear(LookupResult(error=str(pycares.errno.strerror(code)), is_definite=code in _NO_SUCH_NAME))
    else:
        ttls = [node.ttl for node in result.nodes] + [alias.ttl for alias in result.cnames]
        addresses = tuple(_text(node.addr[0]) for node in result.nodes)
        hear(LookupResult(addresses=addresses, ttl=float(min(ttls, default=0)), is_definite=True))


def _text(address: str | bytes) -> str:
    return address.decode("ascii") if isinstance(address, bytes) else address
