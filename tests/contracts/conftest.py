"""Fixtures that run every test of the contract on every engine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from crawler.frontier.budgets import Budgets
from crawler.stores.contract.store import Store
from tests.contracts.engines import ENGINES, Opener
from tests.samples import NOW, acquire


@pytest.fixture(params=ENGINES)
def opener(request: pytest.FixtureRequest, tmp_path: Path) -> Opener:
    return ENGINES[request.param](tmp_path)


@pytest.fixture
def open_as_worker(opener: Opener) -> Iterator[Opener]:
    """Opens a store in which the worker "me" holds all partitions, and closes it after the test."""
    stores: list[Store] = []

    def open_it(**options: object) -> Store:
        store = opener(**options)
        acquire(store, "me", 0, NOW, 60, 60)
        stores.append(store)
        return store

    yield open_it
    for store in stores:
        store.close()


@pytest.fixture
def store(open_as_worker: Opener) -> Store:
    return open_as_worker()


@pytest.fixture
def with_budgets(open_as_worker: Opener) -> Opener:
    """Opens a store with these budgets; those that are not given are unlimited."""
    return lambda **limits: open_as_worker(budgets=Budgets(**limits))


@pytest.fixture
def with_probes(open_as_worker: Opener) -> Opener:
    """Opens a store that probes a host after this many pages."""
    return lambda probe_after: open_as_worker(probe_after=probe_after)
