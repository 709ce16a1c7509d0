"""The content processes of a crawl: a page that kills, hangs or swells one costs one attempt of its URL."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import subprocess
import sys
from collections import deque
from collections.abc import Sequence
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
    SEEDS,
    ComparisonTask,
    ContentConfiguration,
    ExaminedPage,
    PageTask,
    TemplateTask,
)
from crawler.content.similarity import TemplatedAnswer
from crawler.errors import CrawlError
from crawler.items import Reason, Visited

logger = logging.getLogger(__name__)

AHEAD = 2  # pages a process has at once: the next is there when one is done
PAGES_A_PROCESS = 2_000  # after which a fresh process takes over: whatever leaks, leaks no further
CHECK_EVERY = 0.5  # seconds between two looks for processes that hang
START_TIME = 60.0  # seconds that a process may take to start, on a machine that has other things to do
FAILED_STARTS = 5  # processes in a row that die before their first page


class ContentDied(Exception):
    """A page ended its content process."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.meaning)
        self.reason = reason


class ContentPool:
    """Starts, feeds, watches and replaces the processes. Belongs to the event loop that runs it."""

    def __init__(self, processes: int, configuration: ContentConfiguration, seconds: float) -> None:
        self._size = processes
        self._configuration = configuration
        self._seconds = seconds  # a page may take, by the clock on the wall
        self._seeds: list[str] = []
        self._workers: list[_ContentProcess] = []
        self._waiting: deque[_Job] = deque()
        self._failed_starts = 0
        self._failure: CrawlError | None = None
        self._closed = False
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        for _ in range(self._size):
            self._start_worker()
        self._watch()

    def add_seeds(self, seeds: Sequence[str]) -> None:
        """Extend the scope in all processes."""
        self._seeds.extend(seeds)
        for worker in self._workers:
            worker.send(SEEDS, _encode(seeds))

    def waiting(self) -> int:
        """Pages that no process has taken yet."""
        return len(self._waiting)

    async def examine(self, visited: Visited, location: str | None) -> Visited:
        """`crawler.content.examine.examine`, elsewhere. Raises `ContentDied`, or `CrawlError` when no process can be had."""
        seen: ExaminedPage = await self._ask(EXAMINE, PageTask(visited, location))
        return replace(
            visited,
            outcome=seen.outcome,
            reason=seen.reason,
            detail=seen.detail,
            page=seen.page,
            location=seen.target,
            records=seen.records,
        )

    async def compare(self, new: TemplatedAnswer, others: Sequence[TemplatedAnswer]) -> list[float]:
        """`crawler.content.similarity.compare`, elsewhere."""
        shares: list[float] = await self._ask(COMPARE, ComparisonTask(new, list(others)))
        return shares

    async def learn_template(
        self, pages: Sequence[ArchivedAnswer], template: bytes | None
    ) -> tuple[bytes, list[bytes]]:
        """`crawler.content.similarity.learn_template`, elsewhere."""
        learned: tuple[bytes, list[bytes]] = await self._ask(LEARN_TEMPLATE, TemplateTask(list(pages), template))
        return learned

    def _ask(self, kind: int, question: object) -> asyncio.Future[Any]:
        if self._failure is not None:
            raise self._failure
        if self._closed:
            raise ContentDied(Reason.STOPPED)
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Job(kind, _encode(question), answer))
        self._feed()
        return answer

    def close(self) -> None:
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        for job in self._waiting:
            job.fail(Reason.STOPPED)
        for worker in list(self._workers):
            worker.end()
            worker.wait()

    # ── what the workers report ──

    def answered(self, worker: _ContentProcess) -> None:
        self._failed_starts = 0
        if worker.done >= PAGES_A_PROCESS and not worker.is_retiring:
            worker.is_retiring = True
            self._start_worker()
        if worker.is_retiring and not worker.jobs:
            worker.end()
        self._feed()

    def lost(self, worker: _ContentProcess) -> None:
        """A process is gone: the page that it was at is to blame, the others are given to someone else."""
        if worker not in self._workers:
            return
        self._workers.remove(worker)
        if self._closed:
            for job in worker.jobs:
                job.fail(Reason.STOPPED)
            worker.jobs.clear()
        if worker.jobs:
            worker.jobs.popleft().fail(Reason.CONTENT_HUNG if worker.took_too_long else Reason.CONTENT_DIED)
        elif not worker.is_ready and not self._closed:
            self._failed_starts += 1
        self._waiting.extendleft(reversed(worker.jobs))
        worker.jobs.clear()
        if self._closed or worker.is_retiring:
            return
        if self._failed_starts >= FAILED_STARTS:
            self._give_up()
        else:
            self._start_worker()

    def _give_up(self) -> None:
        error = CrawlError(
            f"{FAILED_STARTS} content processes in a row died at their start; what was committed is kept. Run "
            f"`{sys.executable} -m crawler.content.process` to see why."
        )
        self._failure = error
        for job in self._waiting:
            if not job.answer.done():
                job.answer.set_exception(error)
        self._waiting.clear()

    # ── feeding and watching ──

    def _feed(self) -> None:
        while self._waiting:
            ready = [worker for worker in self._workers if worker.has_room]
            if not ready:
                return
            min(ready, key=lambda worker: len(worker.jobs)).give(self._waiting.popleft())

    def _start_worker(self) -> None:
        worker = _ContentProcess(self)
        self._workers.append(worker)
        worker.start(self._configuration, self._seeds)

    def _watch(self) -> None:
        """Kill what hangs; its death is then like any other."""
        now = asyncio.get_running_loop().time()
        for worker in self._workers:
            patience = self._seconds if worker.is_ready else START_TIME
            busy = worker.jobs or not worker.is_ready
            if busy and now - worker.since > patience and not worker.was_hanging:
                worker.was_hanging = True
                worker.kill()
        self._timer = asyncio.get_running_loop().call_later(CHECK_EVERY, self._watch)


