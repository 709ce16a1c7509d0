"""The pool of content processes: a page that crashes, hangs or exhausts one costs one attempt of its URL."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import subprocess
import sys
from collections import Counter, deque
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import msgspec
from msgspec.structs import replace

from crawler.content.answers import ArchivedAnswer
from crawler.content.messages import (
    COMPARE,
    CONFIGURE,
    EXAMINE,
    FRAME,
    LEARN_TEMPLATE,
    LIBRARIES,
    MODEL,
    SEEDS,
    ComparisonTask,
    ContentConfiguration,
    ExaminedPage,
    TemplateTask,
)
from crawler.content.relevance import FocusModel
from crawler.content.similarity import TemplatedAnswer
from crawler.errors import CrawlError
from crawler.items import Reason, Visited

logger = logging.getLogger(__name__)

JOBS_A_PROCESS = 2  # at once: the next is there when one is done
PAGES_A_PROCESS = 2_000  # after which the process is replaced, so that memory leaks do not add up
CHECK_EVERY = 0.5  # seconds between two checks for processes that hang
START_TIMEOUT = 60.0  # seconds; generous, because the machine may be busy
LONGEST_ERRORS = 4_096  # bytes of the end of a standard error that are kept
LONGEST_WORDS = 200  # characters of its last line
FAILED_STARTS = 5  # processes in a row that die before they are ready, after which the crawl stops


class ContentDied(Exception):
    """The content process of a page died, was killed or was stopped; the reason says which."""

    def __init__(self, reason: Reason, last_words: str = "") -> None:
        super().__init__(reason.meaning)
        self.reason = reason
        self.last_words = last_words  # the last line that it wrote to its standard error


class ContentPool:
    """Starts the processes, assigns jobs to them, kills and replaces them. Belongs to one event loop.

    What libraries say in them is counted in `said`, by library.
    """

    def __init__(
        self, processes: int, configuration: ContentConfiguration, timeout: float, said: Counter[str] | None = None
    ) -> None:
        self._size = processes
        self._configuration = configuration
        self._timeout = timeout  # seconds of real time for a page
        self.said = Counter() if said is None else said
        self._seeds: list[str] = []
        self._model: FocusModel | None = None  # of a focused crawl
        self._processes: list[_ContentProcess] = []
        self._waiting: deque[_Job] = deque()
        self._failed_starts = 0
        self._has_warned = False
        self._failure: CrawlError | None = None
        self._closed = False
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        for _ in range(self._size):
            self._start_process()
        self._kill_hanging()

    def add_seeds(self, seeds: Sequence[str]) -> None:
        """Extend the scope in all processes."""
        self._seeds.extend(seeds)
        for process in self._processes:
            process.send(SEEDS, _encode(seeds))

    def update_model(self, model: FocusModel) -> None:
        """Judge pages and links by what a focused crawl has learned; an empty topic is the one before."""
        topic = model.topic or (self._model.topic if self._model is not None else b"")
        self._model = FocusModel(topic, model.links)
        message = _encode(model)
        for process in self._processes:
            process.send(MODEL, message)

    def waiting(self) -> int:
        """Return how many pages wait for a process."""
        return len(self._waiting)

    async def examine(self, visited: Visited) -> Visited:
        """Call `crawler.content.examine.examine` in a content process.

        Raises `ContentDied` if that process dies, and `CrawlError` if none can be started.
        """
        found: ExaminedPage = await self._submit(EXAMINE, visited)
        return replace(
            visited,
            outcome=found.outcome,
            reason=found.reason,
            detail=found.detail,
            page=found.page,
            location=found.target,
            records=found.records,
        )

    async def compare(self, new: TemplatedAnswer, others: Sequence[TemplatedAnswer]) -> list[float]:
        """Call `crawler.content.similarity.compare` in a content process."""
        similarities: list[float] = await self._submit(COMPARE, ComparisonTask(new, list(others)))
        return similarities

    async def learn_template(
        self, pages: Sequence[ArchivedAnswer], template: bytes | None
    ) -> tuple[bytes, list[bytes]]:
        """Call `crawler.content.similarity.learn_template` in a content process."""
        found: tuple[bytes, list[bytes]] = await self._submit(LEARN_TEMPLATE, TemplateTask(list(pages), template))
        return found

    def _submit(self, kind: int, task: object) -> asyncio.Future[Any]:
        """Queue a task, and return the future of its result."""
        if self._failure is not None:
            raise self._failure
        if self._closed:
            raise ContentDied(Reason.STOPPED)
        result: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Job(kind, _encode(task), result))
        self._assign_jobs()
        return result

    def close(self) -> None:
        """End all processes; jobs that are not done fail with the reason STOPPED."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        for job in self._waiting:
            job.fail(Reason.STOPPED)
        for process in list(self._processes):
            process.end()
            process.kill_and_wait()

    # ── called by the processes ──

    def process_ready(self, unlimited: Sequence[str]) -> None:
        """Warn, once, of what the system does not limit."""
        if "memory" in unlimited and not self._has_warned:
            logger.warning(
                "This system does not limit the memory of a process: CONTENT_MAX_MEMORY has no effect, and a page that "
                "needs too much memory can make the system kill the crawl"
            )
        self._has_warned = True

    def process_answered(self, process: _ContentProcess) -> None:
        """Give a process that is ready, or has done a job, the next one; replace it after many pages."""
        self._failed_starts = 0
        if process.pages_done >= PAGES_A_PROCESS and not process.is_retiring:
            process.is_retiring = True
            self._start_process()
        if process.is_retiring and not process.jobs:
            process.end()
        self._assign_jobs()

    def process_ended(self, process: _ContentProcess) -> None:
        """Replace a process that has ended: its current job has failed, and the others wait for another process."""
        if process not in self._processes:
            return
        self._processes.remove(process)
        if self._closed:
            for job in process.jobs:
                job.fail(Reason.STOPPED)
            process.jobs.clear()
        if process.jobs:
            reason = Reason.CONTENT_HUNG if process.took_too_long else Reason.CONTENT_DIED
            process.jobs.popleft().fail(reason, process.last_words)
        elif not process.is_ready and not self._closed:
            self._failed_starts += 1
        self._waiting.extendleft(reversed(process.jobs))
        process.jobs.clear()
        if self._closed or process.is_retiring:
            return
        if self._failed_starts >= FAILED_STARTS:
            self._fail_all(process.last_words)
        else:
            self._start_process()

    def _fail_all(self, last_words: str) -> None:
        """Fail all jobs, now and from now on, because processes cannot be started."""
        error = CrawlError(
            f"{FAILED_STARTS} content processes in a row died at their start"
            + (f", the last with: {last_words}" if last_words else " without a word")
            + ". What was committed is kept. Is the installation whole, and is CONTENT_MAX_MEMORY large enough?"
        )
        self._failure = error
        for job in self._waiting:
            if not job.result.done():
                job.result.set_exception(error)
        self._waiting.clear()

    # ── jobs and time limits ──

    def _assign_jobs(self) -> None:
        """Give waiting jobs to the processes with the fewest."""
        while self._waiting:
            free = [process for process in self._processes if process.has_room]
            if not free:
                return
            min(free, key=lambda process: len(process.jobs)).assign(self._waiting.popleft())

    def _start_process(self) -> None:
        process = _ContentProcess(self)
        self._processes.append(process)
        process.start(self._configuration, self._seeds, self._model)

    def _kill_hanging(self) -> None:
        """Kill processes that exceed their time limit, now and periodically; `process_ended` does the rest."""
        now = asyncio.get_running_loop().time()
        for process in self._processes:
            limit = self._timeout if process.is_ready else START_TIMEOUT
            is_busy = process.jobs or not process.is_ready
            if is_busy and now - process.busy_since > limit and not process.was_hanging:
                process.was_hanging = True
                process.kill()
        self._timer = asyncio.get_running_loop().call_later(CHECK_EVERY, self._kill_hanging)


