"""Which addresses does a name have?

A hosts file speaks first, then the name itself if it is an address, then whatever look-up was given. Answers are
kept for a while, failures for a shorter one.
"""

from __future__ import annotations

import re
import socket
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import ip_address
from math import inf

_HOST_NAME = re.compile(r"[^\s#/:@\[\]]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The addresses of a name, IPv4 first; or why there are none."""

    addresses: tuple[str, ...]
    error: str
    expires: float


class Resolver:
    """A cache in front of a look-up. Any thread may call it; the lock is never held during a look-up."""

    def __init__(
        self,
        lookup: Callable[[str], Sequence[str]],
        hosts: Mapping[str, tuple[str, ...]],
        *,
        ttl: float = 300.0,
        negative_ttl: float = 60.0,
        capacity: int = 10_000,
    ) -> None:
        self._lookup = lookup
        self._hosts = {_folded(name): _in_order(addresses) for name, addresses in hosts.items()}
        self._ttl = ttl
        self._negative_ttl = negative_ttl
        self._capacity = capacity
        self._answers: OrderedDict[str, Answer] = OrderedDict()  # least recently used first
        self._lock = threading.Lock()

    def cached(self, name: str, now: float) -> Answer | None:
        """The answer if it is known without asking anyone; None = look it up."""
        name = _folded(name)
        known = self._hosts.get(name) or _literal(name)
        if known:
            return Answer(addresses=known, error="", expires=inf)
        with self._lock:
            answer = self._answers.get(name)
            if answer is None or answer.expires <= now:
                return None
            self._answers.move_to_end(name)
            return answer

    def look_up(self, name: str, now: float) -> Answer:
        """The answer, asked for if need be; blocks. A failure is an answer without addresses."""
        answer = self.cached(name, now)
        if answer is None:
            answer = self._ask(_folded(name), now)
            self._keep(_folded(name), answer)
        return answer

    def _ask(self, name: str, now: float) -> Answer:
        try:
            addresses = _in_order(self._lookup(name))
        except Exception as error:  # the look-up is not ours: whatever it raises, the name has no address now
            return Answer(addresses=(), error=str(error) or type(error).__name__, expires=now + self._negative_ttl)
        if not addresses:
            return Answer(addresses=(), error="the name has no address", expires=now + self._negative_ttl)
        return Answer(addresses=addresses, error="", expires=now + self._ttl)

    def _keep(self, name: str, answer: Answer) -> None:
        with self._lock:
            self._answers[name] = answer
            self._answers.move_to_end(name)
            while len(self._answers) > self._capacity:
                self._answers.popitem(last=False)


def system_lookup(name: str) -> tuple[str, ...]:
    """Ask the operating system; raises OSError if it does not know, UnicodeError if the name cannot be asked for."""
    found = socket.getaddrinfo(name, None, family=socket.AF_UNSPEC, type=socket.SOCK_STREAM)
    return _in_order(str(address[0]) for *_, address in found)


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
