"""Hooks harm or delay a content process, or fill the disk, on purpose."""

from __future__ import annotations

import errno
import logging
import os
import time
import warnings
from pathlib import Path

from crawler.items import Visited


def harm(visited: Visited) -> None:
    """A CONTENT_HOOK that harms its content process, as a hostile page could."""
    url = visited.visit.url
    if url.endswith("/abort"):
        os.write(2, b"before the end\n*** the last words ***\n")
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


def speak(visited: Visited) -> None:
    """A CONTENT_HOOK that writes as libraries and native code do, more than a pipe holds."""
    logging.getLogger("pypdfium2._helpers.document").warning("Maximum recursion depth 5 reached")
    warnings.warn("a library's advice", stacklevel=1)
    os.write(2, b"native words\n" * 20_000)


def wait_at_the_gate(visited: Visited) -> None:
    """A CONTENT_HOOK that waits at the page /gate until the file TMPDIR/open exists."""
    if visited.visit.url.endswith("/gate"):
        while not (Path(os.environ["TMPDIR"]) / "open").exists():
            time.sleep(0.02)


_appends = 0


def fill_the_disk(step: str) -> None:
    """A COMMIT_STEP_HOOK that reports a full disk from the third batch on."""
    global _appends
    _appends += step == "before append"
    if step == "before append" and _appends >= 3:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
