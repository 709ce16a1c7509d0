"""How is libcurl configured? A pool of easy handles with our options."""

from __future__ import annotations

import pycurl

from crawler.fetch.request import HttpRequest

_MOST_IDLE = 256  # easy handles that the pool keeps for later fetches


class Handles:
    """A pool of easy handles, lent out for one fetch each; `close` closes those that are in the pool."""

    def __init__(self, *, keeps_connections: bool, verify_tls: bool, ca_file: str | None, proxy: str = "") -> None:
        self._proxy = proxy
        self._keeps_connections = keeps_connections
        self._verify_tls = verify_tls
        self._ca_file = ca_file
        self._idle: list[pycurl.Curl] = []

    def lend(self, request: HttpRequest, connect_to: bytes) -> pycurl.Curl:
        """Return a handle that will send this request; the caller sets the callbacks that receive the answer."""
        handle = self._idle.pop() if self._idle else self._new()
        handle.setopt(pycurl.HTTPGET, 1)  # undoes NOBODY of an earlier HEAD
        if request.method == "HEAD":
            handle.setopt(pycurl.NOBODY, 1)
        handle.setopt(pycurl.URL, request.origin)
        handle.setopt(pycurl.REQUEST_TARGET, request.target)
        handle.setopt(pycurl.HTTPHEADER, request.headers)
        handle.setopt(pycurl.CONNECT_TO, [connect_to])
        if self._proxy:
            name = [header for header in request.headers if header.lower().startswith(b"user-agent:")]
            handle.setopt(pycurl.PROXYHEADER, name)
        return handle

    def take_back(self, handle: pycurl.Curl) -> None:
        if len(self._idle) < _MOST_IDLE:
            self._idle.append(handle)
        else:
            handle.close()

    def close(self) -> None:
        for handle in self._idle:
            handle.close()
        self._idle.clear()

    def _new(self) -> pycurl.Curl:
        """Create a handle with the options that all fetches share."""
        handle = pycurl.Curl()
        handle.setopt(pycurl.NOSIGNAL, 1)
        handle.setopt(pycurl.PROTOCOLS, pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS)
        handle.setopt(pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_1_1)
        handle.setopt(pycurl.HTTP09_ALLOWED, 0)
        handle.setopt(pycurl.HTTP_TRANSFER_DECODING, 0)
        handle.setopt(pycurl.HTTP_CONTENT_DECODING, 0)
        handle.setopt(pycurl.FOLLOWLOCATION, 0)
        handle.setopt(pycurl.NETRC, pycurl.NETRC_IGNORED)
        handle.setopt(pycurl.PROXY, self._proxy)  # set, perhaps empty: proxies of the environment are ignored
        handle.setopt(pycurl.NOPROXY, "" if self._proxy else "*")
        if self._proxy:
            # A tunnel for http, too: with CONNECT_TO, the proxy is told the checked address and never a name.
            handle.setopt(pycurl.HTTPPROXYTUNNEL, 1)
        handle.setopt(pycurl.FORBID_REUSE, 0 if self._keeps_connections else 1)
        handle.setopt(pycurl.SSL_VERIFYPEER, 1 if self._verify_tls else 0)
        handle.setopt(pycurl.SSL_VERIFYHOST, 2 if self._verify_tls else 0)
        if self._ca_file is not None:
            handle.setopt(pycurl.CAINFO, self._ca_file)
        return handle
