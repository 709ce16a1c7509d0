"""The progress of long commands: a bar on a terminal, elsewhere a line every 15 seconds."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

LINES_EVERY = 15.0  # seconds
ShowProgress = Callable[[str, int, int], None]  # a description, the count done so far, the total (0 if not known)


@contextmanager
def showing_progress() -> Iterator[ShowProgress]:
    """Yield a function to call with the progress, as often as it suits."""
    console = Console(file=sys.stderr)
    if not console.is_terminal:
        yield progress_lines(time.monotonic)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed:,}"), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("starting", total=None)

        def show(what: str, done: int, of: int) -> None:
            bar.update(task, description=what, completed=done, total=of or None)

        yield show


def progress_lines(now: Callable[[], float]) -> ShowProgress:
    """Return a function that prints a line if the last one, or the beginning, was long enough ago."""
    last = now()

    def show(what: str, done: int, of: int) -> None:
        nonlocal last
        if now() - last >= LINES_EVERY:
            last = now()
            print(f"{what}: {done:,}" + (f" of {of:,}, {done / of:.0%}" if of else ""), file=sys.stderr, flush=True)

    return show
