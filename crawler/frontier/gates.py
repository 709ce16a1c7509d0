"""Politeness clocks that several hosts share: a group that counts as one host, or a server (address) with many names.

A host whose own clock has run out may still have to wait at a gate. It waits in the gate's queue, not in the heap: when
the gate opens, one host goes through, so that a thousand names on one server cost no more than one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(slots=True, kw_only=True)
class Gate:
    """The shared clock of one group or address."""

    name: str
    limit: int  # visits at the same time
    next_visit: float = 0.0  # not before
    rest: float = 0.0  # the last rest of the group
    busy: int = 0  # visits that are leased or in flight
    users: int = 0  # active hosts of this group or address
    in_heap: bool = False
    waiting: deque[int] = field(default_factory=deque)  # hosts

    def is_open(self, at: float) -> bool:
        return self.busy < self.limit and self.next_visit <= at


class Gates:
    """The gates of the active hosts, and unused ones whose clock has not run out."""

    def __init__(self) -> None:
        self._gates: dict[str, Gate] = {}
        self._unused: deque[Gate] = deque()  # in the order in which their last user left

    def restore(self, times: Mapping[str, float]) -> None:
        """Take over the clocks that an earlier crawl or another worker has stored."""
        for name, next_visit in times.items():
            gate = self._gates.setdefault(name, Gate(name=name, limit=1))
            gate.next_visit = max(gate.next_visit, next_visit)

    def enter(self, name: str, limit: int, now: float) -> Gate:
        """Return the gate for a host that becomes active, and count the host as its user."""
        self._drop_unused(now)
        gate = self._gates.get(name)
        if gate is None:
            gate = self._gates[name] = Gate(name=name, limit=limit)
        gate.users += 1
        return gate

    def leave(self, gate: Gate) -> None:
        """Remove a user of a gate: its host is no longer active."""
        gate.users -= 1
        if not gate.users:
            self._unused.append(gate)

    def _drop_unused(self, now: float) -> None:
        """Drop gates without users once their clock has run out."""
        while self._unused and (self._unused[0].users or self._unused[0].next_visit <= now):
            gate = self._unused.popleft()
            if not gate.users and self._gates.get(gate.name) is gate:  # a later gate may have its name
                del self._gates[gate.name]
