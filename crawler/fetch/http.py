"""How is a URL asked for over HTTP, and what came back?

The client drives libcurl's multi interface and knows neither an event loop nor a clock. It is told when a socket is
ready (`socket_ready`) or a time has come (`timeout`), and tells by `watch` and `wake` what it waits for.

Life of a transfer: *connecting* (until TCP and TLS stand) → *waiting* (the request is out) → *reading* (the answer has
begun) → ended. Each state has a time limit of its own, and all together have one. libcurl would count its own limits
on its own clock and cannot tell a slow start from a slow answer, so the limits are kept here.
"""

from __future__ import annotations

import logging
import re
import select
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from heapq import heapify, heappop, heappush
from ipaddress import ip_address
from itertools import count
from typing import NamedTuple

import pycurl

from crawler.items import Fetched, Reason

logger = logging.getLogger(__name__)

_KEPT_HANDLES = 256  # easy handles kept for the next fetches
_ABORT = -1  # a callback's answer that makes libcurl close the connection

_URL = re.compile(
    r"(?P<scheme>https?)://(?P<authority>(?:\[[0-9a-f:.]+\]|[0-9a-z._~!$&'()*+,;=-]+)(?::(?P<port>[0-9]{1,5}))?)"
    r"(?P<target>(?:[/?][!-~]*)?)",
    re.IGNORECASE | re.ASCII,  # ASCII, or "s" would also match "ſ"
)
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_STATUS_LINE = re.compile(rb"HTTP/\d(?:\.\d)? +(\d{3})(?!\d)")
_TRANSFER_ENCODING = re.compile(rb"\ntransfer-encoding:[ \t]*([^\r\n]*)")
_EMPTY_LINES = (b"\r\n", b"\n")
_CHUNK_SIZE = re.compile(rb"[0-9a-fA-F]{1,16}(?![0-9a-fA-F])")

# No Accept-Language: a site's own choice is the page it wants found.
_ACCEPT = (
    ("Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"),
    ("Accept-Encoding", "gzip, deflate"),
)

_E_TOO_LARGE = 100  # pycurl has no name for it: a line over 100 KiB, or more than 5,000 lines

_ANSWERED = frozenset({Reason.OK, Reason.CUT_LENGTH, Reason.CUT_DISCONNECT, Reason.CUT_TIME})

# The connection ended too early; whether that leaves a cut document depends on what had come.
_LOST = frozenset({pycurl.E_PARTIAL_FILE, pycurl.E_RECV_ERROR, pycurl.E_SEND_ERROR, pycurl.E_GOT_NOTHING})

