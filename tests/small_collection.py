"""A collection that a test fills answer by answer."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from crawler.archive.records import facts_record
from crawler.archive.segments import SegmentWriter
from crawler.content.examine import examine
from crawler.fetch.answers import meaning_of
from crawler.items import Reason, Visited
from crawler.stores.open import open_store
from crawler.stores.sqlite.similarity_doubts import MAX_COMPARISONS
from crawler.urls.keys import key_of
from crawler.worker.committer import Committer
from tests.defaults import DEFAULTS, urls_with
from tests.samples import NOW, acquire, answer, new_url, visit_result, visit_to, visited


class Collection:
    """A collection that is filled one answer after another, committed as by a crawl."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._store = open_store(f"sqlite:{directory / 'crawl.db'}")
        acquire(self._store, "me", 0, NOW, 60, 60)
        (directory / "warc").mkdir()
        archive = SegmentWriter(
            directory / "warc", prefix="t", slot=0, max_bytes=10**9, now=lambda: NOW, facts=[("software", "test")]
        )
        self._committer = Committer(self._store, archive, lambda: NOW, lambda step: None)

    def add(
        self,
        url: str,
        body: bytes = b"",
        *,
        at: float = NOW,
        status: int = 200,
        relevance: float | None = None,
        is_off_topic: bool = False,
        **headers: str,
    ) -> None:
        """Commit a further visit to a URL with this answer; of one that is off topic, the body is not archived."""
        self._store.urls.add([new_url(url)], NOW)
        row = self._store.urls.find(key_of(url))
        before = row.visited if row is not None else None
        (visit,) = self._store.frontier.lease("me", [visit_to(url, visited=before)], NOW).granted
        head = f"HTTP/1.1 {status} Whatever\r\n" + "".join(
            f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items()
        )
        fetched = answer(url, status=status, started=at, ended=at, head=head.encode("latin-1") + b"\r\n", body=body)
        meaning = meaning_of(fetched)
        result = visited(
            visit, fetched=fetched, page=None, outcome=meaning.outcome, reason=meaning.reason, redirect=meaning.location
        )
        found = examine(result, urls_with().new_scope(), DEFAULTS.reading, DEFAULTS.duplicates)
        found = _with_relevance(found, relevance, is_off_topic=is_off_topic)
        self._committer.commit([visit_result(found, comparisons=MAX_COMPARISONS)])  # no worker compares texts here

    def close(self) -> None:
        self._committer.close()
        self._store.close()


def _with_relevance(visited: Visited, relevance: float | None, *, is_off_topic: bool) -> Visited:
    if visited.page is None or visited.fetched is None:
        return visited
    page = replace(visited.page, relevance=relevance)
    if not is_off_topic:
        return replace(visited, page=page)
    return replace(
        visited, page=page, reason=Reason.OFF_TOPIC, records=[facts_record(visited.visit, visited.fetched, page)]
    )
