"""Measure what a command costs: its own CPU time, that of the processes it starts, and their memory.

The kernel counts: when a process has ended and was not waited for yet, /proc still shows its user and system time (all
threads, to the hundredth of a second) apart from that of its children. What disappears with a process (its threads, its
memory, children that it does not wait for) is sampled twenty times a second.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

_TICK = os.sysconf("SC_CLK_TCK")
_EVERY = 0.05


@dataclass(slots=True, kw_only=True)
class Cost:
    """CPU-seconds and bytes of memory of a command."""

    code: int = 0  # exit code of the command
    seconds: float = 0.0  # wall-clock time
    own: float = 0.0  # of the process itself, all its threads
    children: float = 0.0  # of the processes that it started
    memory: int = 0  # peak resident memory
    children_memory: dict[int, int] = field(default_factory=dict)  # the same for each child
    threads: dict[int, float] = field(default_factory=dict)  # by number; the main thread's is the process's

    @property
    def all(self) -> float:
        return self.own + self.children


def pinned(core: int | None) -> None:
    """Pin this process, and all that it starts, to one core."""
    if core is not None:
        os.sched_setaffinity(0, {core})


def cores() -> tuple[int | None, int | None]:
    """Return a core for the server and one for the crawler; None twice where there is only one."""
    usable = sorted(os.sched_getaffinity(0))
    return (usable[0], usable[1]) if len(usable) > 1 else (None, None)


def run(
    command: Sequence[str], *, cwd: Path, output: Path, core: int | None, environment: Mapping[str, str], limit: float
) -> Cost:
    """Run a command to its end, with its output in a file, and return what it cost."""
    cost, started = Cost(), time.monotonic()
    with output.open("wb") as log:
        process = subprocess.Popen(
            command,
            cwd=cwd,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            preexec_fn=partial(pinned, core),
        )
        try:
            _watch(process.pid, cost, started + limit)
        except BaseException:
            process.kill()
            raise
        finally:
            cost.seconds = time.monotonic() - started
            cost.code = process.wait()
    return cost


def _watch(process: int, cost: Cost, deadline: float) -> None:
    children: dict[int, float] = {}  # CPU time of each child in the last sample
    while os.waitid(os.P_PID, process, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
        if time.monotonic() > deadline:
            raise TimeoutError("the command did not end in time")
        _sample(process, cost, children)
        time.sleep(_EVERY)
    times = _times(Path(f"/proc/{process}/stat"))
    cost.own = times[0] + times[1]
    cost.children = max(times[2] + times[3], sum(children.values()))


def _sample(process: int, cost: Cost, children: dict[int, float]) -> None:
    cost.memory = peak_memory(process) or cost.memory
    with suppress(OSError):
        for task in Path(f"/proc/{process}/task").iterdir():
            with suppress(OSError):
                times = _times(task / "stat")
                cost.threads[int(task.name)] = times[0] + times[1]
                for child in map(int, (task / "children").read_text().split()):
                    times = _times(Path(f"/proc/{child}/stat"))
                    children[child] = times[0] + times[1]
                    cost.children_memory[child] = peak_memory(child) or cost.children_memory.get(child, 0)


def _times(stat: Path) -> list[float]:
    """Read user and system time, then those of children that were waited for. The name before may contain anything."""
    fields = stat.read_text().rpartition(")")[2].split()
    return [int(ticks) / _TICK for ticks in fields[11:15]]


def peak_memory(process: int) -> int:
    """Return the peak memory since the process runs its present program: a child just forked still has its parent's."""
    with suppress(OSError):
        for line in Path(f"/proc/{process}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return 0
