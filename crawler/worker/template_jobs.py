"""Learn the templates of hosts: what stands on most pages of a site, and is left out of their sketches.

A job is a generator: it yields each step that takes time, and goes on with the result. So it reads from top to bottom,
and runs in the same order under the event loop and under a virtual clock.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator
from functools import partial
from typing import Any, TypeVar

from crawler.frontier.frontier import Frontier
from crawler.stores.contract.similarity import TemplateJob, TemplateResult, UndecidedPage
from crawler.worker.runtime import Runtime, Similarities, StoreCalls

T = TypeVar("T")
Step = Callable[[Callable[[Any], None]], None]  # starts something that takes time; the argument is given its result
Steps = Generator[Step, Any, T]


class TemplateJobs:
    """The hosts of a worker whose templates are to be learned, one after another: a job has many pages in memory."""

    def __init__(self, runtime: Runtime, calls: StoreCalls, frontier: Frontier) -> None:
        self._runtime = runtime
        self._calls = calls
        self._frontier = frontier
        self._hosts: dict[int, None] = {}  # in order; the first one is being worked on
        self._is_stopped = False

    @property
    def is_running(self) -> bool:
        return bool(self._hosts)

    def add(self, hosts: Collection[int]) -> None:
        """Learn the templates of hosts, after those that are being learned; without a reader, leave them for later."""
        if self._is_stopped or self._runtime.page_reader is None:
            return
        was_running = self.is_running
        self._hosts.update(dict.fromkeys(hosts))
        if self._hosts and not was_running:
            self._resume(self._learn_all(), None)

    def add_unfinished(self) -> None:
        """Take over the jobs that other workers, or earlier runs, have left for hosts that are ours now."""
        access = self._runtime.store_access
        self._calls.run(lambda: access.store.similarity.template_hosts(access.owner), self.add, kind="template hosts")

    def stop(self) -> None:
        """Begin no further step; the store offers what is left to the next run."""
        self._is_stopped = True

    def _learn_all(self) -> Steps[None]:
        while self._hosts and not self._is_stopped:
            host = next(iter(self._hosts))
            while (job := (yield from self._next_job(host))) is not None:
                result = yield from self._learn(job)
                if result is None or not (yield from self._apply(result)):
                    return
            del self._hosts[host]

    def _next_job(self, host: int) -> Steps[TemplateJob | None]:
        access = self._runtime.store_access
        job = yield from self._in_store(lambda: access.store.similarity.next_template_job(host))
        return job if not self._is_stopped else None

    def _learn(self, job: TemplateJob) -> Steps[TemplateResult | None]:
        """Have the pages of a job read; None if the crawl ends meanwhile."""
        assert self._runtime.page_reader is not None, "`add` has checked it"
        result: TemplateResult | None = yield partial(self._runtime.page_reader.learn_template, job)
        if result is not None:
            self._runtime.engine.count("duplicates/studied", len(result.sketches))
            back_queue = self._frontier.hosts.get(result.host)
            if back_queue is not None:
                back_queue.template = result.template
        return result

    def _apply(self, result: TemplateResult) -> Steps[bool]:
        """Store a template and the new sketches, then decide one by one the pages that the sketches leave open.

        False if the crawl ends meanwhile.
        """
        reader, access, now = self._runtime.page_reader, self._runtime.store_access, self._runtime.clock.now
        undecided = yield from self._in_store(lambda: access.store.similarity.store_template(result, now()))
        for page in undecided:
            if self._is_stopped or reader is None:
                return False
            similarities: Similarities | None = yield partial(reader.compare_archived, page)
            if similarities is None:
                return False
            yield from self._in_store(partial(self._decide, page, similarities))
        return not self._is_stopped

    def _decide(self, page: UndecidedPage, similarities: Similarities) -> None:
        self._runtime.store_access.store.similarity.decide(page, similarities, self._runtime.clock.now())

    def _in_store(self, act: Callable[[], T]) -> Steps[T]:
        result: T = yield partial(self._calls.run, act)
        return result

    def _resume(self, steps: Steps[None], result: Any) -> None:
        """Give a job the result of its last step, and start the next one."""
        try:
            step = steps.send(result)
        except StopIteration:
            return
        except Exception as error:
            self._runtime.engine.fail(error)
            return
        step(partial(self._resume, steps))
