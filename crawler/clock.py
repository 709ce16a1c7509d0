"""The time, as everything else is told it."""

from __future__ import annotations

import time
from collections.abc import Callable


def steady_clock() -> Callable[[], float]:
    """Seconds since the epoch that never jump while the process lives, whatever is done to the machine's clock."""
    offset = time.time() - time.monotonic()
    return lambda: offset + time.monotonic()
