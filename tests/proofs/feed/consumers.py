"""What those who take the feed have in the end, each read in its own way: id → what is known of the document."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import pyarrow.parquet
import tantivy

from crawler.search.index import open_index
from tests.crawl.runner import ROOT

Documents = Mapping[str, Mapping[str, Any]]
_SAID_ONCE = {"event"}  # how a document came, which depends on what one had before


class Consumer(Protocol):
    """Somebody who is fed."""

    to: str  # as for --to
    folds: bool  # it wants one of each duplicate
    every: int  # documents between two acknowledgements: few, so that kills come between them, too

    def has(self) -> Documents: ...

    def alike(self, snapshot: Documents) -> Documents:
        """What it should have, as far as it can tell."""


class JsonDirectory:
    folds = False
    every = 20

    def __init__(self, directory: Path) -> None:
        self.to = f"jsonl:{directory}/"
        self._directory = directory

    def has(self) -> Documents:
        return applied(
            json.loads(line)
            for path in sorted(self._directory.glob("*.jsonl"))
            for line in path.read_text(encoding="utf-8").splitlines()
        )

    def alike(self, snapshot: Documents) -> Documents:
        return snapshot


class ParquetDirectory:
    folds = False
    every = 20

    def __init__(self, directory: Path) -> None:
        self.to = f"parquet:{directory}/"
        self._directory = directory

    def has(self) -> Documents:
        tables = (pyarrow.parquet.read_table(path) for path in sorted(self._directory.glob("*.parquet")))
        found = applied(row for table in tables for row in table.to_pylist())
        return {
            name: {field: row[field] for field in ("url", "text", "title", "version")} for name, row in found.items()
        }

    def alike(self, snapshot: Documents) -> Documents:
        return {
            name: {field: row[field] for field in ("url", "text", "title", "version")} for name, row in snapshot.items()
        }


class Tantivy:
    folds = True
    every = 20

    def __init__(self, directory: Path) -> None:
        self.to = f"tantivy:{directory}"
        self._directory = directory

    def has(self) -> Documents:
        index = open_index(self._directory)
        index.reload()
        searcher = index.searcher()
        hits = searcher.search(tantivy.Query.all_query(), max(searcher.num_docs, 1)).hits
        found = [searcher.doc(address).to_dict() for _, address in hits]
        documents = {row["id"][0]: {name: row[name][0] for name in ("url", "title", "version")} for row in found}
        assert len(documents) == len(found), "a document is there twice"
        return documents

    def alike(self, snapshot: Documents) -> Documents:
        return {name: {field: row[field] for field in ("url", "title", "version")} for name, row in snapshot.items()}


class Bulk:
    """A server that takes documents over HTTP, and fails as often as it is told to."""

    folds = True
    every = 100  # of which each that fails is waited for

    def __init__(self, port: int) -> None:
        self.to = f"opensearch:http://127.0.0.1:{port}/pages"
        self._all = f"http://127.0.0.1:{port}/_all"

    def has(self) -> Documents:
        with urllib.request.urlopen(self._all, timeout=30) as answer:
            found = json.load(answer)
        return {name: _lasting(source) for name, (_, source) in found.items()}

    def alike(self, snapshot: Documents) -> Documents:
        return snapshot


def applied(rows: Iterator[Mapping[str, Any]]) -> Documents:
    """Read in their order, the later holds."""
    documents: dict[str, Mapping[str, Any]] = {}
    for row in rows:
        known = documents.get(row["id"])
        if known is not None and known["version"] > row["version"]:
            continue
        if row.get("deleted"):
            documents.pop(row["id"], None)
        else:
            documents[row["id"]] = _lasting(row)
    return documents


def snapshot(path: Path) -> Documents:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    documents = {row["id"]: _lasting(row) for row in rows}
    assert len(documents) == len(rows), "a document is there twice"
    return documents


def _lasting(row: Mapping[str, Any]) -> Mapping[str, Any]:
    return {name: value for name, value in row.items() if name not in _SAID_ONCE}


@contextmanager
def bulk_server(*, failing: float, seed: int) -> Iterator[Bulk]:
    words = [sys.executable, "-m", "tests.export.engines", "opensearch", "--port", "0", "--seed", str(seed)]
    with subprocess.Popen(
        [*words, "--items", str(failing), "--lost", "0.1"], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            yield Bulk(int(process.stdout.readline()))
        finally:
            process.kill()
