"""How are many URLs asked for over HTTP at once?

The client drives libcurl's multi interface and knows neither an event loop nor a clock. It is told when a socket is
ready (`socket_ready`) or a time has come (`timeout`), and tells by `watch` and `wake` what it waits for.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Sequence

import pycurl

from crawler.fetch.alarms import Alarms
from crawler.fetch.connections import IdleConnections, connect_to
from crawler.fetch.handles import Handles
from crawler.fetch.limits import FetchLimits
from crawler.fetch.request import request_for, standing_headers
from crawler.fetch.transfer import Transfer, TransferContext
from crawler.items import Fetched, Reason

__all__ = ["FetchLimits", "HttpClient"]

logger = logging.getLogger(__name__)


class HttpClient:
    """Fetches URLs from given addresses, any number at a time.

    `watch(fd, readable, writable)`: call `socket_ready` when the socket is; both False = forget it.
    `wake(delay)`: call `timeout` after so many seconds instead of any time asked for before; None = no need.
    No call raises for what a server does, and `done` is always called from a later call, never within `fetch`.
    """

    def __init__(
        self,
        *,
        watch: Callable[[int, bool, bool], None],
        wake: Callable[[float | None], None],
        now: Callable[[], float],
        user_agent: str,
        limits: FetchLimits,
        keep_idle: int = 1024,
        verify_tls: bool = False,
        ca_file: str | None = None,
    ) -> None:
        self._watch = watch
        self._wake = wake
        self._now = now
        self._limits = limits
        self._headers = standing_headers(user_agent)
        self._handles = Handles(keeps_connections=keep_idle > 0, verify_tls=verify_tls, ca_file=ca_file)
        self._alarms: Alarms[Transfer] = Alarms()
        self._connections = IdleConnections(keep_idle)
        self._shared = TransferContext(now=now, alarms=self._alarms, connections=self._connections)
        self._running: dict[pycurl.Curl, Transfer] = {}
        self._ended: deque[tuple[Callable[[Fetched], None], Fetched]] = deque()
        self._curl_due: float | None = None
        self._awake_at: float | None = None
        self._closed = False
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._on_socket)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._on_timer)
        self._multi.setopt(pycurl.M_MAXCONNECTS, keep_idle)  # 0 would mean "as you like"

    @property
    def active(self) -> int:
        return len(self._running)

    @property
    def bytes_in_flight(self) -> int:
        """Body bytes held by running transfers."""
        return self._shared.bytes_held

    def fetch(
        self,
        url: str,
        *,
        address: str,
        done: Callable[[Fetched], None],
        method: str = "GET",
        headers: Sequence[tuple[str, str]] = (),
        limits: FetchLimits | None = None,
        wants: Callable[[bytes, str], bool] | None = None,
    ) -> None:
        """Ask the address, and no other, for the URL; `done` gets the result exactly once.

        `wants(head, url)` says of a document whose head has come whether to read the rest.
        """
        now = self._now()
        try:
            request = request_for(url, method, self._headers, headers)
            pin = connect_to(address)
        except ValueError as error:
            self._refuse(url, done, Reason.FETCH_ERROR, str(error))
            return
        if self._closed:
            self._refuse(url, done, Reason.STOPPED, "the client is closed")
            return
        handle = self._handles.lend(request, pin)
        limits = limits or self._limits
        self._running[handle] = Transfer(
            self._shared,
            handle,
            url=url,
            request=request,
            address=address,
            done=done,
            limits=limits,
            wants=wants,
            now=now,
        )
        self._multi.add_handle(handle)
        self._arm()

    def socket_ready(self, fd: int, readable: bool, writable: bool) -> None:
        """The socket can be read or written without waiting."""
        # First: a process that was stopped for long must not send what it should have given up meanwhile.
        self._end_overdue(self._now())
        if not self._closed:
            events = (pycurl.CSELECT_IN if readable else 0) | (pycurl.CSELECT_OUT if writable else 0)
            self._act(fd, events)
        self._settle()

    def timeout(self) -> None:
        """The time asked for by `wake` has come. Harmless when it has not."""
        self._awake_at = None
        now = self._now()
        self._end_overdue(now)
        if self._curl_due is not None and self._curl_due <= now and not self._closed:
            self._curl_due = None
            self._act(pycurl.SOCKET_TIMEOUT, 0)
        self._settle()

    def _end_overdue(self, now: float) -> None:
        for transfer in self._alarms.due(now):
            ending = transfer.overdue(now)
            if ending is not None:
                self._end(transfer, *ending)

    def abort_all(self, reason: Reason = Reason.STOPPED) -> None:
        """End every running transfer now, with this reason; what had come is kept."""
        for transfer in list(self._running.values()):
            self._end(transfer, reason, "")
        self._settle()

    def close(self) -> None:
        """Abort everything and close every connection."""
        if self._closed:
            return
        self._closed = True
        self.abort_all()
        self._handles.close()
        self._multi.close()
        self._curl_due = None
        self._arm()

    def _act(self, fd: int, events: int) -> None:
        """Let libcurl work, and take in what it finished."""
        _, running = self._multi.socket_action(fd, events)
        if running < len(self._running):
            self._collect()

    def _collect(self) -> None:
        queued = 1
        while queued:
            queued, succeeded, failed = self._multi.info_read()
            for handle in succeeded:
                transfer = self._running[handle]
                self._end(transfer, *transfer.success())
            for handle, code, sentence in failed:
                transfer = self._running[handle]
                if transfer.met_stale_connection:
                    self._begin_again(transfer)
                else:
                    self._end(transfer, *transfer.failure(code, sentence))

    def _begin_again(self, transfer: Transfer) -> None:
        """Nothing was sent, and libcurl has closed the connection it meant to use; let it find another."""
        transfer.met_stale_connection = False
        self._multi.remove_handle(transfer.handle)
        self._multi.add_handle(transfer.handle)

    def _end(self, transfer: Transfer, reason: Reason, detail: str) -> None:
        """Take the transfer out and put its result in line for `_settle`."""
        handle = transfer.handle
        if reason == Reason.OK and transfer.route is not None:
            self._connections.add(transfer.route, handle.getinfo(pycurl.ACTIVESOCKET))  # -1 once removed
        self._multi.remove_handle(handle)
        del self._running[handle]
        self._alarms.turn_off(transfer)
        self._ended.append((transfer.done, transfer.result(reason, detail, self._now())))
        transfer.forget()
        self._handles.take_back(handle)

    def _refuse(self, url: str, done: Callable[[Fetched], None], reason: Reason, detail: str) -> None:
        now = self._now()
        self._ended.append((done, Fetched(url=url, reason=reason, detail=detail, started=now, ended=now)))
        self._arm()

    def _settle(self) -> None:
        """Hand out results, now that libcurl is not on the stack; then say when to be woken."""
        while self._ended:
            done, fetched = self._ended.popleft()
            try:
                done(fetched)
            except Exception:  # the caller's fault must not cost the other transfers their results
                logger.exception("taking the result of %s failed", fetched.url)
        self._arm()

    def _arm(self) -> None:
        """Ask to be woken for the earliest of what is to come; an earlier wake-up than needed may stand."""
        due = self._now() if self._ended else _earlier(self._curl_due, self._alarms.next())
        if due is None:
            if self._awake_at is not None:
                self._awake_at = None
                self._wake(None)
        elif self._awake_at is None or due < self._awake_at:
            self._awake_at = due
            self._wake(max(0.0, due - self._now()))

    def _on_socket(self, event: int, fd: int, _multi: object, _data: object) -> None:
        self._watch(fd, bool(event & pycurl.POLL_IN), bool(event & pycurl.POLL_OUT))  # POLL_REMOVE is neither

    def _on_timer(self, milliseconds: int) -> None:
        self._curl_due = None if milliseconds < 0 else self._now() + milliseconds / 1000


def _earlier(one: float | None, other: float | None) -> float | None:
    if one is None or other is None:
        return other if one is None else one
    return min(one, other)
