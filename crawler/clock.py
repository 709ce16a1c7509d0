"""The clock that a crawl process reads; everything else takes the time as an argument."""

from __future__ import annotations

import time
from collections.abc import Callable


def steady_clock() -> Callable[[], float]:
    """Return a clock of seconds since the epoch that never jumps, even if the system clock is set meanwhile."""
    offset = time.time() - time.monotonic()
    return lambda: offset + time.monotonic()
