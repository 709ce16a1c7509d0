"""Pages in a feed of JSON lines are what Scrapy's own exporter would write, and other items are left to it."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime
from typing import Any

import pytest
from scrapy.exporters import JsonLinesItemExporter

from crawler.engine.item_exporters import JsonLinesExporter
from crawler.export.documents import fields_of, json_line
from crawler.export.fields import PAGE_FIELDS, TOPIC_FIELDS
from tests.export.entries import document


def written(exporter: type[JsonLinesItemExporter], item: Any, **options: Any) -> bytes:
    file = io.BytesIO()
    exporter(file, **{"encoding": "utf-8"} | options).export_item(item)
    return file.getvalue()


PAGE = fields_of(document("http://a.example/", title="Één \u2028 page", text="<p>\x00\x7f潮だまり " * 50))


def test_a_page_is_written_as_it_is_exported_and_says_what_scrapys_exporter_says() -> None:
    assert PAGE.keys() == PAGE_FIELDS
    line = written(JsonLinesExporter, PAGE)
    assert line == json_line(document("http://a.example/", title="Één \u2028 page", text="<p>\x00\x7f潮だまり " * 50))
    assert json.loads(line) == json.loads(written(JsonLinesItemExporter, PAGE))
    assert len(line.decode().splitlines()) == 1


def test_a_page_of_a_crawl_with_a_topic_is_written_as_it_is_exported() -> None:
    page = document("http://a.example/", title="Één", relevance=0.5)
    item = fields_of(page)
    assert item.keys() == PAGE_FIELDS | TOPIC_FIELDS
    assert written(JsonLinesExporter, item) == json_line(page) != written(JsonLinesItemExporter, item)


@pytest.mark.parametrize(
    ("item", "options"),
    [
        ({"url": "http://a.example/", "price": 1}, {}),
        (PAGE | {"seen": datetime(2026, 1, 2, 3, 4, tzinfo=UTC)}, {}),
        (PAGE | {"fetched_at": datetime(2026, 1, 2, 3, 4, tzinfo=UTC)}, {}),
        (PAGE, {"fields_to_export": ["url", "title"]}),
        (PAGE, {"indent": 2}),
        (PAGE, {"encoding": "utf-16"}),
        (PAGE, {"encoding": None}),
    ],
    ids=["item", "more fields", "another type", "fields", "indent", "encoding", "ascii"],
)
def test_everything_else_is_written_by_scrapy(item: Any, options: dict[str, Any]) -> None:
    assert written(JsonLinesExporter, item, **options) == written(JsonLinesItemExporter, item, **options)
