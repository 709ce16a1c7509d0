"""What a page can do to the process that looks at it, done on purpose: the crawl runs with this as its CONTENT_HOOK."""

from __future__ import annotations

import errno
import os
import time
from pathlib import Path

from crawler.items import Visited


def suffer(visited: Visited) -> None:
    url = visited.visit.url
    if url.endswith("/abort"):
        os.abort()
    if url.endswith("/hang"):
        while True:
            os.read(os.pipe()[0], 1)
    if url.endswith("/burn"):
        while True:
            pass
    if url.endswith("/swell"):
        held = []
        while True:
            held.append(bytearray(10_000_000))


def wait_at_the_gate(visited: Visited) -> None:
    """The page /gate is not looked at before the file TMPDIR/open is there."""
    if visited.visit.url.endswith("/gate"):
        while not (Path(os.environ["TMPDIR"]) / "open").exists():
            time.sleep(0.02)


_appends = 0


def fill_the_disk(step: str) -> None:
    """As a COMMIT_STEP_HOOK: the third batch finds no space, and so do all after it."""
    global _appends
    _appends += step == "before append"
    if step == "before append" and _appends >= 3:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
