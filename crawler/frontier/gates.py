"""Clocks that several hosts share: a group that counts as one host, a server that has many names.

A host whose own time has come may still have to wait at a gate. It waits there in line, not in the heap: when the gate
opens, one host goes through, so that a thousand names on one server cost no more than one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(slots=True, kw_only=True)
class Gate:
    """One group or address."""

    name: str
    limit: int  # visits at the same time
    next_visit: float = 0.0  # not before
    rest: float = 0.0  # the last one
    busy: int = 0
    users: int = 0  # active hosts that pass here
    in_heap: bool = False
    waiting: deque[int] = field(default_factory=deque)

    def is_open(self, at: float) -> bool:
        return self.busy < self.limit and self.next_visit <= at


class Gates:
    """The gates of the active hosts, and those whose time is not over."""

    def __init__(self) -> None:
        self._gates: dict[str, Gate] = {}
        self._left: deque[Gate] = deque()  # by their last user, in this order

    def restore(self, times: Mapping[str, float]) -> None:
        """What was left by an earlier crawl, or by another worker."""
        for name, next_visit in times.items():
            gate = self._gates.setdefault(name, Gate(name=name, limit=1))
            gate.next_visit = max(gate.next_visit, next_visit)

    def enter(self, name: str, limit: int, now: float) -> Gate:
        """The gate of a host that becomes active."""
        self._forget(now)
        gate = self._gates.get(name)
        if gate is None:
            gate = self._gates[name] = Gate(name=name, limit=limit)
        gate.users += 1
        return gate

    def leave(self, gate: Gate) -> None:
        """A host is active no more."""
        gate.users -= 1
        if not gate.users:
            self._left.append(gate)

    def _forget(self, now: float) -> None:
        """Gates that nobody uses, once their time is over."""
        while self._left and (self._left[0].users or self._left[0].next_visit <= now):
            gate = self._left.popleft()
            if not gate.users and self._gates.get(gate.name) is gate:  # not one that came after it
                del self._gates[gate.name]
