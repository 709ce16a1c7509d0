"""Consumers of the change feed, each with its own way to read back its documents: id → fields."""

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
_NOT_COMPARED = {"event"}  # depends on what the consumer had before


class Consumer(Protocol):
    """An export target whose content can be read back."""

    to: str  # as for --to
    folds: bool  # duplicates are folded
    every: int  # documents between two acknowledgements: few, so that kills come between them, too

    def read_documents(self) -> Documents: ...

    def expected(self, snapshot: Documents) -> Documents:
        """Return the documents of a snapshot, with the fields that can be read back from this target."""


class JsonDirectory:
    folds = False
    every = 20

    def __init__(self, directory: Path) -> None:
        self.to = f"jsonl:{directory}/"
        self._directory = directory

    def read_documents(self) -> Documents:
        return apply_rows(
            json.loads(line)
            for path in sorted(self._directory.glob("*.jsonl"))
            for line in path.read_text(encoding="utf-8").splitlines()
        )

    def expected(self, snapshot: Documents) -> Documents:
        return snapshot


class ParquetDirectory:
    folds = False
    every = 20

    def __init__(self, directory: Path) -> None:
        self.to = f"parquet:{directory}/"
        self._directory = directory

    def read_documents(self) -> Documents:
        tables = (pyarrow.parquet.read_table(path) for path in sorted(self._directory.glob("*.parquet")))
        found = apply_rows(row for table in tables for row in table.to_pylist())
        return {
            name: {field: row[field] for field in ("url", "text", "title", "version")} for name, row in found.items()
        }

    def expected(self, snapshot: Documents) -> Documents:
        return {
            name: {field: row[field] for field in ("url", "text", "title", "version")} for name, row in snapshot.items()
        }


class Tantivy:
    folds = True
    every = 20

    def __init__(self, directory: Path) -> None:
        self.to = f"tantivy:{directory}"
        self._directory = directory

    def read_documents(self) -> Documents:
        index = open_index(self._directory)
        index.reload()
        searcher = index.searcher()
        hits = searcher.search(tantivy.Query.all_query(), max(searcher.num_docs, 1)).hits
        found = [searcher.doc(address).to_dict() for _, address in hits]
        documents = {row["id"][0]: {name: row[name][0] for name in ("url", "title", "version")} for row in found}
        assert len(documents) == len(found), "a document is there twice"
        return documents

    def expected(self, snapshot: Documents) -> Documents:
        return {name: {field: row[field] for field in ("url", "title", "version")} for name, row in snapshot.items()}


class Bulk:
    """A server that receives documents over HTTP, with a configurable rate of failures."""

    folds = True
    every = 100  # each failed item costs a wait

    def __init__(self, port: int) -> None:
        self.to = f"opensearch:http://127.0.0.1:{port}/pages"
        self._all = f"http://127.0.0.1:{port}/_all"

    def read_documents(self) -> Documents:
        with urllib.request.urlopen(self._all, timeout=30) as answer:
            found = json.load(answer)
        return {name: _compared_fields(source) for name, (_, source) in found.items()}

    def expected(self, snapshot: Documents) -> Documents:
        return snapshot


def apply_rows(rows: Iterator[Mapping[str, Any]]) -> Documents:
    """Apply rows in order: a later version replaces an earlier one."""
    documents: dict[str, Mapping[str, Any]] = {}
    for row in rows:
        earlier = documents.get(row["id"])
        if earlier is not None and earlier["version"] > row["version"]:
            continue
        if row.get("deleted"):
            documents.pop(row["id"], None)
        else:
            documents[row["id"]] = _compared_fields(row)
    return documents


def snapshot(path: Path) -> Documents:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    documents = {row["id"]: _compared_fields(row) for row in rows}
    assert len(documents) == len(rows), "a document is there twice"
    return documents


def _compared_fields(row: Mapping[str, Any]) -> Mapping[str, Any]:
    return {name: value for name, value in row.items() if name not in _NOT_COMPARED}


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
