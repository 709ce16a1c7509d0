"""A commit takes what has ended, but not so many links that others wait long for the store's thread."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from crawler.items import Kind, Page, Visit, Visited
from crawler.stores.contract.store import Store
from crawler.stores.open import open_store
from crawler.worker.commits import URLS_OF_COMMIT
from tests.frontier.simulation import Simulation, fetched_page, seeded
from tests.samples import NOW, acquire, link

HOSTS = 30


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(f"sqlite:{tmp_path / 'crawl.db'}", durable=False)
    acquire(opened, Simulation.owner, 0, NOW, 60, 60)
    yield opened
    opened.close()


@pytest.mark.parametrize(("links", "pages"), [(3, HOSTS), (URLS_OF_COMMIT // 4, 4), (URLS_OF_COMMIT + 1, 1)])
def test_a_commit_ends_when_it_has_very_many_links(
    links: int, pages: int, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    commits: list[int] = []  # pages with links
    commit = store.commits.commit

    def counted(batch: Any, *args: Any) -> Any:
        commits.append(sum(bool(page.links) for result in batch if (page := result.visited.page) is not None))
        return commit(batch, *args)

    monkeypatch.setattr(store.commits, "commit", counted)
    found = [link(f"http://new.test/{number}") for number in range(links)]

    def respond(visit: Visit, started: float) -> Visited:
        page = fetched_page(visit, started)
        return page if visit.kind is not Kind.PAGE or "//new." in visit.url else replace(page, page=Page(links=found))

    urls = [f"http://h{number}.test/" for number in range(HOSTS)]
    Simulation(seeded(store, *urls), respond, horizon=0.5).run(NOW + 20)
    assert sum(commits) >= HOSTS
    assert max(commits) == pages
