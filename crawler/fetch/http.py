"""The HTTP client: fetches many URLs at once through libcurl's multi interface.

It knows neither an event loop nor a clock. The caller reports when a socket is ready (`socket_ready`) or a timer has
expired (`timeout`); the client requests both through the functions `watch` and `wake`.
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
from crawler.fetch.request import default_headers, request_for
from crawler.fetch.transfer import Transfer, TransferContext
from crawler.items import Fetched, Reason

__all__ = ["FetchLimits", "HttpClient"]

logger = logging.getLogger(__name__)


class HttpClient:
    """Fetches URLs from given addresses, any number at a time.

    `watch(fd, readable, writable)`: call `socket_ready` when the socket is so; both False = stop watching it.
    `wake(delay)`: call `timeout` after so many seconds; replaces the earlier timer; None = cancel it.
    No method raises for what a server does, and `done` is never called within `fetch`, only by a later call.
    """

    def __init__(
        self,
        *,
        watch: Callable[[int, bool, bool], None],
        wake: Callable[[float | None], None],
        now: Callable[[], float],
        user_agent: str,
        limits: FetchLimits,
        verify_tls: bool,
        keep_idle: int = 1024,
        ca_file: str | None = None,
        proxy: str = "",
    ) -> None:
        self._watch = watch
        self._wake = wake
        self._now = now
        self._limits = limits
        self._headers = default_headers(user_agent)
        self._handles = Handles(keeps_connections=keep_idle > 0, verify_tls=verify_tls, ca_file=ca_file, proxy=proxy)
        self._alarms: Alarms[Transfer] = Alarms()
        self._connections = IdleConnections(keep_idle)
        self._shared = TransferContext(
            now=now, alarms=self._alarms, connections=self._connections, has_proxy=bool(proxy)
        )
        self._running: dict[pycurl.Curl, Transfer] = {}
        self._results: deque[tuple[Callable[[Fetched], None], Fetched]] = deque()
        self._curl_due: float | None = None
        self._wake_at: float | None = None
        self._closed = False
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._on_socket)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._on_timer)
        self._multi.setopt(pycurl.M_MAXCONNECTS, keep_idle)  # 0 means libcurl's own default; see FORBID_REUSE

    @property
    def active(self) -> int:
        return len(self._running)

    @property
    def bytes_in_flight(self) -> int:
        """Body bytes that running transfers have in memory."""
        return self._shared.body_bytes

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
        """Fetch the URL from this address and no other; `done` gets the result exactly once.

        `wants(head, url)` decides, once the head of a document has arrived, whether to read its body.
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
        self._schedule_wake()

    def socket_ready(self, fd: int, readable: bool, writable: bool) -> None:
        """Continue the transfer of a socket that can be read or written without blocking."""
        # First: a process that was suspended for long must not send requests whose time limit has passed meanwhile.
        self._end_overdue(self._now())
        if not self._closed:
            events = (pycurl.CSELECT_IN if readable else 0) | (pycurl.CSELECT_OUT if writable else 0)
            self._run_curl(fd, events)
        self._deliver_results()

    def timeout(self) -> None:
        """Check time limits and let libcurl run its timers; may be called at any time."""
        self._wake_at = None
        now = self._now()
        self._end_overdue(now)
        if self._curl_due is not None and self._curl_due <= now and not self._closed:
            self._curl_due = None
            self._run_curl(pycurl.SOCKET_TIMEOUT, 0)
        self._deliver_results()

    def _end_overdue(self, now: float) -> None:
        for transfer in self._alarms.due(now):
            ending = transfer.exceeded_limit(now)
            if ending is not None:
                self._end(transfer, *ending)

    def abort_all(self, reason: Reason = Reason.STOPPED) -> None:
        """End every running transfer now, with this reason; the results contain what had arrived."""
        for transfer in list(self._running.values()):
            self._end(transfer, reason, "")
        self._deliver_results()

    def close(self) -> None:
        """Abort everything and close every connection."""
        if self._closed:
            return
        self._closed = True
        self.abort_all()
        self._handles.close()
        self._multi.close()
        self._curl_due = None
        self._schedule_wake()

    def _run_curl(self, fd: int, events: int) -> None:
        """Let libcurl work, and end the transfers that it has finished."""
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
                    self._reconnect(transfer)
                else:
                    self._end(transfer, *transfer.failure(code, sentence))

    def _reconnect(self, transfer: Transfer) -> None:
        """Restart a transfer that met a stale connection: nothing was sent, and libcurl has closed that connection."""
        transfer.met_stale_connection = False
        self._multi.remove_handle(transfer.handle)
        self._multi.add_handle(transfer.handle)

    def _end(self, transfer: Transfer, reason: Reason, detail: str) -> None:
        """Remove the transfer and queue its result for `_deliver_results`."""
        handle = transfer.handle
        if reason == Reason.OK and transfer.route is not None:
            self._connections.add(transfer.route, handle.getinfo(pycurl.ACTIVESOCKET))  # -1 once removed
        self._multi.remove_handle(handle)
        del self._running[handle]
        self._alarms.turn_off(transfer)
        self._results.append((transfer.done, transfer.result(reason, detail, self._now())))
        transfer.release()
        self._handles.take_back(handle)

    def _refuse(self, url: str, done: Callable[[Fetched], None], reason: Reason, detail: str) -> None:
        now = self._now()
        self._results.append((done, Fetched(url=url, reason=reason, detail=detail, started=now, ended=now)))
        self._schedule_wake()

    def _deliver_results(self) -> None:
        """Call `done` for every queued result, now that libcurl is not on the stack; then schedule the next wake-up."""
        while self._results:
            done, fetched = self._results.popleft()
            try:
                done(fetched)
            except Exception:  # a caller's bug must not cost the other transfers their results
                logger.exception("taking the result of %s failed", fetched.url)
        self._schedule_wake()

    def _schedule_wake(self) -> None:
        """Request a wake-up at the earliest deadline; a pending wake-up that is earlier than needed stays."""
        due = self._now() if self._results else _earlier(self._curl_due, self._alarms.next())
        if due is None:
            if self._wake_at is not None:
                self._wake_at = None
                self._wake(None)
        elif self._wake_at is None or due < self._wake_at:
            self._wake_at = due
            self._wake(max(0.0, due - self._now()))

    def _on_socket(self, event: int, fd: int, _multi: object, _data: object) -> None:
        self._watch(fd, bool(event & pycurl.POLL_IN), bool(event & pycurl.POLL_OUT))  # POLL_REMOVE is neither

    def _on_timer(self, milliseconds: int) -> None:
        self._curl_due = None if milliseconds < 0 else self._now() + milliseconds / 1000


def _earlier(one: float | None, other: float | None) -> float | None:
    if one is None or other is None:
        return other if one is None else one
    return min(one, other)
