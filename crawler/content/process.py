"""One content process: pages in, what they contain out, under limits of its own.

It talks over a socket pair: a length, a kind, a message. It ends when the other side does, when the kernel ends it for
using too much, or when a page kills it; whoever started it knows which page that was.
"""

from __future__ import annotations

import gc
import importlib
import os
import resource
import socket
import sys
from collections.abc import Callable, Iterator

import msgspec
from msgspec.structs import replace

from crawler.content.examine import examine
from crawler.content.messages import (
    COMPARE,
    CONFIGURE,
    FRAME,
    LEARN_TEMPLATE,
    SEEDS,
    ComparisonTask,
    ContentConfiguration,
    ExaminedPage,
    PageTask,
    TemplateTask,
)
from crawler.content.similarity import compare, learn_template
from crawler.duplicates.cascade import DuplicateRule
from crawler.items import Visited
from crawler.parse.html import DEFAULT_READING
from crawler.urls.scope import UrlOptions


def main(descriptor: int) -> None:
    worker = _ContentWorker()
    # What is loaded by now stays, and pages hardly leave cycles: to look for them less often saves a tenth of the time.
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 20, 100)
    with socket.socket(fileno=descriptor) as channel:
        for kind, message in _messages(channel):
            answer = worker.handle(kind, message)
            if answer is not None:
                channel.sendall(FRAME.pack(len(answer), kind) + answer)


class _ContentWorker:
    def __init__(self) -> None:
        self._scope = UrlOptions().new_scope()
        self._reading = DEFAULT_READING
        self._rule = DuplicateRule()
        self._cpu_seconds = 0
        self._hook: Callable[[Visited], None] = lambda visited: None
        self._configuration = msgspec.msgpack.Decoder(ContentConfiguration)
        self._task = msgspec.msgpack.Decoder(PageTask)
        self._comparison = msgspec.msgpack.Decoder(ComparisonTask)
        self._schooling = msgspec.msgpack.Decoder(TemplateTask)
        self._encoder = msgspec.msgpack.Encoder()

    def handle(self, kind: int, message: bytes) -> bytes | None:
        if kind == CONFIGURE:
            self._configure(self._configuration.decode(message))
            return b""  # ready: whatever kills it from now on is a page
        if kind == SEEDS:
            for seed in msgspec.msgpack.decode(message):
                self._scope.add(seed)
            return None
        self._limit_cpu()
        if kind == COMPARE:
            asked = self._comparison.decode(message)
            return self._encoder.encode(compare(asked.new, asked.others, self._reading, self._rule))
        if kind == LEARN_TEMPLATE:
            given = self._schooling.decode(message)
            return self._encoder.encode(learn_template(given.pages, given.template, self._reading, self._rule))
        return self._examine(self._task.decode(message))

    def _configure(self, given: ContentConfiguration) -> None:
        self._scope = given.urls.new_scope()
        self._reading, self._rule = given.reading, given.rule
        self._cpu_seconds = given.cpu_seconds
        if given.hook:
            module, _, function = given.hook.partition(":")
            self._hook = getattr(importlib.import_module(module), function)
        resource.setrlimit(resource.RLIMIT_AS, (given.memory, given.memory))
        # It has no business with files: none are written, none are dumped.
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    def _examine(self, task: PageTask) -> bytes:
        self._hook(task.visited)
        seen = examine(task.visited, self._scope, task.location, self._reading, self._rule)
        # The text is in the archive; nobody at the other side needs it.
        page = replace(seen.page, text="") if seen.page is not None else None
        return self._encoder.encode(
            ExaminedPage(seen.outcome, seen.reason, seen.detail, page, seen.location, list(seen.records))
        )

    def _limit_cpu(self) -> None:
        """The kernel's limit counts from the start of the process, so it is moved ahead of each page."""
        used = resource.getrusage(resource.RUSAGE_SELF)
        limit = int(used.ru_utime + used.ru_stime) + self._cpu_seconds + 1
        resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))


def _messages(channel: socket.socket) -> Iterator[tuple[int, bytes]]:
    while head := _read(channel, FRAME.size):
        length, kind = FRAME.unpack(head)
        yield kind, _read(channel, length)


def _read(channel: socket.socket, size: int) -> bytes:
    """Exactly so many bytes; none at the end."""
    parts: list[bytes] = []
    while size:
        part = channel.recv(min(size, 1 << 20))
        if not part:
            return b""
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


if __name__ == "__main__":
    main(int(sys.argv[1]))
    os._exit(0)  # nothing to tidy up
