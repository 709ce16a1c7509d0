"""Several crawl processes on one machine: started, watched, replaced when they die, stopped together."""

from __future__ import annotations

import json
import logging
import math
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from rich.console import Console
from rich.live import Live
from rich.text import Text

from crawler.errors import FINISHED_BADLY, CrawlError
from crawler.monitor.terminal import can_redraw, escape_controls, restore_cursor
from crawler.monitor.text import plural
from crawler.options import Options
from crawler.stores.contract.partitions import WorkerStatus
from crawler.stores.contract.store import Store
from crawler.stores.open import open_store
from crawler.system import STOPPED, signal_when_parent_ends, state_of

logger = logging.getLogger(__name__)

POLL_EVERY = 0.2  # seconds between two checks of the workers
LIVE_EVERY = 1.0  # seconds between two redrawings on a terminal
PLAIN_EVERY = 15.0  # seconds between two log lines elsewhere
MOST_SILENCE = 15.0  # seconds without a commit of any worker; shorter than a worker waits for the store's lock
STOP_WITHIN = 25.0  # seconds after which a worker that was told to stop is killed
_SUPERVISOR = "ORBWEAVER_SUPERVISOR"  # environment variable that tells a worker our process id
ORPHANED = signal.SIGUSR1  # the signal that a worker gets when its supervisor dies
SHORT_LIFE = 10.0  # seconds: a worker that dies sooner probably dies of something that its successor will, too
SHORT_LIVES = 5  # deaths of this kind in a row after which no further worker is started


@dataclass(frozen=True, slots=True)
class WorkersEnded:
    """How the workers ended."""

    code: int
    summaries: list[dict[str, Any]]  # of those that ended in good order
    lost: int  # workers that died
    error: CrawlError | None = None  # why no further worker was started


@dataclass(slots=True)
class _Child:
    number: int
    process: subprocess.Popen[bytes]
    summary: Path
    output: threading.Thread  # that copies the worker's standard error to ours
    started: float = field(default_factory=time.monotonic)


