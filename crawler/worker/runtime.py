"""What a worker needs of the process that it runs in: a clock, the store's thread, host names, pages, the engine.

Under Scrapy these are the event loop, a thread, the resolver and the content processes. In a simulation they are a
virtual clock and a store that answers after a simulated delay; pages are there if a test provides them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from crawler.items import Key, Visited
from crawler.stores.contract.commits import CommitSummary, VisitResult
from crawler.stores.contract.partitions import Assignment
from crawler.stores.contract.similarity import TemplateJob, TemplateResult, UndecidedPage
from crawler.stores.contract.store import Store
from crawler.worker.committer import CommitAnswer, SimilarArchivedPage
from crawler.worker.focus_learner import FocusLearner

T = TypeVar("T")
Similarities = Mapping[int, float]  # number of a page in urls → how similar its text is


class Timer(Protocol):
    def cancel(self) -> None: ...


class Clock(Protocol):
    """Time and timers."""

    def now(self) -> float: ...

    def later(self, delay: float, act: Callable[[], object]) -> Timer: ...


class StoreThread(Protocol):
    """The thread that owns the store; in it, calls run one after another."""

    def run(self, act: Callable[[], T], then: Callable[[T], None]) -> None:
        """Run a call after all earlier ones, then pass its result to `then`, outside of that thread."""


class StoreAccess(Protocol):
    """The store, and what a worker does with it. Used only inside the store's thread, except for `owner`."""

    owner: str  # the worker's name in the store
    learner: FocusLearner | None  # of a focused crawl

    @property
    def store(self) -> Store: ...

    def commit(self, batch: Sequence[VisitResult], wanted: Collection[Key]) -> CommitAnswer:
        """Archive and acknowledge a batch of visits; return the pages of `wanted` ones."""

    def renew_lease(self) -> Assignment:
        """Extend the leases of our partitions, and take over those of dead workers."""

    def new_seeds(self) -> list[str]:
        """Return the seeds that other processes have added since the last call."""

    def open_scope(self, seeds: Sequence[str]) -> None:
        """Judge the URLs again that new seeds bring into the scope."""


class HostNames(Protocol):
    """The addresses of hosts."""

    def known_address(self, host: str) -> str | None:
        """Return the address of a host if it need not be looked up."""

    def look_up(self, host: str, then: Callable[[], None]) -> None:
        """Look up the address of a host; then, whether it was found or not, call `then`."""


class PageReader(Protocol):
    """Reads archived pages again. None instead of a result means that the crawl ends; the work is offered again."""

    def compare(
        self, visited: Visited, others: Sequence[SimilarArchivedPage], then: Callable[[Similarities], None]
    ) -> None:
        """Compare the text of a fetched page with those of archived ones, as far as they can be read."""

    def compare_archived(self, page: UndecidedPage, then: Callable[[Similarities | None], None]) -> None:
        """Compare the text of an archived page with those of its candidates, as far as they can be read."""

    def learn_template(self, job: TemplateJob, then: Callable[[TemplateResult | None], None]) -> None:
        """Learn the template of a host, or leave a known one out of the sketches of its pages."""


class Engine(Protocol):
    """The engine that sends the requests of a worker, and is told what becomes of them."""

    def may_release(self) -> bool:
        """Whether a visit that is ready could be sent now."""

    def wake(self) -> None:
        """Ask for visits again: one may be ready, or the crawl over."""

    def visit_acknowledged(self, host: str, visited: Visited) -> None: ...

    def batch_committed(self, summary: CommitSummary) -> None: ...

    def lease_renewed(self) -> None: ...

    def seeds_added(self, seeds: Sequence[str]) -> None:
        """Extend the scope by seeds from other processes."""

    def count(self, stat: str, times: int = 1) -> None: ...

    def fail(self, error: BaseException) -> None:
        """End the crawl: nothing can be committed any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """The parts above, for one worker."""

    clock: Clock
    store_thread: StoreThread
    store_access: StoreAccess
    host_names: HostNames
    engine: Engine
    page_reader: PageReader | None = None  # None = texts are never compared, and templates not learned


class StoreCalls:
    """The calls of a worker that wait in the store's thread, or run there."""

    def __init__(
        self, thread: StoreThread, on_result: Callable[[], None], fail: Callable[[BaseException], None]
    ) -> None:
        self.running = 0
        self._thread = thread
        self._on_result = on_result  # called after each result was taken in
        self._fail = fail
        self._kinds: set[str] = set()

    def is_running(self, kind: str) -> bool:
        return kind in self._kinds

    def run(self, act: Callable[[], T], then: Callable[[T], None], kind: str = "") -> None:
        """Run a call in the store's thread; of a kind with a name one at a time, further ones are dropped."""
        if kind and kind in self._kinds:
            return
        self._kinds.add(kind)
        self.running += 1

        def take_result(result: T) -> None:
            self.running -= 1
            self._kinds.discard(kind)
            try:
                then(result)
                self._on_result()
            except Exception as error:
                self._fail(error)

        self._thread.run(act, take_result)


class Timers:
    """Timers by name: one of each at a time."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._timers: dict[str, Timer] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._timers

    def set(self, name: str, delay: float, act: Callable[[], object]) -> None:
        """Set a timer; one of the same name is replaced."""
        self.cancel(name)

        def expire() -> None:
            if self._timers.get(name) is timer:
                del self._timers[name]
            act()

        timer = self._timers[name] = self._clock.later(delay, expire)

    def cancel(self, name: str) -> None:
        timer = self._timers.pop(name, None)
        if timer is not None:
            timer.cancel()

    def cancel_all(self) -> None:
        for name in list(self._timers):
            self.cancel(name)


def ignore_result(*_: object) -> None:
    """For calls of the store after which nothing is left to do."""
