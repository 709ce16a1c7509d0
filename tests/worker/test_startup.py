"""A worker applies the politeness groups at its start, and refuses other groups than those of a running crawl."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from crawler.errors import Misconfigured
from crawler.stores.contract.store import Store
from crawler.stores.open import open_store
from crawler.worker.startup import apply_groups
from tests.defaults import politeness_with
from tests.samples import NOW, acquire

GROUPS = politeness_with(groups=["*.a.test"])
NO_GROUPS = politeness_with(groups=[])


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(f"sqlite:{tmp_path / 'crawl.db'}", group_of=GROUPS.group_of)
    yield opened
    opened.close()


def test_a_worker_without_groups_may_join_a_crawl_that_has_never_had_any(store: Store) -> None:
    acquire(store, "other", 0, NOW, 60, 60)
    apply_groups(store, NO_GROUPS)
    assert "groups_digest" not in store.crawl.facts()


def test_a_worker_with_other_groups_than_the_running_crawl_is_refused(store: Store) -> None:
    apply_groups(store, GROUPS)
    acquire(store, "other", 0, NOW, 60, 60)
    apply_groups(store, GROUPS)
    with pytest.raises(Misconfigured, match="POLITENESS_GROUPS"):
        apply_groups(store, NO_GROUPS)
