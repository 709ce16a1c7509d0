"""Run `scrapy` and profile the CPU time of each of its threads.

Scrapy's `--profile` profiles only the main thread, and by wall-clock time, so that waiting for the disk or for another
thread looks like work. Usage: python -m benchmarks.profiled DIRECTORY crawl web …
"""

from __future__ import annotations

import cProfile
import io
import os
import pstats
import re
import sys
import sysconfig
import threading
import time
from collections import defaultdict
from pathlib import Path
from types import FrameType
from typing import Any

from scrapy.cmdline import execute

Place = tuple[str, int, str]  # file, line, function
_profiles: list[tuple[str, cProfile.Profile]] = []


def main() -> None:
    directory = Path(sys.argv.pop(1))
    threading.setprofile(_begin)
    main_thread = _profile("main")
    try:
        execute()
    finally:
        main_thread.disable()
        for number, (name, profile) in enumerate(_profiles):
            profile.dump_stats(directory / f"{number}-{name}.profile")


def _begin(_frame: FrameType, _event: str, _argument: Any) -> None:
    """Start the profile of a new thread: called for its first event, and replaced by the profile."""
    sys.setprofile(None)
    _profile(threading.current_thread().name)


def _profile(name: str) -> cProfile.Profile:
    profile = cProfile.Profile(time.thread_time)
    _profiles.append((name, profile))
    profile.enable()
    return profile


def busiest(profile: Path, pages: int, lines: int = 40) -> str:
    """List the files and functions in which a thread spent most time, in milliseconds a page."""
    stats = pstats.Stats(str(profile), stream=io.StringIO())
    calls: dict[Place, tuple[int, int, float, float, dict[Place, Any]]] = stats.stats  # type: ignore[attr-defined]
    total = sum(entry[2] for entry in calls.values())
    files: defaultdict[str, float] = defaultdict(float)
    for place, (_, _, own, _, callers) in calls.items():
        if place[0] == "~":  # the time of a built-in function counts for its caller
            for caller, times in callers.items():
                files[_part(caller)] += times[2]
        else:
            files[_part(place)] += own
    shown = [f"{profile.stem}: {total / pages * 1000:.3f} ms a page, start and profiling included"]
    shown += [
        f"{own / pages * 1000:7.4f}  {name}"
        for name, own in sorted(files.items(), key=lambda entry: -entry[1])[: lines // 2]
    ]
    shown.append(" own ms   all ms  calls/page")
    for place, (_, count, spent, together, _) in sorted(calls.items(), key=lambda entry: -entry[1][2])[:lines]:
        shown.append(
            f"{spent / pages * 1000:7.4f}  {together / pages * 1000:7.4f}  {count / pages:10.1f}  {_named(place)}"
        )
    return "\n".join(shown)


def _part(place: Place) -> str:
    """Return the file of our own code, or the package of other code."""
    name = _named(place).rpartition(":")[0]
    return name if name.startswith("crawler") else name.partition(os.sep)[0]


def _named(place: Place) -> str:
    file, line, function = place
    if file == "~":
        return re.sub(r" at 0x[0-9a-f]+", "", function)
    for prefix in (sysconfig.get_path("purelib"), sysconfig.get_path("stdlib"), str(Path.cwd())):
        file = file.removeprefix(prefix + os.sep)
    return f"{file}:{line}({function})"


if __name__ == "__main__":
    main()
