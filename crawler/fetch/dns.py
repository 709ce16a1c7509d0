"""Which addresses does a host name have? A DNS cache.

A hosts file comes first, then the name itself if it is an address, then the given look-up. Answers are cached for the
TTL of their records, within limits; failures for a shorter time. A name has at most one look-up at a time: callers that
ask meanwhile share its answer.
"""

from __future__ import annotations

import re
import socket
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from ipaddress import ip_address
from math import inf

_HOST_NAME = re.compile(r"[^\s#/:@\[\]]+")
_WITH_PORT = re.compile(r"(\[.*\]|[^:]*):[0-9]{1,5}")
_DNS_PORT = "53"

# Of one name; more would let a foreign name server fill the cache: an answer has room for 4,000.
_MOST_ADDRESSES = 32
# RFC 9520 §3.2: a resolution failure is cached too, for at least 1 s, at first about 5 s.
_UNCERTAIN_LIFETIME = 5.0
_NO_SUCH_NAME = {socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)}


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedName:
    """The addresses of a name, IPv4 first, or the error; as the cache holds it."""

    addresses: tuple[str, ...]
    error: str
    expires: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LookupResult:
    """The result of a look-up: addresses, or the error."""

    addresses: tuple[str, ...] = ()
    ttl: float = 0.0  # the smallest of the records that led to the addresses; 0 also if unknown
    error: str = ""
    is_definite: bool = False  # without addresses: the name does not exist, rather than that no server could answer


@dataclass(frozen=True, slots=True, kw_only=True)
class DnsLifetimes:
    """The limits within which the TTL of an answer is respected."""

    min_ttl: float
    max_ttl: float
    negative_ttl: float

    def of(self, found: LookupResult) -> float:
        """Return for how many seconds a result is cached."""
        if found.addresses:
            return min(max(found.ttl, self.min_ttl), self.max_ttl)
        return self.negative_ttl if found.is_definite else min(self.negative_ttl, _UNCERTAIN_LIFETIME)


Lookup = Callable[[str, Callable[[LookupResult], None]], None]
"""Starts to look up a name and passes the result to the callback, at once or later, in the calling thread. It may call
twice: first that it timed out, and again if the answer arrives after all."""


class Resolver:
    """A cache in front of a look-up. Belongs to one thread, and never blocks."""

    def __init__(
        self,
        lookup: Lookup,
        hosts: Mapping[str, tuple[str, ...]],
        *,
        lifetimes: DnsLifetimes,
        capacity: int = 10_000,
    ) -> None:
        self._lookup = lookup
        self._hosts = {_normalized(name): _unique_ipv4_first(addresses) for name, addresses in hosts.items()}
        self._lifetimes = lifetimes
        self._capacity = capacity
        self._answers: OrderedDict[str, ResolvedName] = OrderedDict()  # least recently used first
        self._waiting: dict[str, list[Callable[[ResolvedName], None]]] = {}  # by the name that is being looked up

    def cached(self, name: str, now: float) -> ResolvedName | None:
        """Return the answer if it is known without a look-up, else None."""
        name = _normalized(name)
        known = self._hosts.get(name) or _address_literal(name)
        if known:
            return ResolvedName(addresses=known, error="", expires=inf)
        answer = self._answers.get(name)
        if answer is None or answer.expires <= now:
            return None
        self._answers.move_to_end(name)
        return answer

    def look_up(self, name: str, now: float, callback: Callable[[ResolvedName], None]) -> None:
        """Pass the answer to the callback, looked up if not cached. A failure is an answer without addresses."""
        answer = self.cached(name, now)
        if answer is not None:
            callback(answer)
            return
        name = _normalized(name)
        waiting = self._waiting.setdefault(name, [])
        waiting.append(callback)
        if len(waiting) == 1:
            receive = partial(self._answer_waiting, name, now)
            try:
                self._lookup(name, receive)
            except Exception as error:  # the look-up was injected: whatever it raises counts as a failed look-up
                receive(LookupResult(error=str(error) or type(error).__name__))

    def _answer_waiting(self, name: str, started: float, found: LookupResult) -> None:
        """Cache the result of a look-up and pass it to every callback that waits for this name."""
        addresses = _unique_ipv4_first(found.addresses)[:_MOST_ADDRESSES]
        error = "" if addresses else found.error or "the name has no address"
        answer = ResolvedName(addresses=addresses, error=error, expires=started + self._lifetimes.of(found))
        self._cache(name, answer)
        for callback in self._waiting.pop(name, ()):
            callback(answer)

    def _cache(self, name: str, answer: ResolvedName) -> None:
        known = self._answers.get(name)
        if known is not None and known.addresses and known.expires >= answer.expires:
            return  # the result of an older look-up came after that of a newer one
        self._answers[name] = answer
        self._answers.move_to_end(name)
        while len(self._answers) > self._capacity:
            self._answers.popitem(last=False)


