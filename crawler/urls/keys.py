"""The 128-bit key of a URL in the store.

Stores keep the keys, so the way they are computed never changes. The first half is a fingerprint of the host alone; the
second half is one of the canonical URL without "//" and the host: "https:/a?b" or "https::8443/a?b".
"""

from __future__ import annotations

from collections.abc import Iterable

from xxhash import xxh3_64_intdigest

from crawler.items import Key

_SIGN = 1 << 63
_new = tuple.__new__  # takes half the time of a NamedTuple's own constructor


def host_key(host: str) -> int:
    """Return the first half of the keys of this host's URLs: its fingerprint as a signed 64-bit number."""
    return _fingerprint(host)


def key_of(url: str) -> Key:
    """Return the key of a canonical URL."""
    host, rest = _halves(url)
    return Key(_fingerprint(host), _fingerprint(rest))


def keys_of(urls: Iterable[str]) -> list[Key]:
    """Return the keys of canonical URLs, in their order; cheaper than one by one, as a page's links share few hosts."""
    origins: dict[str, tuple[int, str]] = {}
    keys = []
    for url in urls:
        end = url.find("/", 8)
        origin = origins.get(url[:end])
        if origin is None:
            host, rest = _halves(url[:end])
            origin = origins[url[:end]] = _fingerprint(host), rest
        digest = xxh3_64_intdigest((origin[1] + url[end:]).encode("utf-8", "surrogatepass"))
        keys.append(_new(Key, (origin[0], (digest ^ _SIGN) - _SIGN)))
    return keys


def link_fingerprint(url: str, anchor: str) -> int:
    """Return the fingerprint by which a link (URL and anchor text) is recognised as seen before. No store keeps it."""
    return xxh3_64_intdigest(f"{url}\0{anchor}".encode("utf-8", "surrogatepass"))


def _halves(url: str) -> tuple[str, str]:
    scheme, _, after = url.partition("//")
    host, slash, target = after.partition("/")
    if ":" in host:  # a port, or an IPv6 address
        host, bracket, port = host.rpartition("]")
        host, colon, port = (host[1:], port[:1], port[1:]) if bracket else port.partition(":")
        scheme += colon + port
    return host, scheme + slash + target


def _fingerprint(text: str) -> int:
    digest = xxh3_64_intdigest(text.encode("utf-8", "surrogatepass"))
    return (digest ^ _SIGN) - _SIGN
