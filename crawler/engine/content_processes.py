"""The content processes of a crawl, which its pipelines share; with CONTENT_PROCESSES=0 this one does their work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Self

from crawler.content.answers import ArchivedAnswer
from crawler.content.examine import examine, with_text_if_kept
from crawler.content.messages import ContentConfiguration
from crawler.content.pool import ContentPool
from crawler.content.relevance import FocusModel, RelevanceJudge
from crawler.content.similarity import TemplatedAnswer, compare, learn_template
from crawler.engine.session import Components
from crawler.items import Visited
from crawler.monitor.library_output import count_library_messages
from crawler.worker.session import Session


class ContentProcesses:
    """Reads answers. All but `open` and `close` raise `ContentDied` if a process dies of what it reads."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._options = session.options
        self._pool: ContentPool | None = None
        # The words around links are only worth their time where links are judged.
        self._reading = replace(session.options.reading, context=session.model is not None)
        self._relevance = RelevanceJudge(session.model) if session.model is not None else None

    @classmethod
    def of(cls, components: Components) -> Self:
        return cls(components.session)

    def open(self) -> None:
        session, options = self._session, self._options
        said = session.record.library_messages
        count_library_messages(said)
        if options.content.processes:
            configuration = ContentConfiguration(
                urls=options.urls,
                reading=self._reading,
                rule=options.duplicates,
                cpu_seconds=options.content.cpu_time,
                memory=options.content.max_memory,
                hook=options.content.hook,
            )
            self._pool = ContentPool(options.content.processes, configuration, options.content.timeout, said)
            if session.model is not None:
                self._pool.update_model(session.model)
            self._pool.start()
            session.pages_waiting = self._pool.waiting
            self._pool.add_seeds(session.seeds)
            session.on_seeds.append(self._pool.add_seeds)
        session.on_model.append(self._update_model)

    def close(self) -> None:
        if self._pool is not None:
            self._session.on_seeds.remove(self._pool.add_seeds)
            self._pool.close()
        self._session.on_model.remove(self._update_model)

    def _update_model(self, model: FocusModel) -> None:
        """Judge pages and links by what the crawl has learned."""
        if self._pool is not None:
            self._pool.update_model(model)
        elif self._relevance is not None:
            self._relevance.update(model)

    async def examine(self, visited: Visited) -> Visited:
        """Return the visit with what its answer contains."""
        if self._pool is not None:
            return await self._pool.examine(visited)
        options = self._options
        scope = self._session.scope
        return with_text_if_kept(examine(visited, scope, self._reading, options.duplicates, self._relevance))

    async def compare(self, new: TemplatedAnswer, others: Sequence[TemplatedAnswer]) -> list[float]:
        """Return how similar the text of a page is to those of others."""
        if self._pool is not None:
            return await self._pool.compare(new, others)
        return compare(new, others, self._options.reading, self._options.duplicates)

    async def learn_template(
        self, pages: Sequence[ArchivedAnswer], template: bytes | None
    ) -> tuple[bytes, list[bytes]]:
        """Return the template of a host and the sketches of its pages."""
        if self._pool is not None:
            return await self._pool.learn_template(pages, template)
        return learn_template(pages, template, self._options.reading, self._options.duplicates)
