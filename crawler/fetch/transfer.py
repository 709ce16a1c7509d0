"""One HTTP transfer: what has arrived so far, and how did it end?

Life of a transfer: *connecting* (until the TCP and TLS handshakes are done) → *waiting* (the request is sent) →
*reading* (the answer has begun) → ended. libcurl advances it through the callbacks `on_connected`, `on_header` and
`on_body`; the client ends it when libcurl is done, when a time limit is exceeded, or when everything is aborted. Each
state has its own time limit, and there is one for all together.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import pycurl

from crawler.fetch.alarms import Alarms
from crawler.fetch.chunks import ChunkedBody
from crawler.fetch.connections import IdleConnections, Route, is_same_address
from crawler.fetch.failures import is_lost_connection, reason_of
from crawler.fetch.limits import FetchLimits, TransferPace
from crawler.fetch.request import HttpRequest
from crawler.fetch.types import needs_whole_body
from crawler.items import Fetched, Reason
from crawler.urls.credentials import without_credentials

_SEND, _DO_NOT_SEND = int(pycurl.PREREQFUNC_OK), int(pycurl.PREREQFUNC_ABORT)
_ABORT = -1  # a callback's return value that makes libcurl close the connection
_STATUS_LINE = re.compile(rb"HTTP/\d(?:\.\d)? +(\d{3})(?!\d)")
_EMPTY_LINES = (b"\r\n", b"\n")
_ANSWERED = frozenset({Reason.OK, Reason.CUT_LENGTH, Reason.CUT_DISCONNECT, Reason.CUT_TIME, Reason.UNWANTED_TYPE})


@dataclass(slots=True, kw_only=True)
class TransferContext:
    """The state that all transfers of a client share."""

    now: Callable[[], float]
    alarms: Alarms[Transfer]
    connections: IdleConnections
    has_proxy: bool = False  # between us and all hosts
    body_bytes: int = 0  # in memory, of all running transfers


class Transfer:
    """One request in flight, on an easy handle lent to it."""

    __slots__ = (
        "_abort_reason", "_address", "_block", "_body", "_chunked", "_head", "_head_size", "_interim", "_limits",
        "_max_body", "_pace", "_request", "_shared", "_size", "_status", "_url", "_wants", "alarm", "done", "handle",
        "met_stale_connection", "route",
    )  # fmt: skip

    def __init__(
        self,
        shared: TransferContext,
        handle: pycurl.Curl,
        *,
        url: str,
        request: HttpRequest,
        address: str,
        done: Callable[[Fetched], None],
        limits: FetchLimits,
        wants: Callable[[bytes, str], bool] | None,
        now: float,
    ) -> None:
        self.handle = handle
        self.done = done
        self.alarm: float | None = None
        self.route: Route | None = None  # the connection in use
        self.met_stale_connection = False  # nothing was sent: libcurl may look for another
        self._shared = shared
        self._url = url
        self._request = request
        self._address = address
        self._limits = limits
        self._wants = wants
        self._pace = TransferPace(limits, now)
        self._block: list[bytes] = []  # header lines of an incomplete block
        self._head = b""  # of the answer, once it is complete
        self._head_size = 0
        self._interim = 0
        self._status = 0
        self._body: list[bytes] = []
        self._size = 0  # of the body so far
        self._max_body = limits.max_body
        self._chunked: ChunkedBody | None = None
        self._abort_reason: tuple[Reason, str] | None = None  # if we aborted it
        handle.setopt(pycurl.PREREQFUNCTION, self.on_connected)
        handle.setopt(pycurl.HEADERFUNCTION, self.on_header)
        handle.setopt(pycurl.WRITEFUNCTION, self.on_body)
        self._set_alarm()

    def on_connected(self, address: str, own_address: str, port: int, own_port: int) -> int:
        """Check the connection, new or reused, on which libcurl is about to send the request."""
        # A proxy was told the address to which it connects.
        if not self._shared.has_proxy and not is_same_address(address, self._address):
            self._abort(Reason.ADDRESS_DENIED, f"connected to {address} instead of {self._address}")
            return _DO_NOT_SEND
        if self._pace.sent is not None:
            # libcurl would send the request a second time, at once; the frontier decides whether and when to retry.
            self._abort(Reason.STALE_CONNECTION, "")
            return _DO_NOT_SEND
        route = (address, port, own_address, own_port)
        if not self._shared.connections.take(route):
            self.met_stale_connection = True
            return _DO_NOT_SEND
        self.route = route
        self._pace.request_sent(self._shared.now())
        self._set_alarm()
        return _SEND

    def on_header(self, line: bytes) -> int | None:
        """Receive one line of the answer's head, or of an interim answer. (Trailers are part of the raw chunks.)"""
        if self._shared.has_proxy and self._pace.sent is None:
            return None  # of the proxy's answer to CONNECT
        if not self._head_size:
            self._pace.answer_begun(self._shared.now())
            self._set_alarm()
        self._head_size = size = self._head_size + len(line)
        if size > self._limits.max_head:
            return self._abort(Reason.HEADERS_TOO_BIG, "")
        self._block.append(line)
        return self._end_block() if line in _EMPTY_LINES else None

    def on_body(self, data: bytes) -> int | None:
        """Receive a piece of the body as sent, chunk sizes included."""
        chunked = self._chunked
        end = chunked.find_end(data) if chunked is not None else None
        if chunked is not None and end is not None and (end < len(data) or chunked.is_doubtful):
            # Bytes after the end belong to no request, and libcurl would reuse the connection.
            if self._append_body(data[:end]) is None:
                self._abort(Reason.OK, "")
            return _ABORT
        return self._append_body(data)

    def _end_block(self) -> int | None:
        """Process a complete block of header lines: the head of the answer, or an interim answer."""
        head = b"".join(self._block)
        self._block.clear()
        found = _STATUS_LINE.match(head)
        status = int(found[1]) if found else 0
        if status == 101:
            return self._abort(Reason.BAD_HTTP, "switches to a protocol that was not requested")
        if 100 <= status < 200:
            self._interim += 1
            if self._interim > self._limits.interim:
                return self._abort(Reason.BAD_HTTP, f"more than {self._limits.interim} interim answers")
            return None
        self._head, self._status = head, status
        self._chunked = ChunkedBody.from_head(head)
        if needs_whole_body(head):
            self._max_body = max(self._limits.max_body, self._limits.max_document)
        is_head = self._request.method == "HEAD"  # then no body follows
        if self._wants is not None and not is_head and 200 <= status < 300 and not self._wants(head, self._url):
            return self._abort(Reason.UNWANTED_TYPE, "")
        return None

    def _append_body(self, data: bytes) -> int | None:
        room = self._max_body - self._size
        accepted = data if len(data) <= room else data[:room]
        self._body.append(accepted)
        self._size += len(accepted)
        self._shared.body_bytes += len(accepted)
        return self._abort(Reason.CUT_LENGTH, "") if len(data) > room else None

    def _abort(self, reason: Reason, detail: str) -> int:
        self._abort_reason = reason, detail
        return _ABORT

    def _set_alarm(self) -> None:
        self._shared.alarms.set(self, self._pace.deadline())

    def success(self) -> tuple[Reason, str]:
        """Return the reason of a transfer that libcurl reports as successful."""
        if self._head:
            return Reason.OK, ""
        return Reason.DISCONNECTED, "the connection ended within the headers"  # libcurl does not treat it as an error

    def failure(self, code: int, sentence: str) -> tuple[Reason, str]:
        """Return the reason of a transfer that libcurl reports as failed, or that we aborted."""
        if self._abort_reason is not None:
            return self._abort_reason
        if self._shared.has_proxy and self._pace.sent is None and code != pycurl.E_OPERATION_TIMEDOUT:
            return Reason.CONNECT_FAILED, f"by the proxy: {without_credentials(sentence)}"
        if not is_lost_connection(code):
            return reason_of(code), sentence
        if self._chunked is not None and self._chunked.is_broken:
            return Reason.BAD_HTTP, sentence
        return Reason.CUT_DISCONNECT if self._head else Reason.DISCONNECTED, sentence

    def exceeded_limit(self, now: float) -> tuple[Reason, str] | None:
        """Return the reason if a time limit is exceeded; else set the alarm for the next check and return None."""
        ending = self._pace.exceeded_limit(now, received=self._head_size + self._size, has_head=bool(self._head))
        if ending is None:
            self._set_alarm()
        elif self._shared.has_proxy and self._pace.sent is None:
            return ending[0], "by the proxy"
        return ending

    def result(self, reason: Reason, detail: str, now: float) -> Fetched:
        return Fetched(
            url=self._url,
            reason=reason,
            detail=detail,
            started=self._pace.started,
            ended=now,
            request=b"" if self._pace.sent is None else self._request.as_sent,
            status=self._status if reason in _ANSWERED else 0,
            head=self._head,
            body=b"".join(self._body),
            address=self._address if self._shared.has_proxy else self.handle.getinfo(pycurl.PRIMARY_IP),
            port=max(0, self.handle.getinfo(pycurl.PRIMARY_PORT)),  # -1 = not connected
            first_byte=self._pace.first_byte,
            connected=self.handle.getinfo(pycurl.NUM_CONNECTS) > 0,
        )

    def release(self) -> None:
        """Free the received bytes and the callback: the pooled handle still refers to this transfer."""
        self._shared.body_bytes -= self._size
        self._body, self._head, self._block = [], b"", []
        del self.done
