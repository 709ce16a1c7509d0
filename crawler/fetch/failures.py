"""Error codes of libcurl as reason codes of the crawl."""

from __future__ import annotations

import pycurl

from crawler.items import Reason

_E_TOO_LARGE = 100  # pycurl has no name for it: a line over 100 KiB, or more than 5,000 lines

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


def is_lost_connection(code: int) -> bool:
    """Whether the connection ended too early; if the head had arrived, a truncated document is left."""
    return code in _LOST


def reason_of(code: int) -> Reason:
    """Return the reason for any other error code of libcurl."""
    return _REASONS.get(code, Reason.FETCH_ERROR)
