"""The examples in the docstrings of exports and of the search are true."""

from __future__ import annotations

import doctest
from types import ModuleType

import pytest

from crawler.export import batches, characters, documents, http, markdown, opensearch, solr, vespa
from crawler.search import index, query


@pytest.mark.parametrize(
    "module",
    [batches, characters, documents, http, markdown, opensearch, solr, vespa, index, query],
    ids=lambda module: module.__name__,
)
def test_the_examples_are_true(module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(http.AUTHORIZATION, raising=False)
    results = doctest.testmod(module)
    assert results.attempted > 0
    assert results.failed == 0
