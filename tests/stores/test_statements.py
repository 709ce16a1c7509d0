"""Statements of the SQLite engine take codes from enums, and use the partial indexes that were made for them."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

import pytest
from apsw.ext import query_info

from crawler.stores import sqlite
from crawler.stores.sqlite import document_writer, frontier, ledger, listed_urls, originals, partitions, survey_focus
from crawler.stores.sqlite.connection import open_for_writing

FOLDER = Path(*sqlite.__path__)
# Migrations are frozen, with the numbers of their time.
MODULES = sorted(path for path in FOLDER.glob("*.py") if path.stem != "migrations")
CODE = re.compile(r"\b(state|kind|(last_)?reason|tier)\)?(, \d+\))? ?(=|<>|<=?|>=?|(NOT )?IN|BETWEEN|WHEN) ?\(?\d")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_codes_in_statements_come_from_enums(path: Path) -> None:
    assert [line for line in path.read_text(encoding="utf-8").splitlines() if CODE.search(line)] == []


@pytest.mark.parametrize(
    ("module", "name", "indexes"),
    [
        (frontier, "_DUE_URLS", {"urls_waiting"}),
        (frontier, "_FIRST_DUE_OF_LEVEL", {"urls_waiting"}),
        (frontier, "_COUNT_LEASED", {"urls_leased"}),
        (partitions, "_LEASED_IN", {"urls_leased"}),
        (partitions, "_LEASED_PARTITIONS", {"urls_leased"}),
        (ledger, "_OVER_BUDGET", {"urls_over_budget"}),
        (listed_urls, "_COUNT_SITEMAPS", {"urls_sitemaps"}),
        (document_writer, "_BODY_HOLDER", {"documents_by_body"}),
        (document_writer, "_HAS_EXACT_COPY", {"documents_by_body", "documents_by_text"}),
        (originals, "_SAME_DIGEST", {"documents_by_body", "documents_by_text"}),
        (survey_focus, "_JUDGED", {"documents_relevance", "COVERING"}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_statements_about_a_part_of_a_table_use_its_partial_index(
    tmp_path: Path, module: ModuleType, name: str, indexes: set[str]
) -> None:
    connection = open_for_writing(tmp_path / "crawl.db")
    plan = query_info(connection, getattr(module, name), explain_query_plan=True).query_plan
    connection.close()
    assert indexes <= set(re.findall(r"\w+", str(plan)))