_REASONS = {
    pycurl.E_COULDNT_CONNECT: Reason.CONNECT_FAILED,
    pycurl.E_INTERFACE_FAILED: Reason.CONNECT_FAILED,
    pycurl.E_OPERATION_TIMEDOUT: Reason.CONNECT_TIMEOUT,  # libcurl's own limit, 300 s; no other is set
    pycurl.E_SSL_CONNECT_ERROR: Reason.TLS_FAILED,
    pycurl.E_PEER_FAILED_VERIFICATION: Reason.TLS_FAILED,
    pycurl.E_SSL_CERTPROBLEM: Reason.TLS_FAILED,
    pycurl.E_SSL_CIPHER: Reason.TLS_FAILED,
    pycurl.E_SSL_CACERT_BADFILE: Reason.TLS_FAILED,
    pycurl.E_SSL_ISSUER_ERROR: Reason.TLS_FAILED,
    pycurl.E_SSL_INVALIDCERTSTATUS: Reason.TLS_FAILED,
    pycurl.E_UNSUPPORTED_PROTOCOL: Reason.BAD_HTTP,  # of the answer: ours is checked before
    pycurl.E_FTP_WEIRD_SERVER_REPLY: Reason.BAD_HTTP,  # the old name; HTTP answers can be weird too
    pycurl.E_BAD_CONTENT_ENCODING: Reason.BAD_HTTP,
    _E_TOO_LARGE: Reason.HEADERS_TOO_BIG,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchLimits:
    """How long and how big a fetch may become."""

    connect: float = 10.0  # TCP and TLS together
    first_byte: float = 20.0  # from the request to the first line of the answer
    low_speed_bytes: int = 1024  # a second, on average over …
    low_speed_time: float = 10.0  # … each span of this length once the answer has begun
    total: float = 60.0
    body: int = 8 * 1024 * 1024
    head: int = 64 * 1024  # interim answers included
    interim: int = 16  # answers of class 1xx before the answer


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
        self._verify_tls = verify_tls
        self._ca_file = ca_file
        self._keeps_connections = keep_idle > 0
        self._headers = _header_lines((("User-Agent", user_agent), *_ACCEPT))
        self._running: dict[pycurl.Curl, _Transfer] = {}
        self._idle_handles: list[pycurl.Curl] = []
        self._ended: deque[tuple[Callable[[Fetched], None], Fetched]] = deque()
        self._alarms = _Alarms()
        self._idle_connections = _IdleConnections(keep_idle)
        self._curl_due: float | None = None
        self._awake_at: float | None = None
        self._buffered = 0
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
        return self._buffered

    def fetch(
        self,
        url: str,
        *,
        address: str,
        done: Callable[[Fetched], None],
        method: str = "GET",
        headers: Sequence[tuple[str, str]] = (),
        limits: FetchLimits | None = None,
    ) -> None:
        """Ask the address, and no other, for the URL; `done` gets the result exactly once."""
        now = self._now()
        try:
            request = _request(url, method, _merged(self._headers, headers))
            pin = _connect_to(address)
        except ValueError as error:
            self._refuse(url, done, Reason.FETCH_ERROR, str(error))
            return
        if self._closed:
            self._refuse(url, done, Reason.STOPPED, "the client is closed")
            return
        transfer = _Transfer(
            client=self, url=url, request=request, address=address, done=done, limits=limits or self._limits, now=now
        )
        self._start(transfer, pin)
        self._arm()

    def socket_ready(self, fd: int, readable: bool, writable: bool) -> None:
        """The socket can be read or written without waiting."""
        if not self._closed:
            events = (pycurl.CSELECT_IN if readable else 0) | (pycurl.CSELECT_OUT if writable else 0)
            self._act(fd, events)
        self._settle()

    def timeout(self) -> None:
        """The time asked for by `wake` has come. Harmless when it has not."""
        self._awake_at = None
        now = self._now()
        if self._curl_due is not None and self._curl_due <= now and not self._closed:
            self._curl_due = None
            self._act(pycurl.SOCKET_TIMEOUT, 0)
        for transfer in self._alarms.due(now):
            self._check_time(transfer, now)
        self._settle()

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
        for handle in self._idle_handles:
            handle.close()
        self._idle_handles.clear()
        self._multi.close()
        self._curl_due = None
        self._arm()

    def _start(self, transfer: _Transfer, pin: bytes) -> None:
        handle = self._idle_handles.pop() if self._idle_handles else self._new_handle()
        transfer.handle = handle
        handle.setopt(pycurl.HTTPGET, 1)  # undoes NOBODY of an earlier HEAD
        if transfer.request.method == "HEAD":
            handle.setopt(pycurl.NOBODY, 1)
        handle.setopt(pycurl.URL, transfer.request.origin)
        handle.setopt(pycurl.REQUEST_TARGET, transfer.request.target)
        handle.setopt(pycurl.HTTPHEADER, transfer.request.headers)
        handle.setopt(pycurl.CONNECT_TO, [pin])
        handle.setopt(pycurl.PREREQFUNCTION, transfer.on_connected)
        handle.setopt(pycurl.HEADERFUNCTION, transfer.on_header)
        handle.setopt(pycurl.WRITEFUNCTION, transfer.on_body)
        self._running[handle] = transfer
        self._set_alarm(transfer)
        self._multi.add_handle(handle)

    def _new_handle(self) -> pycurl.Curl:
        """A handle with everything set that is the same for all fetches."""
        handle = pycurl.Curl()
        handle.setopt(pycurl.NOSIGNAL, 1)
        handle.setopt(pycurl.PROTOCOLS, pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS)
        handle.setopt(pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_1_1)
        handle.setopt(pycurl.HTTP09_ALLOWED, 0)
        handle.setopt(pycurl.HTTP_TRANSFER_DECODING, 0)
        handle.setopt(pycurl.HTTP_CONTENT_DECODING, 0)
        handle.setopt(pycurl.FOLLOWLOCATION, 0)
        handle.setopt(pycurl.NETRC, pycurl.NETRC_IGNORED)
        handle.setopt(pycurl.PROXY, "")  # set and empty: the environment's proxies do not count
        handle.setopt(pycurl.NOPROXY, "*")
        handle.setopt(pycurl.FORBID_REUSE, 0 if self._keeps_connections else 1)
        handle.setopt(pycurl.SSL_VERIFYPEER, 1 if self._verify_tls else 0)
        handle.setopt(pycurl.SSL_VERIFYHOST, 2 if self._verify_tls else 0)
        if self._ca_file is not None:
            handle.setopt(pycurl.CAINFO, self._ca_file)
        return handle

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

    def _begin_again(self, transfer: _Transfer) -> None:
        """Nothing was sent, and libcurl has closed the connection it meant to use; let it find another."""
        transfer.met_stale_connection = False
        self._multi.remove_handle(transfer.handle)
        self._multi.add_handle(transfer.handle)

    def _check_time(self, transfer: _Transfer, now: float) -> None:
        overdue = transfer.overdue(now)
        if overdue is None:
            self._set_alarm(transfer)
        else:
            self._end(transfer, *overdue)

    def _end(self, transfer: _Transfer, reason: Reason, detail: str) -> None:
        """Take the transfer out and put its result in line for `_settle`."""
        handle = transfer.handle
        if reason == Reason.OK and transfer.route is not None:
            self._idle_connections.add(transfer.route, handle.getinfo(pycurl.ACTIVESOCKET))  # -1 once removed
        self._multi.remove_handle(handle)
        del self._running[handle]
        transfer.alarm = None
        self._ended.append((transfer.done, transfer.result(reason, detail, self._now())))
        self._buffered -= transfer.size
        transfer.forget()  # the handle still refers to it
        if len(self._idle_handles) < _KEPT_HANDLES:
            self._idle_handles.append(handle)
        else:
            handle.close()

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

    def _set_alarm(self, transfer: _Transfer) -> None:
        self._alarms.set(transfer, transfer.deadline())

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


class _Transfer:
    """One request on its way: what it has received so far, and how long it may still take."""

    __slots__ = (
        "_address", "_block", "_body", "_chunked", "_client", "_closes", "_first_byte", "_head", "_head_size", "_interim",
        "_limits", "_sent", "_span_end", "_span_start", "_started", "_status", "_url",
        "_verdict", "alarm", "done", "handle", "met_stale_connection", "request", "route", "size",
    )  # fmt: skip

    def __init__(
        self,
        *,
        client: HttpClient,
        url: str,
        request: _Request,
        address: str,
        done: Callable[[Fetched], None],
        limits: FetchLimits,
        now: float,
    ) -> None:
        self.request = request
        self.done = done
        self.handle: pycurl.Curl = None
        self.alarm: float | None = None
        self.route: _Route | None = None  # the connection in use
        self.met_stale_connection = False
        self.size = 0  # of the body so far
        self._client = client
        self._url = url
        self._address = address
        self._limits = limits
        self._started = now
        self._sent: float | None = None
        self._first_byte: float | None = None
        self._span_start = 0  # bytes received when the current span of the speed limit began
        self._span_end = 0.0
        self._block: list[bytes] = []  # header lines of a block that has not ended
        self._head = b""  # of the answer, once it is complete
        self._head_size = 0
        self._interim = 0
        self._status = 0
        self._body: list[bytes] = []
        self._chunked: _ChunkedBody | None = None
        self._closes = False  # the connection must not carry another request
        self._verdict: tuple[Reason, str] | None = None  # why we aborted it

    def on_connected(self, address: str, own_address: str, port: int, own_port: int) -> int:
        """libcurl has a connection, new or kept, and is about to send the request."""
        if address != self._address and ip_address(address) != ip_address(self._address):
            self._abort(Reason.ADDRESS_DENIED, f"connected to {address} instead of {self._address}")
            return int(pycurl.PREREQFUNC_ABORT)
        if self._sent is not None:
            # libcurl would send the request a second time, at once; whether and when is for the frontier to say.
            self._abort(Reason.STALE_CONNECTION, "")
            return int(pycurl.PREREQFUNC_ABORT)
        route = (address, port, own_address, own_port)
        if not self._client._idle_connections.take(route):
            self.met_stale_connection = True
            return int(pycurl.PREREQFUNC_ABORT)
        self.route = route
        self._sent = self._client._now()
        self._client._set_alarm(self)
        return int(pycurl.PREREQFUNC_OK)

    def on_header(self, line: bytes) -> int | None:
        """One line of the answer's head, or of an interim answer. (Trailers come with the raw chunks.)"""
        if self._first_byte is None:
            self._begin()
        self._head_size += len(line)
        if self._head_size > self._limits.head:
            return self._abort(Reason.HEADERS_TOO_BIG, "")
        self._block.append(line)
        return self._end_block() if line in _EMPTY_LINES else None

    def on_body(self, data: bytes) -> int | None:
        """A piece of the body as it came, chunk sizes and all."""
        end = self._chunked.end(data) if self._chunked is not None else None
        if end is not None and (end < len(data) or self._closes):
            # What follows belongs to nobody, and libcurl would keep the connection.
            if self._keep(data[:end]) is None:
                self._abort(Reason.OK, "")
            return _ABORT
        return self._keep(data)

    def _begin(self) -> None:
        self._first_byte = self._client._now()
        self._span_end = self._first_byte + self._limits.low_speed_time
        self._client._set_alarm(self)

    def _end_block(self) -> int | None:
        """The empty line has come: was this the answer, or is it still to come?"""
        head = b"".join(self._block)
        self._block.clear()
        found = _STATUS_LINE.match(head)
        status = int(found[1]) if found else 0
        if status == 101:
            return self._abort(Reason.BAD_HTTP, "switches to a protocol that was not asked for")
        if 100 <= status < 200:
            self._interim += 1
            if self._interim > self._limits.interim:
                return self._abort(Reason.BAD_HTTP, f"more than {self._limits.interim} interim answers")
            return None
        self._head, self._status = head, status
        self._read_framing(head.lower())
        return None

    def _read_framing(self, head: bytes) -> None:
        codings = b",".join(_TRANSFER_ENCODING.findall(head))
        if b"chunked" in codings:
            self._chunked = _ChunkedBody()
            # RFC 9112 §6.1: who also sends a length may be smuggling; and libcurl sees no end after other codings.
            self._closes = codings.strip() != b"chunked" or b"\ncontent-length:" in head

    def _keep(self, data: bytes) -> int | None:
        room = self._limits.body - self.size
        kept = data if len(data) <= room else data[:room]
        self._body.append(kept)
        self.size += len(kept)
        self._client._buffered += len(kept)
        return self._abort(Reason.CUT_LENGTH, "") if len(data) > room else None

    def _abort(self, reason: Reason, detail: str) -> int:
        self._verdict = reason, detail
        return _ABORT

    def success(self) -> tuple[Reason, str]:
        """How it ended if libcurl is content."""
        if self._head:
            return Reason.OK, ""
        return Reason.DISCONNECTED, "the connection ended within the headers"  # libcurl lets that pass

    def failure(self, code: int, sentence: str) -> tuple[Reason, str]:
        """How it ended if libcurl is not content, or we were not."""
        if self._verdict is not None:
            return self._verdict
        if code not in _LOST:
            return _REASONS.get(code, Reason.FETCH_ERROR), sentence
        if self._chunked is not None and self._chunked.is_broken:
            return Reason.BAD_HTTP, sentence
        return Reason.CUT_DISCONNECT if self._head else Reason.DISCONNECTED, sentence

    def deadline(self) -> float:
        """When `overdue` must be asked next."""
        end = self._started + self._limits.total
        if self._first_byte is not None:
            return min(end, self._span_end)
        if self._sent is not None:
            return min(end, self._sent + self._limits.first_byte)
        return min(end, self._started + self._limits.connect)

    def overdue(self, now: float) -> tuple[Reason, str] | None:
        """Which time limit is exceeded, or None; a span of sufficient speed is followed by the next."""
        if now < self.deadline():
            return None
        if now >= self._started + self._limits.total:
            return Reason.CUT_TIME if self._head else Reason.TIMEOUT, ""
        if self._first_byte is None:
            return Reason.CONNECT_TIMEOUT if self._sent is None else Reason.FIRST_BYTE_TIMEOUT, ""
        received = self._head_size + self.size
        if received - self._span_start < self._limits.low_speed_bytes * self._limits.low_speed_time:
            return (Reason.CUT_TIME, "too slow") if self._head else (Reason.TOO_SLOW, "")
        self._span_start, self._span_end = received, now + self._limits.low_speed_time
        return None

    def result(self, reason: Reason, detail: str, now: float) -> Fetched:
        return Fetched(
            url=self._url,
            reason=reason,
            detail=detail,
            started=self._started,
            ended=now,
            request=b"" if self._sent is None else self.request.as_sent,
            status=self._status if reason in _ANSWERED else 0,
            head=self._head,
            body=b"".join(self._body),
            address=self.handle.getinfo(pycurl.PRIMARY_IP),
            port=max(0, self.handle.getinfo(pycurl.PRIMARY_PORT)),  # -1 = not connected
            first_byte=self._first_byte,
            connected=self.handle.getinfo(pycurl.NUM_CONNECTS) > 0,
        )

    def forget(self) -> None:
        """Let go of what was received, and of who asked for it."""
        self._body, self._head, self._block = [], b"", []
        del self.done


class _ChunkedBody:
    """Where does a chunked body end? libcurl knows, but does not say, and hands on what follows the end.

    Reads what libcurl reads: lines may end in a bare LF, and what follows a chunk's size does not matter.
    """

    __slots__ = ("_ends_chunk", "_is_last", "_line", "_skip", "is_broken")

    def __init__(self) -> None:
        self._skip = 0  # bytes of the chunk still to come
        self._line = b""  # the beginning of a line that has not ended
        self._ends_chunk = False  # the next line is the empty one after a chunk
        self._is_last = False  # the chunk of size 0 has come: only trailers follow
        self.is_broken = False

    def end(self, data: bytes) -> int | None:
        """How many bytes of the next piece belong to the body if it ends there, else None."""
        at = 0
        while at < len(data) and not self.is_broken:
            if self._skip:
                step = min(self._skip, len(data) - at)
                self._skip -= step
                at += step
                continue
            newline = data.find(b"\n", at)
            piece = data[at : at + 32 if newline < 0 else min(newline, at + 32)]  # more than a size needs
            self._line = (self._line + piece)[:32]
            if newline < 0:
                return None
            at = newline + 1
            if self._ends_body():
                return at
        return None

    def _ends_body(self) -> bool:
        """Take in a line; True if it is the empty one after the last chunk."""
        line, self._line = self._line.strip(), b""
        if self._is_last:
            return not line
        if self._ends_chunk:
            self._ends_chunk = False
            self.is_broken = bool(line)
        elif size := _CHUNK_SIZE.match(line):
            self._skip = int(size[0], 16)
            self._is_last = not self._skip
            self._ends_chunk = not self._is_last
        else:
            self.is_broken = True
        return False


class _Alarms:
    """Whose time limit is to be checked next? A heap; an entry counts only while its transfer still waits for it."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, _Transfer]] = []
        self._serial = count()
        self._tidy_at = 1024

    def set(self, transfer: _Transfer, at: float) -> None:
        """Check the transfer at this time, unless it is to be checked earlier anyway."""
        if transfer.alarm is None or at < transfer.alarm:
            transfer.alarm = at
            heappush(self._heap, (at, next(self._serial), transfer))
            if len(self._heap) > self._tidy_at:
                self._tidy()

    def due(self, now: float) -> list[_Transfer]:
        """The transfers whose time has come; their alarms are off."""
        due = []
        while self._heap and self._heap[0][0] <= now:
            at, _, transfer = heappop(self._heap)
            if transfer.alarm == at:
                transfer.alarm = None
                due.append(transfer)
        return due

    def next(self) -> float | None:
        while self._heap and self._heap[0][2].alarm != self._heap[0][0]:
            heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def _tidy(self) -> None:
        """Most transfers end long before their alarm: drop what they leave before it fills the heap."""
        self._heap = [entry for entry in self._heap if entry[2].alarm == entry[0]]
        heapify(self._heap)
        self._tidy_at = 2 * len(self._heap) + 1024


_Route = tuple[str, int, str, int]  # the server's address and port, and our own


class _IdleConnections:
    """Did a kept connection stay quiet? What a server says unasked must not become the answer to the next request.

    libcurl looks only at connections that were idle for more than a second (seen in 8.23), so this looks at all.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._sockets: OrderedDict[_Route, int] = OrderedDict()

    def add(self, route: _Route, fd: int) -> None:
        """The connection is kept, unless libcurl has closed it already and gives -1 for its socket."""
        if fd >= 0:
            self._sockets[route] = fd
        if len(self._sockets) > self._capacity:
            self._sockets.popitem(last=False)

    def take(self, route: _Route) -> bool:
        """The connection is to be used again, or is new; False if anything came in, be it the end."""
        fd = self._sockets.pop(route, -1)
        if fd < 0:
            return True
        poll = select.poll()
        poll.register(fd, select.POLLIN)
        return not poll.poll(0)


class _Request(NamedTuple):
    """What is sent: once as libcurl wants it, once as the server sees it."""

    method: str
    origin: bytes  # without path: libcurl would rewrite it
    target: bytes
    headers: list[bytes]
    as_sent: bytes


def _request(url: str, method: str, headers: Sequence[bytes]) -> _Request:
    """The request for a URL, its target spelled as in the URL; ValueError if it cannot be sent."""
    if method not in ("GET", "HEAD"):
        raise ValueError(f"method {method!r} is never sent")
    parts = _URL.fullmatch(url.partition("#")[0])
    if parts is None or not 0 < int(parts["port"] or 80) < 65536:
        raise ValueError("not an http or https URL that can be sent")
    scheme, authority, target = parts["scheme"], parts["authority"], parts["target"]
    if not target.startswith("/"):
        target = "/" + target
    lines = (f"Host: {authority}".encode(), *headers)
    return _Request(
        method=method,
        origin=f"{scheme}://{authority}/".encode(),
        target=target.encode(),
        # libcurl takes "Name:" as "do not send Name", and sends "Name:" for "Name;".
        headers=[line[:-1] + b";" if line.endswith(b":") and line.count(b":") == 1 else line for line in lines],
        as_sent=b"\r\n".join((f"{method} {target} HTTP/1.1".encode(), *lines, b"", b"")),
    )


def _header_lines(headers: Iterable[tuple[str, str]]) -> tuple[bytes, ...]:
    return tuple(_header_line(name, value) for name, value in headers)


def _header_line(name: str, value: str) -> bytes:
    if not _HEADER_NAME.fullmatch(name) or not _HEADER_VALUE.fullmatch(value):
        raise ValueError(f"header {name!r} cannot be sent with value {value!r}")
    return f"{name}: {value}".strip().encode("latin-1")


def _merged(standing: Sequence[bytes], given: Sequence[tuple[str, str]]) -> Sequence[bytes]:
    """The header lines of a request: the standing ones that are not replaced, then those given."""
    if not given:
        return standing
    names = {name.lower().encode() for name, _ in given}
    if b"host" in names:
        raise ValueError("the Host header is the URL's")
    return (*(line for line in standing if line.partition(b":")[0].lower() not in names), *_header_lines(given))


@lru_cache(maxsize=4096)
def _connect_to(address: str) -> bytes:
    """libcurl's way to say: whatever the URL's host, connect to this address, at the URL's port."""
    if "%" in address:
        raise ValueError(f"address {address!r} has a zone")
    parsed = ip_address(address)
    return f"::[{parsed}]:".encode() if parsed.version == 6 else f"::{parsed}:".encode()


def _earlier(one: float | None, other: float | None) -> float | None:
    if one is None or other is None:
        return other if one is None else one
    return min(one, other)
