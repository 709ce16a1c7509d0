"""Read archived pages again, in the content processes: to compare their texts, and to learn the templates of sites."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import Any, Protocol, TypeVar

from crawler.content.answers import ArchivedAnswer
from crawler.content.similarity import TemplatedAnswer
from crawler.duplicates.template import template_fingerprint
from crawler.items import Visited
from crawler.stores.contract.similarity import TemplateJob, TemplateResult, UndecidedPage
from crawler.worker.committer import SimilarArchivedPage
from crawler.worker.runtime import Similarities
from crawler.worker.session import Session

T = TypeVar("T")


class TextReader(Protocol):
    """Reads the texts of pages in a content process."""

    async def compare(self, new: TemplatedAnswer, others: Sequence[TemplatedAnswer]) -> list[float] | None: ...

    async def learn_template(
        self, pages: Sequence[ArchivedAnswer], template: bytes | None
    ) -> tuple[bytes, list[bytes]] | None: ...


class ArchivedPageReader:
    """Implements `crawler.worker.runtime.PageReader`."""

    def __init__(self, session: Session, fail: Callable[[BaseException], None]) -> None:
        self._session = session
        self._fail = fail
        self._texts: TextReader | None = None
        self._is_open = asyncio.Event()

    def open(self, texts: TextReader) -> None:
        """Begin: the content processes take pages."""
        self._texts = texts
        self._is_open.set()

    def compare(
        self, visited: Visited, others: Sequence[SimilarArchivedPage], then: Callable[[Similarities], None]
    ) -> None:
        self._run(self._compare(visited, others), lambda similarities: then(similarities or {}))

    def compare_archived(self, page: UndecidedPage, then: Callable[[Similarities | None], None]) -> None:
        self._run(self._compare_archived(page), then)

    def learn_template(self, job: TemplateJob, then: Callable[[TemplateResult | None], None]) -> None:
        self._run(self._learn_template(job), then)

    async def _compare(self, visited: Visited, others: Sequence[SimilarArchivedPage]) -> Similarities | None:
        fetched, texts = visited.fetched, await self._opened()
        assert fetched is not None, "only a fetched page can be a duplicate"
        answer = ArchivedAnswer(url=fetched.url, head=fetched.head, body=fetched.body)
        return await _similarities(texts, (answer, visited.visit.template), others)

    async def _compare_archived(self, page: UndecidedPage) -> Similarities | None:
        committer, texts = self._session.committer, await self._opened()
        answer, others = await self._session.run(
            lambda: (committer.read(page.document), committer.read_similar(page.candidates))
        )
        return await _similarities(texts, (answer, page.template), others) if answer is not None else {}

    async def _learn_template(self, job: TemplateJob) -> TemplateResult | None:
        committer, texts = self._session.committer, await self._opened()
        read = await self._session.run(lambda: [committer.read(document) for _, document in job.pages])
        pages = [answer for answer in read if answer is not None]
        learned = await texts.learn_template(pages, job.template)
        if learned is None:
            return None
        template, sketches = learned
        sketch_of = dict(zip([page.url for page in pages], sketches, strict=False))
        return TemplateResult(
            host=job.host,
            template=template,
            mark=template_fingerprint(template),
            sketches={number: (document.id, sketch_of.get(document.url, b"")) for number, document in job.pages},
        )

    async def _opened(self) -> TextReader:
        """Return the reader of texts. The jobs that an earlier run left may begin before the pipelines are open."""
        await self._is_open.wait()
        assert self._texts is not None, "`open` sets it"
        return self._texts

    def _run(self, work: Coroutine[Any, Any, T], then: Callable[[T], None]) -> None:
        asyncio.ensure_future(work).add_done_callback(partial(pass_result, then, self._fail))


def pass_result(then: Callable[[T], None], fail: Callable[[BaseException], None], future: asyncio.Future[T]) -> None:
    """Pass the result of a finished future on, or the exception with which it ended."""
    try:
        result = future.result()
    except Exception as error:
        fail(error)
    else:
        then(result)


async def _similarities(
    texts: TextReader, new: TemplatedAnswer, others: Sequence[SimilarArchivedPage]
) -> Similarities | None:
    """Compare a page with others, as far as they can be compared; None if the crawl ends meanwhile."""
    shares = await texts.compare(new, [(other.answer, other.template) for other in others])
    return {other.id: share for other, share in zip(others, shares, strict=False)} if shares is not None else None
