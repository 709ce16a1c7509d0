"""A commit takes what has ended, but no more links than the store's log can hold."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from crawler.items import Kind, Page, Visit, Visited
from crawler.stores.contract.store import Store
from crawler.stores.open import open_store
from crawler.worker.commits import PAGES_A_LINK, PAGES_OF_COMMITS
from crawler.worker.committer import LINKS_A_VISIT
from tests.frontier.simulation import Simulation, fetched_page, seeded
from tests.samples import NOW, acquire, link

HOSTS = 60


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(f"sqlite:{tmp_path / 'crawl.db'}", durable=False)
    acquire(opened, Simulation.owner, 0, NOW, 60, 60)
    yield opened
    opened.close()


@pytest.mark.parametrize("links", [3, LINKS_A_VISIT - 300, LINKS_A_VISIT + 300])
def test_a_commit_ends_when_it_has_many_links(links: int, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    commits: list[tuple[int, int]] = []  # pages and their links
    commit = store.commits.commit

    def counted(batch: Any, *args: Any) -> Any:
        pages = [result.visited for result in batch if result.visited.visit.kind is Kind.PAGE]
        commits.append((len(pages), sum(len(page.page.links) for page in pages if page.page is not None)))
        return commit(batch, *args)

    monkeypatch.setattr(store.commits, "commit", counted)

    def respond(visit: Visit, started: float) -> Visited:
        page = fetched_page(visit, started)
        if visit.kind is not Kind.PAGE or "/new" in visit.url:
            return page
        found = [link(f"{visit.url}new{number}") for number in range(links)]
        return replace(page, page=Page(links=found))

    urls = [f"http://h{number}.test/" for number in range(HOSTS)]
    Simulation(seeded(store, *urls), respond, horizon=0.5).run(NOW + 20)
    most = min(links, LINKS_A_VISIT)
    # Pages with which a commit has enough links, as long as a link costs what is assumed; here it costs less.
    full = PAGES_OF_COMMITS / PAGES_A_LINK // most
    assert sum(pages for pages, found in commits if found) >= HOSTS
    first = next(pages for pages, found in commits if found)
    assert first <= full
    assert store.urls.count() > HOSTS * links
