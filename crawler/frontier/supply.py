"""How many active hosts does a crawl rate need, and are there enough?

A host that is visited every 30 seconds gives a page every 30 seconds, however fast we are: 100 pages a second need
3,000 such hosts. If the frontier has fewer, the hosts' rests limit the crawl, not connections or processors.
"""

from __future__ import annotations

from dataclasses import dataclass

_MEAN_OVER = 1_000  # visits


@dataclass(slots=True)
class Supply:
    """Running means over the last visits, and the rates that follow from them."""

    cycle: float = 0.0  # seconds from one visit of a host to its next; averaged by visits, so the hosts' harmonic mean
    latency: float = 0.0  # seconds that an answer takes
    hosts: float = 0.0  # number of active hosts
    starved: float = 0.0  # seconds in which connections were free and no host was ready
    visits: int = 0
    _starving_since: float | None = None

    def record_visit(self, cycle: float, latency: float, hosts: int) -> None:
        """Record a visit that has ended; `cycle` is the time from its start until its host may be visited again."""
        self.visits += 1
        weight = 1 / min(self.visits, _MEAN_OVER)
        self.cycle += weight * (cycle - self.cycle)
        self.latency += weight * (latency - self.latency)
        self.hosts += weight * (hosts - self.hosts)

    def nothing_ready(self, now: float) -> None:
        if self._starving_since is None:
            self._starving_since = now

    def something_ready(self, now: float) -> None:
        if self._starving_since is not None:
            self.starved += max(0.0, now - self._starving_since)
            self._starving_since = None

    @property
    def rate(self) -> float:
        """Visits a second that the active hosts allow.

        >>> Supply(cycle=30.0, hosts=412).rate
        13.733333333333333
        """
        return self.hosts / self.cycle if self.cycle else 0.0

    def connection_rate(self, connections: int) -> float:
        """Return the visits a second that so many connections could carry."""
        return connections / self.latency if self.latency else 0.0

    def as_data(self, connections: int) -> dict[str, float]:
        """Return the figures as JSON data: the rate that the hosts allow beside the one that the connections allow."""
        possible = self.connection_rate(connections)
        return {
            "hosts": round(self.hosts, 1),
            "seconds_between_visits": round(self.cycle, 3),
            "rate": round(self.rate, 2),
            "connections": connections,
            "rate_of_connections": round(possible, 2),
            "hosts_needed": round(self.hosts_needed(possible)),
            "starved_seconds": round(self.starved, 1),
        }

    def hosts_needed(self, rate: float) -> float:
        """Return the number of active hosts that a rate needs.

        >>> Supply(cycle=30.0).hosts_needed(100)
        3000.0
        """
        return rate * self.cycle
