"""What is sent to ask for a URL?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

_URL = re.compile(
    r"(?P<scheme>https?)://(?P<authority>(?:\[[0-9a-f:.]+\]|[0-9a-z._~!$&'()*+,;=-]+)(?::(?P<port>[0-9]{1,5}))?)"
    r"(?P<target>(?:[/?][!-~]*)?)",
    re.IGNORECASE | re.ASCII,  # ASCII, or "s" would also match "ſ"
)
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")

# No Accept-Language: a site's own choice is the page it wants found.
_ACCEPT = (
    ("Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"),
    ("Accept-Encoding", "gzip, deflate"),
)


class HttpRequest(NamedTuple):
    """What is sent: once as libcurl wants it, once as the server sees it."""

    method: str
    origin: bytes  # without path: libcurl would rewrite it
    target: bytes
    headers: list[bytes]
    as_sent: bytes


def standing_headers(user_agent: str) -> tuple[bytes, ...]:
    """The header lines of every request; ValueError if the user agent cannot be sent."""
    return _header_lines((("User-Agent", user_agent), *_ACCEPT))


def request_for(url: str, method: str, standing: Sequence[bytes], given: Sequence[tuple[str, str]]) -> HttpRequest:
    """The request for a URL, its target spelled as in the URL; ValueError if it cannot be sent."""
    headers = _merged(standing, given)
    if method not in ("GET", "HEAD"):
        raise ValueError(f"method {method!r} is never sent")
    parts = _URL.fullmatch(url.partition("#")[0])
    if parts is None or not 0 < int(parts["port"] or 80) < 65536:
        raise ValueError("not an http or https URL that can be sent")
    scheme, authority, target = parts["scheme"], parts["authority"], parts["target"]
    if not target.startswith("/"):
        target = "/" + target
    lines = (f"Host: {authority}".encode(), *headers)
    return HttpRequest(
        method=method,
        origin=f"{scheme}://{authority}/".encode(),
        target=target.encode(),
        # libcurl takes "Name:" as "do not send Name", and sends "Name:" for "Name;".
        headers=[line[:-1] + b";" if line.endswith(b":") and line.count(b":") == 1 else line for line in lines],
        as_sent=b"\r\n".join((f"{method} {target} HTTP/1.1".encode(), *lines, b"", b"")),
    )


def _merged(standing: Sequence[bytes], given: Sequence[tuple[str, str]]) -> Sequence[bytes]:
    """The header lines of a request: the standing ones that are not replaced, then those given."""
    if not given:
        return standing
    names = {name.lower().encode() for name, _ in given}
    if b"host" in names:
        raise ValueError("the Host header is the URL's")
    return (*(line for line in standing if line.partition(b":")[0].lower() not in names), *_header_lines(given))


def _header_lines(headers: Iterable[tuple[str, str]]) -> tuple[bytes, ...]:
    return tuple(_header_line(name, value) for name, value in headers)


def _header_line(name: str, value: str) -> bytes:
    if not _HEADER_NAME.fullmatch(name) or not _HEADER_VALUE.fullmatch(value):
        raise ValueError(f"header {name!r} cannot be sent with value {value!r}")
    return f"{name}: {value}".strip().encode("latin-1")
