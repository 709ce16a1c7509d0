"""The HTTP client of a crawl process on its event loop: resolve names, check addresses, send requests."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any, Self, TypeVar

from crawler.engine.dns import NameLookups
from crawler.engine.session import Components
from crawler.fetch.dns import ResolvedName, Resolver
from crawler.fetch.http import HttpClient
from crawler.fetch.limits import FetchLimits
from crawler.items import Fetched, Reason
from crawler.urls.hosts import host_of
from crawler.worker.session import Session
from crawler.worker.startup import connections_possible

T = TypeVar("T")

IDLE_CONNECTIONS = 8_192  # that are kept open: a host that is visited again soon needs no new one


class FetchClient:
    """Fetches from checked addresses only; a crawl has one. Implements `crawler.worker.runtime.HostNames`."""

    def __init__(self, session: Session) -> None:
        options = session.options
        self._now = session.now
        self._session = session
        self._refusal = lru_cache(maxsize=10_000)(options.intranet.refusal)
        self._lookups = NameLookups(
            servers=options.dns.servers, threads=options.dns.threads, timeout=options.dns.timeout
        )
        self._resolver = Resolver(self._lookups.ask, options.dns.hosts, lifetimes=options.dns.lifetimes)
        self._stopped: asyncio.Event = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None
        self._http = HttpClient(
            watch=self._watch,
            wake=self._wake,
            now=session.now,
            user_agent=options.user_agent,
            limits=options.fetch.limits,
            verify_tls=options.fetch.verify_tls,
            keep_idle=min(IDLE_CONNECTIONS, connections_possible()),
            proxy=options.fetch.proxy,
        )

    @classmethod
    def of(cls, components: Components) -> Self:
        return cls(components.session)

    async def fetch(
        self,
        url: str,
        method: str = "GET",
        headers: Sequence[tuple[str, str]] = (),
        *,
        limits: FetchLimits | None = None,
        wants: Callable[[bytes, str], bool] | None = None,
    ) -> Fetched:
        """Send one request to a checked address of the URL's host."""
        host, started = host_of(url), self._now()
        answer = await self._resolve(host)
        if self._stopped.is_set() or self._now() >= self._session.lease_end():
            return Fetched(url=url, reason=Reason.STOPPED, started=started, ended=self._now())
        allowed, refused = self._check(host, answer)
        if not allowed:
            reason = Reason.ADDRESS_DENIED if refused else Reason.DNS_FAILED
            detail = refused or answer.error
            return Fetched(url=url, reason=reason, detail=detail, started=started, ended=self._now())
        done: asyncio.Future[Fetched] = asyncio.get_running_loop().create_future()

        self._http.fetch(
            url,
            address=allowed,
            done=partial(_set_result, done),
            method=method,
            headers=headers,
            limits=limits,
            wants=wants,
        )
        return await done

    def look_up(self, host: str, then: Callable[[], None]) -> None:
        """Look up the address of a host; then, whether it was found or not, call `then`."""
        asyncio.ensure_future(self._resolve(host)).add_done_callback(lambda _: then())

    def known_address(self, host: str) -> str | None:
        """Return the address that a fetch would connect to now; None if it must be looked up, or there is none."""
        answer = self._resolver.cached(host, self._now())
        return (self._check(host, answer)[0] or None) if answer is not None else None

    @property
    def bytes_in_flight(self) -> int:
        """How many bytes of incomplete answers are in memory."""
        return self._http.bytes_in_flight

    @property
    def is_buffer_full(self) -> bool:
        """Whether incomplete answers take more memory than they may."""
        return self._http.bytes_in_flight > self._session.options.fetch.max_buffered

    def abort_all(self) -> None:
        """Abort all requests and look-ups under way; each ends with the reason STOPPED."""
        self._stopped.set()
        self._http.abort_all()

    def close(self) -> None:
        self._stopped.set()
        self._http.close()
        self._lookups.close()
        if self._timer is not None:
            self._timer.cancel()

    async def _resolve(self, host: str) -> ResolvedName:
        now = self._now()
        answer = self._resolver.cached(host, now)
        if answer is not None:
            return answer
        if self._stopped.is_set():
            return ResolvedName(addresses=(), error="stopped", expires=now)
        found: asyncio.Future[ResolvedName] = asyncio.get_running_loop().create_future()
        self._resolver.look_up(host, now, partial(_set_result, found))
        stopped = asyncio.ensure_future(self._stopped.wait())
        either: set[asyncio.Future[Any]] = {found, stopped}
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        stopped.cancel()
        return found.result() if found.done() else ResolvedName(addresses=(), error="stopped", expires=now)

    def _check(self, host: str, answer: ResolvedName) -> tuple[str, str]:
        """Return the first address that may be contacted, or why none may."""
        refused = ""
        for address in answer.addresses:
            refusal = self._refusal(host, address)
            if refusal is None:
                return address, ""
            refused = refused or f"{host} is {address}: {refusal}"
        return "", refused

    def _watch(self, descriptor: int, readable: bool, writable: bool) -> None:
        loop = asyncio.get_running_loop()
        if readable:
            loop.add_reader(descriptor, self._http.socket_ready, descriptor, True, False)  # noqa: FBT003
        else:
            loop.remove_reader(descriptor)
        if writable:
            loop.add_writer(descriptor, self._http.socket_ready, descriptor, False, True)  # noqa: FBT003
        else:
            loop.remove_writer(descriptor)

    def _wake(self, delay: float | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if delay is not None:
            self._timer = asyncio.get_running_loop().call_later(delay, self._http.timeout)


def _set_result(future: asyncio.Future[T], result: T) -> None:
    if not future.done():  # otherwise nobody waits any more
        future.set_result(result)
