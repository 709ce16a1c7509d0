"""A crawl process at one moment: what it has and what it is doing. What it has done is in its record."""

from __future__ import annotations

import os
import resource
import sys
from dataclasses import dataclass, field
from pathlib import Path

from crawler.frontier.census import Census


@dataclass(frozen=True, slots=True, kw_only=True)
class Vitals:
    """Read from memory, without asking the store."""

    hosts: Census = field(default_factory=Census)
    in_flight: int = 0  # requests on their way
    connections: int = 0  # that may be
    bytes_in_flight: int = 0  # of answers that are not complete
    pages_waiting: int = 0  # for a content process
    uncommitted: int = 0  # visits
    allowed: float = 0.0  # visits a second that the active hosts allow; 0 if nobody knows yet
    workers: int = 1  # that share the crawl
    pages_of_others: int = 0
    is_network_down: bool = False


def resident_memory() -> int:
    """Bytes of this process that are in memory now; where that cannot be told, the most that ever were."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024
    return pages * os.sysconf("SC_PAGE_SIZE")
