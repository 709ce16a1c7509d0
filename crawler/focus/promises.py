"""Does a host keep what the links to its pages promise? A host of traps promises much, and its pages are off topic.

The score of a link is a promise, and the relevance of its target is what is kept of it. A host that has kept less than
was promised is believed less: all its scores are multiplied by the share that it keeps. A site with few pages on topic
among many is no trap: links to the others promise little.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

_MOST_HOSTS: Final = 1 << 12
_BENEFIT_OF_DOUBT: Final = 1.0  # pages on topic that are added to what was promised and to what was kept
_MOST_PROMISED: Final = 64.0  # above it both are halved: a host may become better, or worse

Shares = NDArray[np.float64]


class HostPromises:
    """What was promised of each host and what it kept, by the key of the host."""

    def __init__(self) -> None:
        self._hosts: dict[int, tuple[float, float]] = {}  # key → promised, kept

    def add(self, host: int, promised: float, kept: float) -> None:
        """Count a fetched page: the score of the link to it, and its relevance."""
        before = self._hosts.pop(host, (0.0, 0.0))  # and entered again as the last: hosts not visited for long go first
        keep = 0.5 if before[0] > _MOST_PROMISED else 1.0
        counts = np.float32(before[0] * keep + promised), np.float32(before[1] * keep + kept)  # as they are stored
        self._hosts[host] = float(counts[0]), float(counts[1])
        if len(self._hosts) > _MOST_HOSTS:
            del self._hosts[next(iter(self._hosts))]

    def kept_shares(self, hosts: NDArray[np.uint32]) -> Shares:
        """Return what share of its promises each of these hosts keeps; 1 at most, and where nothing is known.

        >>> promises = HostPromises()
        >>> for _ in range(90):
        ...     promises.add(7, 0.1, 0.0)
        >>> promises.kept_shares(np.array([7, 8], np.uint32)).round(3).tolist()
        [0.1, 1.0]
        """
        if not self._hosts:
            return np.ones(len(hosts))
        found, places = np.unique(hosts, return_inverse=True)
        shares = np.array([self._share(host) for host in found.tolist()])
        return shares[places]

    def _share(self, host: int) -> float:
        promised, kept = self._hosts.get(host, (0.0, 0.0))
        return min(1.0, (kept + _BENEFIT_OF_DOUBT) / (promised + _BENEFIT_OF_DOUBT))

    def merge(self, others: Sequence[HostPromises]) -> None:
        """Add what other workers have counted."""
        for other in others:
            for host, (promised, kept) in other._hosts.items():
                self.add(host, promised, kept)

    def to_bytes(self) -> bytes:
        keys = np.fromiter(self._hosts, "<u4", len(self._hosts))
        counts = np.array(list(self._hosts.values()), "<f4").reshape(len(keys), 2)
        return keys.tobytes() + counts.tobytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> HostPromises:
        """Read what `to_bytes` wrote; raises ValueError for anything else."""
        number, rest = divmod(len(data), 12)
        keys, counts = np.frombuffer(data, "<u4", number), np.frombuffer(data, "<f4", 2 * number, 4 * number)
        if rest or number > _MOST_HOSTS or not np.isfinite(counts).all() or (counts < 0).any():
            raise ValueError("not what hosts keep of their promises")
        promises = cls()
        promises._hosts = dict(zip(keys.tolist(), map(tuple, counts.reshape(number, 2).tolist()), strict=True))
        return promises