def system_lookup(name: str) -> LookupResult:
    """Resolve a name through the operating system, which gives no TTL. Blocks."""
    try:
        found = socket.getaddrinfo(name, None, family=socket.AF_UNSPEC, type=socket.SOCK_STREAM)
    except socket.gaierror as error:
        return LookupResult(error=error.strerror or str(error), is_definite=error.errno in _NO_SUCH_NAME)
    except UnicodeError as error:
        return LookupResult(error=str(error), is_definite=True)
    except OSError as error:
        return LookupResult(error=str(error))
    return LookupResult(addresses=_unique_ipv4_first(str(address[0]) for *_, address in found))


def read_server(text: str) -> str:
    """Parse the address of a name server into address and port; raises ValueError.

    >>> read_server("192.0.2.1"), read_server("[2001:db8::1]:5353"), read_server("::1")
    ('192.0.2.1:53', '[2001:db8::1]:5353', '[::1]:53')
    """
    address, _, port = text.rpartition(":") if _WITH_PORT.fullmatch(text) else (text, "", _DNS_PORT)
    bare = "".join(_address_literal(address))
    if not bare or "%" in bare or not 0 < int(port) < 65_536:
        raise ValueError(f"{text!r} is not the address of a name server")
    return f"[{bare}]:{port}" if ":" in bare else f"{bare}:{port}"


def read_hosts_file(text: str) -> dict[str, tuple[str, ...]]:
    """Parse a hosts(5) file into names and their addresses; raises ValueError with the line number.

    >>> read_hosts_file("127.0.0.2  one.test two.test  # both")
    {'one.test': ('127.0.0.2',), 'two.test': ('127.0.0.2',)}
    """
    addresses: dict[str, list[str]] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        fields = line.partition("#")[0].split()
        if fields:
            for name in _names_of_line(fields, number):
                addresses.setdefault(name, []).append(fields[0])
    return {name: _unique_ipv4_first(found) for name, found in addresses.items()}


def _names_of_line(fields: Sequence[str], number: int) -> list[str]:
    """Return the names on a line of a hosts file, after checking its form."""
    address, *names = fields
    if not _is_address(address):
        raise ValueError(f"line {number}: {address!r} is not an address")
    if not names:
        raise ValueError(f"line {number}: no name follows {address}")
    for name in names:
        if not _HOST_NAME.fullmatch(name):
            raise ValueError(f"line {number}: {name!r} is not a host name")
    return [_normalized(name) for name in names]


@lru_cache(maxsize=4096)
def _address_literal(name: str) -> tuple[str, ...]:
    """Return the name itself, without brackets, if it is an IP address, else nothing."""
    bare = name[1:-1] if name.startswith("[") and name.endswith("]") else name
    return (bare,) if _is_address(bare) else ()


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def _unique_ipv4_first(addresses: Iterable[str]) -> tuple[str, ...]:
    """Remove duplicates and put IPv4 before IPv6, otherwise keeping the order."""
    return tuple(sorted(dict.fromkeys(addresses), key=lambda address: ":" in address))


def _normalized(name: str) -> str:
    return name.lower().removesuffix(".")
