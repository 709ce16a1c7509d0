"""The runtime of a worker under Scrapy: the event loop, the store's thread, name look-ups."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import partial
from typing import Any, Protocol, TypeVar

from crawler.content.answers import ArchivedAnswer
from crawler.content.similarity import TemplatedAnswer
from crawler.duplicates.template import template_fingerprint
from crawler.engine.client import FetchClient
from crawler.items import Visited
from crawler.stores.contract.commits import CommitSummary, VisitResult
from crawler.stores.contract.partitions import Assignment
from crawler.stores.contract.similarity import TemplateJob, TemplateResult, UndecidedPage
from crawler.stores.contract.store import Store
from crawler.worker.committer import CommitAnswer, SimilarArchivedPage
from crawler.worker.session import Session, TextReader

T = TypeVar("T")


class Scheduler(Protocol):
    """Whom the surroundings tell what concerns the engine."""

    def may_release(self) -> bool: ...

    def engine_is_ready(self) -> bool: ...

    def wake(self) -> None: ...

    def lease_renewed(self) -> None: ...

    def acknowledged(self, host: str, visited: Visited) -> None: ...

    def count(self, what: str, times: int) -> None: ...

    def fail(self, error: BaseException) -> None: ...


class ScrapyRuntime:
    """Implements `crawler.worker.worker.Runtime`."""

    def __init__(self, scheduler: Scheduler, session: Session, client: FetchClient) -> None:
        self.owner = session.owner
        self.now = session.now
        self._scheduler = scheduler
        self._session = session
        self._client = client

    @property
    def store(self) -> Store:
        return self._session.store

    def later(self, delay: float, act: Callable[[], object]) -> asyncio.TimerHandle:
        return asyncio.get_running_loop().call_later(delay, act)

    def in_store(self, act: Callable[[], T], then: Callable[[T], None]) -> None:
        self._session.run(act).add_done_callback(partial(self._answered, then))

    def _answered(self, then: Callable[[T], None], future: asyncio.Future[T]) -> None:
        try:
            answer = future.result()
        except Exception as error:
            self.fail(error)
        else:
            then(answer)

    def commit(self, batch: Sequence[VisitResult]) -> CommitAnswer:
        return self._session.committer.commit(batch)

    def compare(
        self, visited: Visited, others: Sequence[SimilarArchivedPage], then: Callable[[Mapping[int, float]], None]
    ) -> None:
        self._answer(self._compare(visited, others), lambda found: then(found or {}))

    async def _compare(self, visited: Visited, others: Sequence[SimilarArchivedPage]) -> Mapping[int, float] | None:
        fetched, content = visited.fetched, await self._content()
        assert fetched is not None, "only what came can be a duplicate"
        answer = ArchivedAnswer(url=fetched.url, head=fetched.head, body=fetched.body)
        return await _shares(content, (answer, visited.visit.template), others)

    def reconsider(self, unsure: UndecidedPage, then: Callable[[Mapping[int, float]], None]) -> None:
        self._answer(self._reconsider(unsure), lambda found: then(found) if found is not None else None)

    async def _reconsider(self, unsure: UndecidedPage) -> Mapping[int, float] | None:
        """Nothing, if the crawl ends meanwhile: it is offered again."""
        committer, content = self._session.committer, await self._content()
        answer, others = await self._session.run(
            lambda: (committer.read(unsure.document), committer.read_similar(unsure.candidates))
        )
        return await _shares(content, (answer, unsure.template), others) if answer is not None else {}

    def study(self, lesson: TemplateJob, then: Callable[[TemplateResult], None]) -> None:
        self._answer(self._study(lesson), lambda learned: then(learned) if learned is not None else None)

    async def _study(self, lesson: TemplateJob) -> TemplateResult | None:
        """Nothing, if the crawl ends meanwhile: the next one goes on."""
        committer, content = self._session.committer, await self._content()
        read = await self._session.run(lambda: [committer.read(document) for _, document in lesson.pages])
        whole = [answer for answer in read if answer is not None]
        found = await content.learn_template(whole, lesson.template)
        if found is None:
            return None
        template, sketches = found
        sketch_of = dict(zip([answer.url for answer in whole], sketches, strict=False))
        return TemplateResult(
            host=lesson.host,
            template=template,
            mark=template_fingerprint(template),
            sketches={number: (document.id, sketch_of.get(document.url, b"")) for number, document in lesson.pages},
        )

    async def _content(self) -> TextReader:
        """Who reads pages; what a crawl has left to do may come up before its pipelines are open."""
        await self._session.content_is_open.wait()
        assert self._session.content is not None, "whoever opens it is there"
        return self._session.content

    def _answer(self, question: Coroutine[Any, Any, T], then: Callable[[T], None]) -> None:
        asyncio.ensure_future(question).add_done_callback(partial(self._answered, then))

    def renew_lease(self) -> Assignment:
        return self._session.renew_lease()

    def lease_renewed(self) -> None:
        self._scheduler.lease_renewed()

    def new_seeds(self) -> list[str]:
        return self._session.new_seeds()

    def extend_scope(self, seeds: Sequence[str]) -> Callable[[], None]:
        self._session.extend_scope(seeds)
        return lambda: self._session.open_scope(seeds)

    def known_address(self, host: str) -> str | None:
        return self._client.known_address(host)

    def look_up(self, host: str, then: Callable[[], None]) -> None:
        look_up = asyncio.ensure_future(self._client.address_of(host))
        look_up.add_done_callback(lambda _: then())

    def may_release(self) -> bool:
        return self._scheduler.may_release() and self._scheduler.engine_is_ready()

    def wake(self) -> None:
        self._scheduler.wake()

    def acknowledged(self, host: str, visited: Visited) -> None:
        self._scheduler.acknowledged(host, visited)

    def committed(self, committed: CommitSummary) -> None:
        record = self._session.record
        record.commits += 1
        record.new_urls += committed.new_urls
        record.duplicates += committed.duplicates
        record.near_duplicates += committed.near_duplicates
        record.bytes_archived += committed.bytes_archived

    def count(self, what: str, times: int = 1) -> None:
        self._scheduler.count(what, times)

    def fail(self, error: BaseException) -> None:
        self._scheduler.fail(error)


async def _shares(
    content: TextReader, new: TemplatedAnswer, others: Sequence[SimilarArchivedPage]
) -> Mapping[int, float] | None:
    """How similar a page is to others, by their numbers; as far as that was found out, and nothing if the crawl ends."""
    shares = await content.compare(new, [(other.answer, other.template) for other in others])
    return {other.id: share for other, share in zip(others, shares, strict=False)} if shares is not None else None
