"""The HTTP request that is sent for a URL."""

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

# No Accept-Language: the page in the site's default language is the one that the site wants to be found.
_ACCEPT = (
    ("Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"),
    ("Accept-Encoding", "gzip, deflate"),
)


class HttpRequest(NamedTuple):
    """A request in parts as libcurl takes it, and as the bytes that the server receives (`as_sent`)."""

    method: str
    origin: bytes  # without path: libcurl would rewrite it
    target: bytes
    headers: list[bytes]
    as_sent: bytes


def default_headers(user_agent: str) -> tuple[bytes, ...]:
    """Return the header lines of every request; ValueError if the user agent cannot be sent."""
    return _header_lines((("User-Agent", user_agent), *_ACCEPT))


def request_for(url: str, method: str, default: Sequence[bytes], extra: Sequence[tuple[str, str]]) -> HttpRequest:
    """Build the request for a URL, its target byte for byte as in the URL; ValueError if it cannot be sent."""
    headers = _merge_headers(default, extra)
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


def _merge_headers(default: Sequence[bytes], extra: Sequence[tuple[str, str]]) -> Sequence[bytes]:
    """Return the header lines of a request: the default ones that are not replaced, then the extra ones."""
    if not extra:
        return default
    names = {name.lower().encode() for name, _ in extra}
    if b"host" in names:
        raise ValueError("the Host header is taken from the URL and cannot be set")
    return (*(line for line in default if line.partition(b":")[0].lower() not in names), *_header_lines(extra))


def _header_lines(headers: Iterable[tuple[str, str]]) -> tuple[bytes, ...]:
    return tuple(_header_line(name, value) for name, value in headers)


def _header_line(name: str, value: str) -> bytes:
    if not _HEADER_NAME.fullmatch(name) or not _HEADER_VALUE.fullmatch(value):
        raise ValueError(f"header {name!r} cannot be sent with value {value!r}")
    return f"{name}: {value}".strip().encode("latin-1")
