"""Which addresses does a name have?

A hosts file speaks first, then the name itself if it is an address, then whatever look-up was given. Answers are kept
as long as their records allow, within limits; failures for a shorter time. A name is looked up once at a time: those
who ask meanwhile share the answer.
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

# Of one name; more would let a stranger fill the cache: an answer has room for 4,000.
_MOST_ADDRESSES = 32
# RFC 9520 §3.2: that nobody could say is remembered too, for at least 1 s, at first about 5 s.
_UNSURE = 5.0
_NO_SUCH_NAME = {socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)}


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedName:
    """The addresses of a name, IPv4 first; or why there are none."""

    addresses: tuple[str, ...]
    error: str
    expires: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LookupResult:
    """What a look-up brought: addresses, or why there are none."""

    addresses: tuple[str, ...] = ()
    ttl: float = 0.0  # the smallest of the records that led to the addresses; 0 also if nobody said
    error: str = ""
    is_sure: bool = False  # there is no such name; else nobody could say


@dataclass(frozen=True, slots=True, kw_only=True)
class DnsLifetimes:
    """How long an answer is kept, whatever its records say."""

    min_ttl: float = 60.0
    max_ttl: float = 86_400.0
    negative_ttl: float = 60.0

    def of(self, found: LookupResult) -> float:
        if found.addresses:
            return min(max(found.ttl, self.min_ttl), self.max_ttl)
        return self.negative_ttl if found.is_sure else min(self.negative_ttl, _UNSURE)


Lookup = Callable[[str, Callable[[LookupResult], None]], None]
"""Starts to look up a name and tells what it found, at once or later, in the thread that asked. It may tell that time is
up, and once more if the answer comes after all."""


class Resolver:
    """A cache in front of a look-up. Belongs to one thread, and never waits."""

    def __init__(
        self,
        lookup: Lookup,
        hosts: Mapping[str, tuple[str, ...]],
        *,
        lifetimes: DnsLifetimes | None = None,
        capacity: int = 10_000,
    ) -> None:
        self._lookup = lookup
        self._hosts = {_folded(name): _in_order(addresses) for name, addresses in hosts.items()}
        self._lifetimes = lifetimes or DnsLifetimes()
        self._capacity = capacity
        self._answers: OrderedDict[str, ResolvedName] = OrderedDict()  # least recently used first
        self._waiting: dict[str, list[Callable[[ResolvedName], None]]] = {}  # by the name that is being looked up

    def cached(self, name: str, now: float) -> ResolvedName | None:
        """The answer if it is known without asking anyone; None = look it up."""
        name = _folded(name)
        known = self._hosts.get(name) or _literal(name)
        if known:
            return ResolvedName(addresses=known, error="", expires=inf)
        answer = self._answers.get(name)
        if answer is None or answer.expires <= now:
            return None
        self._answers.move_to_end(name)
        return answer

    def look_up(self, name: str, now: float, tell: Callable[[ResolvedName], None]) -> None:
        """Tell the answer, asked for if need be. A failure is an answer without addresses."""
        answer = self.cached(name, now)
        if answer is not None:
            tell(answer)
            return
        name = _folded(name)
        waiting = self._waiting.setdefault(name, [])
        waiting.append(tell)
        if len(waiting) == 1:
            hear = partial(self._hear, name, now)
            try:
                self._lookup(name, hear)
            except Exception as error:  # the look-up is not ours: whatever it raises, the name has no address now
                hear(LookupResult(error=str(error) or type(error).__name__))

    def _hear(self, name: str, asked: float, found: LookupResult) -> None:
        addresses = _in_order(found.addresses)[:_MOST_ADDRESSES]
        error = "" if addresses else found.error or "the name has no address"
        answer = ResolvedName(addresses=addresses, error=error, expires=asked + self._lifetimes.of(found))
        self._keep(name, answer)
        for tell in self._waiting.pop(name, ()):
            tell(answer)

    def _keep(self, name: str, answer: ResolvedName) -> None:
        known = self._answers.get(name)
        if known is not None and known.addresses and known.expires >= answer.expires:
            return  # an older question was answered after a newer one
        self._answers[name] = answer
        self._answers.move_to_end(name)
        while len(self._answers) > self._capacity:
            self._answers.popitem(last=False)


def system_lookup(name: str) -> LookupResult:
    """Ask the operating system, which does not say how long its answer holds. Blocks."""
    try:
        found = socket.getaddrinfo(name, None, family=socket.AF_UNSPEC, type=socket.SOCK_STREAM)
    except socket.gaierror as error:
        return LookupResult(error=error.strerror or str(error), is_sure=error.errno in _NO_SUCH_NAME)
    except UnicodeError as error:
        return LookupResult(error=str(error), is_sure=True)
    except OSError as error:
        return LookupResult(error=str(error))
    return LookupResult(addresses=_in_order(str(address[0]) for *_, address in found))


def read_server(text: str) -> str:
    """A name server as address and port.

    >>> read_server("192.0.2.1"), read_server("[2001:db8::1]:5353"), read_server("::1")
    ('192.0.2.1:53', '[2001:db8::1]:5353', '[::1]:53')
    """
    address, _, port = text.rpartition(":") if _WITH_PORT.fullmatch(text) else (text, "", _DNS_PORT)
    bare = "".join(_literal(address))
    if not bare or "%" in bare or not 0 < int(port) < 65_536:
        raise ValueError(f"{text!r} is not the address of a name server")
    return f"[{bare}]:{port}" if ":" in bare else f"{bare}:{port}"


def read_hosts_file(text: str) -> dict[str, tuple[str, ...]]:
    """Names and their addresses from hosts(5) format.

    >>> read_hosts_file("127.0.0.2  one.test two.test  # both")
    {'one.test': ('127.0.0.2',), 'two.test': ('127.0.0.2',)}
    """
    addresses: dict[str, list[str]] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        fields = line.partition("#")[0].split()
        if fields:
            for name in _names(fields, number):
                addresses.setdefault(name, []).append(fields[0])
    return {name: _in_order(found) for name, found in addresses.items()}


def _names(fields: Sequence[str], number: int) -> list[str]:
    """The names of a line, once its form is known to be right."""
    address, *names = fields
    if not _is_address(address):
        raise ValueError(f"line {number}: {address!r} is not an address")
    if not names:
        raise ValueError(f"line {number}: no name follows {address}")
    for name in names:
        if not _HOST_NAME.fullmatch(name):
            raise ValueError(f"line {number}: {name!r} is not a host name")
    return [_folded(name) for name in names]


@lru_cache(maxsize=4096)
def _literal(name: str) -> tuple[str, ...]:
    bare = name[1:-1] if name.startswith("[") and name.endswith("]") else name
    return (bare,) if _is_address(bare) else ()


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def _in_order(addresses: Iterable[str]) -> tuple[str, ...]:
    """Each once, IPv4 before IPv6, else as given."""
    return tuple(sorted(dict.fromkeys(addresses), key=lambda address: ":" in address))


def _folded(name: str) -> str:
    return name.lower().removesuffix(".")