_RESULTS = {  # decoders by kind of message
    EXAMINE: msgspec.msgpack.Decoder[Any](ExaminedPage),
    COMPARE: msgspec.msgpack.Decoder[Any](list[float]),
    LEARN_TEMPLATE: msgspec.msgpack.Decoder[Any](tuple[bytes, list[bytes]]),
}


class _Job:
    """A task for a content process, and the future of its result."""

    __slots__ = ("kind", "message", "result")

    def __init__(self, kind: int, message: bytes, result: asyncio.Future[Any]) -> None:
        self.kind = kind
        self.message = message
        self.result = result

    def fail(self, reason: Reason, last_words: str = "") -> None:
        if not self.result.done():
            self.result.set_exception(ContentDied(reason, last_words))


class _ContentProcess(asyncio.Protocol):
    """One content process, and the channel to it."""

    def __init__(self, pool: ContentPool) -> None:
        self.jobs: deque[_Job] = deque()  # the first is being done
        self.pages_done = 0
        self._loop = asyncio.get_running_loop()
        self.busy_since = self._loop.time()  # when it began its current job, or was started
        self.is_ready = False  # it has its configuration and takes jobs
        self.was_hanging = False  # it was killed for exceeding its time limit
        self.is_retiring = False  # another process has replaced it; it ends after its jobs
        self._pool = pool
        self._transport: asyncio.Transport | None = None
        self._unsent: list[bytes] = []
        self._buffer = bytearray()
        self._errors = b""  # the end of what it has written to its standard error since its last job

    def start(self, configuration: ContentConfiguration, seeds: Sequence[str], model: FocusModel | None) -> None:
        ours, theirs = socket.socketpair()
        ours.setblocking(False)  # noqa: FBT003
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 -- ourselves
                [sys.executable, "-m", "crawler.content.process", str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env=_environment(),
                start_new_session=True,  # Ctrl-C in a terminal reaches only the crawl process, which ends the others
            )
        self.send(CONFIGURE, _encode(configuration))
        self.send(SEEDS, _encode(list(seeds)))
        if model is not None:
            self.send(MODEL, _encode(model))
        self._connecting = self._loop.create_task(self._connect(ours))
        os.set_blocking(self._stderr, False)
        self._loop.add_reader(self._stderr, self._read_errors)

    async def _connect(self, ours: socket.socket) -> None:
        await self._loop.create_connection(lambda: self, sock=ours)

    def send(self, kind: int, message: bytes) -> None:
        data = FRAME.pack(len(message), kind) + message
        if self._transport is None:
            self._unsent.append(data)
        else:
            self._transport.write(data)

    @property
    def _stderr(self) -> int:
        assert self._process.stderr is not None
        return self._process.stderr.fileno()

    @property
    def last_words(self) -> str:
        """The last line that it has written to its standard error since its last job."""
        lines = self._errors.decode(errors="replace").strip().splitlines()
        return lines[-1].strip()[:LONGEST_WORDS] if lines else ""

    def _read_errors(self) -> None:
        """Read what the process, or native code in it, has written to its standard error, so that it never waits."""
        with suppress(BlockingIOError):
            while written := os.read(self._stderr, 1 << 16):
                self._pool.said["standard error"] += written.count(b"\n")
                self._errors = (self._errors + written)[-LONGEST_ERRORS:]
            self._loop.remove_reader(self._stderr)

    def _close_errors(self) -> None:
        assert self._process.stderr is not None
        if not self._process.stderr.closed:
            self._read_errors()
            self._loop.remove_reader(self._stderr)
            self._process.stderr.close()

    @property
    def has_room(self) -> bool:
        return self.is_ready and len(self.jobs) < JOBS_A_PROCESS and not self.is_retiring and not self.was_hanging

    @property
    def took_too_long(self) -> bool:
        """Whether it was killed for its time limit, by us, or for its CPU time, by the kernel."""
        return self.was_hanging or self._process.returncode == -signal.SIGXCPU

    def assign(self, job: _Job) -> None:
        if not self.jobs:
            self.busy_since = self._loop.time()
        self.jobs.append(job)
        self.send(job.kind, job.message)

    def kill(self) -> None:
        self._process.send_signal(signal.SIGKILL)

    def end(self) -> None:
        """Close the channel, whereupon the process ends by itself."""
        if self._transport is not None:
            self._transport.close()
        else:
            self.kill()

    def kill_and_wait(self) -> None:
        self.kill()
        self._process.wait()
        self._close_errors()

    # ── asyncio.Protocol ──

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]
        for data in self._unsent:
            self._transport.write(data)  # type: ignore[union-attr]
        self._unsent.clear()

    def data_received(self, data: bytes) -> None:
        if self._buffer:
            self._buffer += data
            data = bytes(self._buffer)
            self._buffer.clear()
        view, start = memoryview(data), 0
        while len(data) - start >= FRAME.size:
            length, kind = FRAME.unpack_from(data, start)
            end = start + FRAME.size + length
            if len(data) < end:
                break
            message = view[start + FRAME.size : end]
            if kind == CONFIGURE:
                self.is_ready = True
                self._pool.process_ready(msgspec.msgpack.decode(message, type=list[str]))
                self._pool.process_answered(self)
            elif kind == LIBRARIES:
                self._pool.said.update(msgspec.msgpack.decode(message, type=dict[str, int]))
            else:
                self._finish_job(message)
            start = end
        if start < len(data):
            self._buffer += view[start:]

    def _finish_job(self, message: memoryview) -> None:
        job = self.jobs.popleft()
        self.pages_done += 1
        self._errors = b""
        self.busy_since = self._loop.time()
        if not job.result.done():
            job.result.set_result(_RESULTS[job.kind].decode(message))
        self._pool.process_answered(self)

    def connection_lost(self, error: Exception | None) -> None:
        self.kill_and_wait()
        self._pool.process_ended(self)


def _encode(message: object) -> bytes:
    return msgspec.msgpack.encode(message)


def _environment() -> dict[str, str]:
    """Return the environment variables that Python needs, without any that a hostile page should not read."""
    # glibc would return memory to the kernel after each page and request it again for the next: 1/15 of the time.
    tuned = {
        "MALLOC_TRIM_THRESHOLD_": str(1 << 28),
        "MALLOC_MMAP_THRESHOLD_": str(1 << 25),
        "MALLOC_TOP_PAD_": str(1 << 22),
        "OPENBLAS_NUM_THREADS": "1",  # numpy only hashes here; starting its threads takes a third of the start-up
    }
    inherited = ("PATH", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "LANG", "LC_ALL", "HOME", "TMPDIR")
    return tuned | {name: os.environ[name] for name in inherited if name in os.environ}
