"""Host, origin, port and registered domain of a URL, and the partition of a host.

The functions that take a URL take it in canonical form. A host is a name or an address without port and brackets.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import translate
from functools import cache, lru_cache
from re import Pattern

from publicsuffixlist import PublicSuffixList
from xxhash import xxh3_64_intdigest

from crawler.urls.schemes import DEFAULT_PORTS

# The standard writes IPv4 hosts in four decimal parts, and no name ends in a number.
_IPV4 = re.compile(r"[0-9.]*[0-9]\.?")


def host_of(url: str) -> str:
    """Return the host name or address of a URL.

    >>> host_of("http://www.example.com:8080/a"), host_of("http://[::1]:8080/")
    ('www.example.com', '::1')
    """
    authority = url.partition("//")[2].partition("/")[0]
    if authority[:1] == "[":
        return authority[1:].partition("]")[0]
    return authority.partition(":")[0]


def origin_of(url: str) -> str:
    """Return scheme, host and port (unless it is the default one); each origin has its own robots.txt.

    >>> origin_of("https://example.com:8443/a/b?c")
    'https://example.com:8443'
    """
    end = url.find("/", url.find("//") + 2)
    return url if end < 0 else url[:end]


def port_of(url: str) -> int:
    """Return the port to connect to.

    >>> port_of("https://example.com/"), port_of("http://[::1]:8080/")
    (443, 8080)
    """
    port = origin_of(url).rpartition("]")[2].rpartition(":")[2]
    if port.isdecimal() and len(port) <= 5:
        return int(port)
    return DEFAULT_PORTS["https" if url.startswith("https:") else "http"]


def is_address(host: str) -> bool:
    """Whether this is an IP address rather than a name."""
    return ":" in host or _IPV4.fullmatch(host) is not None


@lru_cache(maxsize=65_536)
def registered_domain(host: str) -> str | None:
    """Return the registered domain of a host: one label more than its public suffix.

    The private section of the Public Suffix List counts too. None for addresses, for suffixes themselves and for names
    without a dot. Unknown top-level domains are suffixes of one label.

    >>> registered_domain("www.example.co.uk"), registered_domain("smith.github.io"), registered_domain("h.test")
    ('example.co.uk', 'smith.github.io', 'h.test')
    >>> registered_domain("co.uk"), registered_domain("127.0.0.1"), registered_domain("localhost")
    (None, None, None)
    """
    if not host or is_address(host):
        return None
    domain: str | None = _public_suffixes().privatesuffix(host)
    return domain


@cache
def _public_suffixes() -> PublicSuffixList:
    return PublicSuffixList()


def reversed_name(host: str) -> str:
    """Return the labels of a host in reverse order, so that a site's hosts are neighbours in an index.

    >>> reversed_name("www.example.com"), reversed_name("127.0.0.1")
    ('com.example.www', '127.0.0.1')
    """
    return host if is_address(host) else ".".join(reversed(host.split(".")))


def matches(host: str, patterns: Sequence[str]) -> bool:
    """Whether one of the shell patterns matches the whole host, ignoring case.

    A star also matches dots, and a domain is not among its own subdomains:

    >>> matches("a.b.example.com", ["*.example.com"]), matches("example.com", ["*.example.com"])
    (True, False)
    """
    return bool(patterns) and _compiled_patterns(tuple(patterns)).fullmatch(host) is not None


@lru_cache(maxsize=64)
def _compiled_patterns(patterns: tuple[str, ...]) -> Pattern[str]:
    return re.compile("|".join(translate(pattern) for pattern in patterns), re.IGNORECASE)


def partition_of(politeness_key: str, partitions: int) -> int:
    """Return the partition of a politeness key. Stores keep the result, so the function must never change."""
    return xxh3_64_intdigest(politeness_key.encode("utf-8", "surrogatepass")) % partitions
