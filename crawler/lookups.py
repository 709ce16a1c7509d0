"""Blocking look-ups beside the event loop, in threads that nobody waits for at the end."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from functools import partial
from queue import SimpleQueue
from typing import TypeVar

T = TypeVar("T")


class Lookups:
    """A bounded number of daemon threads: a name server that does not answer can delay its own names, not the exit."""

    def __init__(self, threads: int) -> None:
        self._most = threads
        self._threads: list[threading.Thread] = []
        self._questions: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._idle = 0

    def ask(self, act: Callable[[], T]) -> asyncio.Future[T]:
        """The answer, in the event loop that runs now."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[T] = loop.create_future()

        def look() -> None:
            try:
                _tell(loop, answer, partial(answer.set_result, act()))
            except BaseException as error:
                _tell(loop, answer, partial(answer.set_exception, error))  # whatever it is, somebody waits for it

        self._questions.put(look)
        if self._idle == 0 and len(self._threads) < self._most:
            thread = threading.Thread(target=self._work, name="lookup", daemon=True)
            self._threads.append(thread)
            thread.start()
        return answer

    def _work(self) -> None:
        while True:
            self._idle += 1
            question = self._questions.get()
            self._idle -= 1
            question()


def _tell(loop: asyncio.AbstractEventLoop, answer: asyncio.Future[T], say: Callable[[], object]) -> None:
    def if_wanted() -> None:
        if not answer.done():
            say()

    if not loop.is_closed():
        loop.call_soon_threadsafe(if_wanted)