_ANSWERS = {
    EXAMINE: msgspec.msgpack.Decoder[Any](ExaminedPage),
    COMPARE: msgspec.msgpack.Decoder[Any](list[float]),
    LEARN_TEMPLATE: msgspec.msgpack.Decoder[Any](tuple[bytes, list[bytes]]),
}


class _Job:
    """A page, or several, on their way through a process."""

    __slots__ = ("answer", "kind", "message")

    def __init__(self, kind: int, message: bytes, answer: asyncio.Future[Any]) -> None:
        self.kind = kind
        self.message = message
        self.answer = answer

    def fail(self, reason: Reason) -> None:
        if not self.answer.done():
            self.answer.set_exception(ContentDied(reason))


class _ContentProcess(asyncio.Protocol):
    """One process, and the channel to it."""

    def __init__(self, pool: ContentPool) -> None:
        self.jobs: deque[_Job] = deque()  # the first is the one it is at
        self.done = 0
        self.since = asyncio.get_running_loop().time()  # when it began with the first, or to start
        self.is_ready = False  # it has started
        self.was_hanging = False
        self.is_retiring = False
        self._pool = pool
        self._transport: asyncio.Transport | None = None
        self._unsent: list[bytes] = []
        self._buffer = bytearray()

    def start(self, configuration: ContentConfiguration, seeds: Sequence[str]) -> None:
        ours, theirs = socket.socketpair()
        ours.setblocking(False)  # noqa: FBT003
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 -- ourselves
                [sys.executable, "-m", "crawler.content.process", str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                env=_environment(),
                start_new_session=True,  # a terminal's Ctrl-C is for the crawl, which ends its processes itself
            )
        self.send(CONFIGURE, _encode(configuration))
        self.send(SEEDS, _encode(list(seeds)))
        loop = asyncio.get_running_loop()
        self._connecting = loop.create_task(self._connect(loop, ours))

    async def _connect(self, loop: asyncio.AbstractEventLoop, ours: socket.socket) -> None:
        await loop.create_connection(lambda: self, sock=ours)

    def send(self, kind: int, message: bytes) -> None:
        data = FRAME.pack(len(message), kind) + message
        if self._transport is None:
            self._unsent.append(data)
        else:
            self._transport.write(data)

    @property
    def has_room(self) -> bool:
        return self.is_ready and len(self.jobs) < AHEAD and not self.is_retiring and not self.was_hanging

    @property
    def took_too_long(self) -> bool:
        """Ended by us, or by the kernel for the time it computed."""
        return self.was_hanging or self._process.returncode == -signal.SIGXCPU

    def give(self, job: _Job) -> None:
        if not self.jobs:
            self.since = asyncio.get_running_loop().time()
        self.jobs.append(job)
        self.send(job.kind, job.message)

    def kill(self) -> None:
        self._process.send_signal(signal.SIGKILL)

    def end(self) -> None:
        """It ends by itself when its channel does."""
        if self._transport is not None:
            self._transport.close()
        else:
            self.kill()

    def wait(self) -> None:
        """Until it is gone; it has nothing to finish."""
        self.kill()
        self._process.wait()

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
            if kind == CONFIGURE:
                self.is_ready = True
                self._pool.answered(self)
            else:
                self._take(view[start + FRAME.size : end])
            start = end
        if start < len(data):
            self._buffer += view[start:]

    def _take(self, message: memoryview) -> None:
        job = self.jobs.popleft()
        self.done += 1
        self.since = asyncio.get_running_loop().time()
        if not job.answer.done():
            job.answer.set_result(_ANSWERS[job.kind].decode(message))
        self._pool.answered(self)

    def connection_lost(self, error: Exception | None) -> None:
        self._process.kill()
        self._process.wait()
        self._pool.lost(self)


def _encode(message: object) -> bytes:
    return msgspec.msgpack.encode(message)


def _environment() -> dict[str, str]:
    """What Python needs to start, and nothing that a page should not get hold of."""
    # glibc would give memory back to the kernel after each page and fetch it again for the next: a fifteenth of the time.
    tuned = {
        "MALLOC_TRIM_THRESHOLD_": str(1 << 28),
        "MALLOC_MMAP_THRESHOLD_": str(1 << 25),
        "MALLOC_TOP_PAD_": str(1 << 22),
        "OPENBLAS_NUM_THREADS": "1",  # numpy is there for hashes: its threads would only cost a third of the start
    }
    kept = ("PATH", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "LANG", "LC_ALL", "HOME", "TMPDIR")
    return tuned | {name: os.environ[name] for name in kept if name in os.environ}