class Supervisor:
    """Runs `scrapy crawl --join` several times, with the arguments that it was given itself."""

    def __init__(self, arguments: Sequence[str], workers: int, options: Options) -> None:
        self._arguments = worker_arguments(arguments, workers)
        self._workers = workers
        self._options = options
        self._children: list[_Child] = []
        self._summaries: list[dict[str, Any]] = []
        self._signals: list[int] = []
        self._stopping_since: float | None = None
        self._numbers = 0
        self._code = 0
        self._lost = 0
        self._short_lives = 0
        self._error: CrawlError | None = None

    def run(self) -> WorkersEnded:
        """Start the workers and watch them until all have ended."""
        with (
            tempfile.TemporaryDirectory(prefix="orbweaver-") as directory,
            self._handling_signals(),
            self._view() as show,
        ):
            self._directory = Path(directory)
            for _ in range(self._workers):
                self._start()
            while self._children:
                time.sleep(POLL_EVERY)
                self._handle_received_signals()
                for child in list(self._children):
                    if child.process.poll() is not None:
                        self._children.remove(child)
                        self._ended(child)
                self._kill_unresponsive()
                self._kill_stopped()
                show()
        return WorkersEnded(self._code, self._summaries, self._lost, self._error)

    def _start(self) -> None:
        self._numbers += 1
        number = self._numbers
        summary = self._directory / f"{number}.json"
        process = subprocess.Popen(  # noqa: S603 -- our own program
            [sys.executable, "-m", "crawler", *self._arguments, "--summary", str(summary)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=os.environ | {_SUPERVISOR: str(os.getpid())},
            start_new_session=True,  # Ctrl-C reaches us alone, and we pass it on
        )
        assert process.stderr is not None
        output = threading.Thread(target=_copy_output, args=(process.stderr, number), daemon=True)
        output.start()
        self._children.append(_Child(number, process, summary, output))

    def _ended(self, child: _Child) -> None:
        code = child.process.returncode
        child.output.join(1.0)
        if child.summary.exists():
            self._summaries.append(json.loads(child.summary.read_text(encoding="utf-8")))
        if code >= 0:
            self._code = max(self._code, code)
            if code not in (0, FINISHED_BADLY) and self._stopping_since is None:
                logger.error("Worker %d ended with code %d; the others are stopped", child.number, code)
                self._stop(signal.SIGTERM)
            return
        self._lost += 1
        if self._stopping_since is not None:
            return
        is_short = time.monotonic() - child.started < SHORT_LIFE
        self._short_lives = self._short_lives + 1 if is_short else 0
        if self._short_lives >= SHORT_LIVES:
            self._stop(signal.SIGTERM)
            self._error = CrawlError(
                f"Workers die as soon as they start (the last by signal {-code}). "
                "What was committed is kept; see the log."
            )
            return
        logger.warning("Worker %d was killed by signal %d; another takes its place", child.number, -code)
        self._start()

    def _stop(self, number: int) -> None:
        self._stopping_since = self._stopping_since or time.monotonic()
        for child in self._children:
            child.process.send_signal(number)

    def _handle_received_signals(self) -> None:
        received, self._signals = self._signals, []
        for number in received:
            if self._stopping_since is None:
                logger.info("Stopping: what is in flight may finish; a second signal stops at once")
                self._stop(number)
            else:
                self._stop(signal.SIGKILL)
                restore_cursor(sys.stderr)
                os._exit(128 + number)

    def _kill_unresponsive(self) -> None:
        if self._stopping_since is not None and time.monotonic() - self._stopping_since > STOP_WITHIN:
            self._stop(signal.SIGKILL)

    def _kill_stopped(self) -> None:
        """Kill workers that were stopped inside a transaction, which blocks the store for all others.

        They are replaced, and nothing is lost.
        """
        lease = self._options.partition_lease
        renewed = max((worker.lease_end for worker in self._store.partitions.workers()), default=math.inf) - lease
        if time.time() - renewed < min(MOST_SILENCE, lease + self._options.fetch.limits.timeout):
            return
        for child in self._children:
            if state_of(child.process.pid) == STOPPED:
                logger.warning("Worker %d is stopped and keeps the others from the store: it is killed", child.number)
                child.process.kill()

    @contextmanager
    def _handling_signals(self) -> Iterator[None]:
        before = {
            number: signal.signal(number, lambda number, _: self._signals.append(number))
            for number in (signal.SIGINT, signal.SIGTERM)
        }
        try:
            yield
        finally:
            for child in self._children:  # an error ended the loop
                child.process.send_signal(signal.SIGTERM)
            for number, handler in before.items():
                signal.signal(number, handler)

    @contextmanager
    def _view(self) -> Iterator[Any]:
        """Show the progress of the workers, at most every so many seconds."""
        self._store = open_store(self._options.store, read_only=True)
        view = _View(self._store, self._summaries)
        live = _live() if can_redraw(sys.stderr, os.environ.get("TERM")) else None
        every = LIVE_EVERY if live is not None else PLAIN_EVERY
        last = time.monotonic()

        def show() -> None:
            nonlocal last
            if time.monotonic() - last >= every:
                last = time.monotonic()
                if live is not None:
                    live.update(Text("\n".join([view.line(), *view.workers()])))
                else:
                    logger.info("%s", view.line())

        try:
            if live is not None:
                live.start()
            yield show
        finally:
            if live is not None:
                live.stop()
            self._store.close()


def _live() -> Live:
    console = Console(file=sys.stderr, highlight=False, markup=False, emoji=False)
    return Live(Text(""), console=console, refresh_per_second=2, transient=True, redirect_stdout=sys.stdout.isatty())


class _View:
    """The progress of the workers as text; the pages of those that have ended are in their summaries."""

    def __init__(self, store: Store, summaries: Sequence[dict[str, Any]]) -> None:
        self._store = store
        self._summaries = summaries
        self._last: tuple[float, int] | None = None

    def line(self) -> str:
        now, workers = time.monotonic(), self._store.partitions.workers()
        pages = sum(worker.pages for worker in workers) + sum(summary["pages"] for summary in self._summaries)
        then, before = self._last or (now, pages)
        self._last = (now, pages)
        rate = max(pages - before, 0) / (now - then) if now > then else 0.0
        return f"{plural(len(workers), 'worker')}: {plural(pages, 'page')} ({rate:.1f}/s)"

    def workers(self) -> list[str]:
        return [f"  {line_of(worker)}" for worker in self._store.partitions.workers()]


def end_with_supervisor() -> None:
    """Have this worker stop, as if by Ctrl-C, when its supervisor dies; one that joined by hand has none."""
    supervisor = os.environ.get(_SUPERVISOR)
    if supervisor is None:
        return
    signal.signal(ORPHANED, _stop_once)
    signal_when_parent_ends(ORPHANED)
    if os.getppid() != int(supervisor):  # the supervisor died before
        raise CrawlError("The supervisor of this worker is gone. Nothing was changed.")


def is_supervised() -> bool:
    """Whether this process is a worker of a living supervisor, which reports for all."""
    return os.environ.get(_SUPERVISOR) == str(os.getppid())


def _stop_once(_number: int, _frame: object) -> None:
    """Stop on the first signal only: Linux sends one per thread of the supervisor, and a second SIGTERM kills."""
    signal.signal(ORPHANED, signal.SIG_IGN)
    os.kill(os.getpid(), signal.SIGTERM)


def line_of(worker: WorkerStatus) -> str:
    """Describe a worker in one line."""
    late = f", {worker.late} late" if worker.late else ""
    limit = f"; limited by {worker.limited_by}" if worker.limited_by else ""
    return (
        f"worker {worker.slot} (process {worker.pid}): {worker.partitions} partitions, {worker.pages:,} pages in "
        f"{worker.visits:,} visits, {worker.rate:.1f}/s lately, {worker.new_urls:,} new URLs{late}; the store works "
        f"{worker.store_share:.0%} of the time{limit}"
    )


def worker_arguments(arguments: Sequence[str], workers: int) -> list[str]:
    """Return the arguments of each worker, without those that hold once for all: seeds and the summary's file.

    >>> worker_arguments(["scrapy", "web", "--workers", "4", "-a", "seeds=x", "--summary=s", "-s", "A=1"], 4)
    ['crawl', 'web', '-s', 'A=1', '--join', '--workers', '4']
    >>> worker_arguments(["scrapy", "web", "-a", "y=z"], 4)
    ['crawl', 'web', '-a', 'y=z', '--join', '--workers', '4']

    Scrapy has taken the name of the command out of the arguments.
    """
    passed_on: list[str] = []
    rest = iter(arguments[1:])
    for word in rest:
        if word in ("--workers", "--summary"):
            next(rest, None)
        elif word == "-a":
            argument = next(rest, "")
            if not argument.startswith("seeds="):
                passed_on += [word, argument]
        elif not word.startswith(("--workers=", "--summary=", "-aseeds=")):
            passed_on.append(word)
    return ["crawl", *passed_on, "--join", "--workers", str(workers)]


def _copy_output(source: IO[bytes], number: int) -> None:
    """Copy the output of a worker to the standard error, its number before each line."""
    for line in source:
        text = escape_controls(line.decode(errors="replace"), keep="\n")
        sys.stderr.write(f"[{number}] {text}")
        sys.stderr.flush()
