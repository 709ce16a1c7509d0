"""A COMMIT_STEP_HOOK kills the crawl inside a named step of a commit.

`KILL_AT="after fsync:3"` in the environment kills the process when it reaches that step for the third time.
"""

from __future__ import annotations

import os
import signal
from collections import Counter

_step, _, _times = os.environ.get("KILL_AT", ":0").rpartition(":")
_reached: Counter[str] = Counter()


def step(name: str) -> None:
    _reached[name] += 1
    if name == _step and _reached[name] == int(_times):
        os.kill(os.getpid(), signal.SIGKILL)
