"""A crawl directory of an older version opens, is exported as before, and is crawled to the same end."""

from __future__ import annotations

from pathlib import Path

import pytest

from crawler.stores.open import open_store
from crawler.worker.startup import last_politeness
from tests.crawl.runner import scrapy
from tests.defaults import DEFAULTS, politeness_with
from tests.proofs.sites.web import served
from tests.proofs.upgrade.fixture import KILLED, STOPPED, crawl, export, leased, states, timeless, unpack
from tests.proofs.upgrade.web import PORT, hosts

pytestmark = pytest.mark.crawl


@pytest.mark.parametrize("name", [STOPPED, KILLED])
def test_a_crawl_of_an_older_version_is_exported_as_by_that_version(name: str, tmp_path: Path) -> None:
    before = unpack(tmp_path)
    open_store(f"sqlite:{tmp_path / name / 'crawl.db'}").close()  # migrates it
    assert export(tmp_path / name) == before[name]


def test_reports_judge_an_older_crawl_by_the_politeness_that_it_had(tmp_path: Path) -> None:
    unpack(tmp_path)
    store = open_store(f"sqlite:{tmp_path / STOPPED / 'crawl.db'}")
    assert last_politeness(store, DEFAULTS.politeness) == politeness_with(
        min_delay=0.01, latency_factor=0.0, own_hosts=["*.test"], address_gap=0.0, groups=[]
    )
    store.close()


def test_a_crawl_of_an_older_version_is_completed_with_the_same_result(tmp_path: Path) -> None:
    before = unpack(tmp_path)
    with served(hosts(), tmp_path, PORT) as web:
        for name in (STOPPED, KILLED):
            assert bool(leased(tmp_path / name)) is (name == KILLED)
            warnings = crawl(web, tmp_path / name, EXTRACTOR="weighed")  # the method of that version
            assert ("did not end well" in warnings) is (name == KILLED)
            assert "spelled" not in warnings
            assert timeless(export(tmp_path / name)) == before["finished"]
            ended = {url: list(state) for url, state in states(tmp_path / name).items()}
            assert ended == before["states"]


def test_a_better_extractor_is_no_change_of_the_pages_of_an_older_crawl(tmp_path: Path) -> None:
    unpack(tmp_path)
    directory = tmp_path / STOPPED
    store = open_store(f"sqlite:{directory / 'crawl.db'}")
    before = {row.url: row.version for row in store.changes.published() if row.document is not None}
    store.close()
    assert scrapy("seed", "--now", "--all", CRAWL_DIR=directory).returncode == 0
    with served(hosts(), tmp_path, PORT) as web:
        crawl(web, directory)
    store = open_store(f"sqlite:{directory / 'crawl.db'}")
    again = [row for row in store.changes.published(max(before.values())) if row.url in before]
    store.close()
    assert len(again) == len(before)
    assert [row.url for row in again if row.is_new] == []
    documents = [row.document for row in again if row.document is not None]
    assert {document.extractor for document in documents if document.format == "html"} == {"", "trees 1"}
