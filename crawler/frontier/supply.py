"""How many hosts does a rate need, and are there enough?

A host that is asked every 30 seconds gives a page every 30 seconds, however fast we are: 100 pages a second need 3,000 such
hosts. Where the frontier has fewer, it is the hosts' rest that limits the crawl, and neither connections nor processors.
"""

from __future__ import annotations

from dataclasses import dataclass

_MEMORY = 1_000  # visits over which is averaged


@dataclass(slots=True)
class Supply:
    """What the last visits say of hosts and connections."""

    cycle: float = 0.0  # seconds from one visit of a host to its next; that of all hosts together, so the harmonic mean
    latency: float = 0.0  # seconds that an answer takes
    hosts: float = 0.0  # active
    starved: float = 0.0  # seconds in which connections were free and no host was ready
    visits: int = 0
    _since: float | None = None

    def note(self, cycle: float, latency: float, hosts: int) -> None:
        """A visit has ended, and its host may be asked again so long after it began."""
        self.visits += 1
        weight = 1 / min(self.visits, _MEMORY)
        self.cycle += weight * (cycle - self.cycle)
        self.latency += weight * (latency - self.latency)
        self.hosts += weight * (hosts - self.hosts)

    def nothing_ready(self, now: float) -> None:
        if self._since is None:
            self._since = now

    def something_ready(self, now: float) -> None:
        if self._since is not None:
            self.starved += max(0.0, now - self._since)
            self._since = None

    @property
    def rate(self) -> float:
        """Visits a second that so many hosts allow.

        >>> Supply(cycle=30.0, hosts=412).rate
        13.733333333333333
        """
        return self.hosts / self.cycle if self.cycle else 0.0

    def rate_of(self, connections: int) -> float:
        """Visits a second that so many connections could carry."""
        return connections / self.latency if self.latency else 0.0

    def as_data(self, connections: int) -> dict[str, float]:
        """Whether there are hosts enough for so many connections."""
        possible = self.rate_of(connections)
        return {
            "hosts": round(self.hosts, 1),
            "seconds_between_visits": round(self.cycle, 3),
            "rate": round(self.rate, 2),
            "connections": connections,
            "rate_of_connections": round(possible, 2),
            "hosts_needed": round(self.needed(possible)),
            "starved_seconds": round(self.starved, 1),
        }

    def needed(self, rate: float) -> float:
        """Hosts that a rate needs.

        >>> Supply(cycle=30.0).needed(100)
        3000.0
        """
        return rate * self.cycle
