"""One content process: receives answers, examines them under limits of CPU time and memory, sends back the results.

It exchanges messages with the crawl process over a socket pair. It ends when the crawl process closes the channel,
when the kernel kills it for exceeding a limit, or when a page crashes it; the pool knows which page that was.
"""

from __future__ import annotations

import gc
import importlib
import logging
import os
import socket
import sys
from collections import Counter
from collections.abc import Callable, Iterator

import msgspec

from crawler.content.examine import examine, with_text_if_kept
from crawler.content.messages import (
    COMPARE,
    CONFIGURE,
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
from crawler.content.relevance import FocusModel, RelevanceJudge
from crawler.content.similarity import compare, learn_template
from crawler.items import Visited
from crawler.monitor.library_output import MessageCounter
from crawler.system import limit_cpu, limit_resources


def main(descriptor: int) -> None:
    with socket.socket(fileno=descriptor) as channel:
        messages = _messages(channel)
        first = next(messages, None)
        if first is None:
            return  # the crawl process has ended
        configuration = msgspec.msgpack.decode(first[1], type=ContentConfiguration)
        handler = _MessageHandler(configuration)
        said = _count_messages()
        # It needs no files, so it may write none, and the kernel dumps no core.
        unlimited = limit_resources(configuration.memory)
        _tune_garbage_collector()
        # Ready: if it dies from now on, a page is the cause.
        _send(channel, CONFIGURE, msgspec.msgpack.encode(unlimited))
        for kind, message in messages:
            answer = handler.handle(kind, message)
            if said:
                _send(channel, LIBRARIES, msgspec.msgpack.encode(said))
                said.clear()
            if answer is not None:
                _send(channel, kind, answer)


def _count_messages() -> Counter[str]:
    """From now on count all log records and warnings by library; nobody reads them."""
    said: Counter[str] = Counter()
    logging.root.addHandler(MessageCounter(said))
    logging.captureWarnings(capture=True)
    return said


def _tune_garbage_collector() -> None:
    """Collect less often, as loaded code stays and pages leave hardly any cycles: saves a tenth of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 20, 100)


class _MessageHandler:
    """Handles the messages of the crawl process; the first of them is its configuration."""

    def __init__(self, configuration: ContentConfiguration) -> None:
        self._scope = configuration.urls.new_scope()
        self._reading, self._rule = configuration.reading, configuration.rule
        self._cpu_seconds = configuration.cpu_seconds
        self._hook = _hook(configuration.hook)
        self._relevance: RelevanceJudge | None = None  # of a focused crawl
        self._visited = msgspec.msgpack.Decoder(Visited)
        self._comparison_task = msgspec.msgpack.Decoder(ComparisonTask)
        self._template_task = msgspec.msgpack.Decoder(TemplateTask)
        self._encoder = msgspec.msgpack.Encoder()

    def handle(self, kind: int, message: bytes) -> bytes | None:
        """Return the answer to a message; None if it needs none."""
        if kind == SEEDS:
            for seed in msgspec.msgpack.decode(message):
                self._scope.add(seed)
            return None
        if kind == MODEL:
            model = msgspec.msgpack.decode(message, type=FocusModel)
            if self._relevance is None:
                self._relevance = RelevanceJudge(model)
            else:
                self._relevance.update(model)
            return None
        limit_cpu(self._cpu_seconds)
        if kind == COMPARE:
            comparison = self._comparison_task.decode(message)
            return self._encoder.encode(compare(comparison.new, comparison.others, self._reading, self._rule))
        if kind == LEARN_TEMPLATE:
            task = self._template_task.decode(message)
            return self._encoder.encode(learn_template(task.pages, task.template, self._reading, self._rule))
        return self._examine(self._visited.decode(message))

    def _examine(self, visited: Visited) -> bytes:
        self._hook(visited)
        found = with_text_if_kept(examine(visited, self._scope, self._reading, self._rule, self._relevance))
        return self._encoder.encode(
            ExaminedPage(found.outcome, found.reason, found.detail, found.page, found.location, list(found.records))
        )


def _hook(name: str) -> Callable[[Visited], None]:
    """Return the function of CONTENT_HOOK, which is named as module:function."""
    if not name:
        return lambda visited: None
    module, _, function = name.partition(":")
    hook: Callable[[Visited], None] = getattr(importlib.import_module(module), function)
    return hook


def _send(channel: socket.socket, kind: int, message: bytes) -> None:
    channel.sendall(FRAME.pack(len(message), kind) + message)


def _messages(channel: socket.socket) -> Iterator[tuple[int, bytes]]:
    """Yield kind and content of each message until the crawl process closes the channel."""
    while head := _read(channel, FRAME.size):
        length, kind = FRAME.unpack(head)
        yield kind, _read(channel, length)


def _read(channel: socket.socket, size: int) -> bytes:
    """Receive exactly so many bytes; none if the channel was closed."""
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
    os._exit(0)  # skips the interpreter's cleanup: there is nothing to save
