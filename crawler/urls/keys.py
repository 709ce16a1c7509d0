"""Under which key is a URL known?

Keys are schema: stores hold them, so what they are made of never changes. The host's half is a fingerprint of the
host alone; the other half is one of the canonical URL without "//" and the host: "https:/a?b" or "https::8443/a?b".
"""

from __future__ import annotations

from collections.abc import Iterable

from xxhash import xxh3_64_intdigest

from crawler.items import Key

_SIGN = 1 << 63
_new = tuple.__new__  # the half of what a NamedTuple's own constructor takes


def host_key(host: str) -> int:
    """The first half of the keys of all URLs of this host: a fingerprint as a signed 64-bit number."""
    return _fingerprint(host)


def key_of(url: str) -> Key:
    """The key of a canonical URL."""
    host, rest = _halves(url)
    return Key(_fingerprint(host), _fingerprint(rest))


def keys_of(urls: Iterable[str]) -> list[Key]:
    """The keys of canonical URLs, in their order; cheaper than one by one, as a page's links share few hosts."""
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


def mark_of(url: str, anchor: str) -> int:
    """By which a link is known to have been seen before. No store holds it."""
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
