"""Exported Parquet files are tables that pyarrow reads."""

from __future__ import annotations

import gc
import io
import os
import subprocess
import sys
import threading
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given

from crawler.export.documents import fields_of
from crawler.export.fields import FIELDS
from crawler.export.parquet import ParquetFormat
from crawler.items import DeletedDocument, DeletionEvidence, ExportEntry, Key, OutLink, TextBlock, identifier
from tests.export.test_documents import any_text, exported
from tests.export.test_formats import with_valid_characters, written

DELETION = DeletedDocument(
    version=9, key=Key(1, 2), url="http://a.test/x", evidence=DeletionEvidence.GONE, target="http://a.test/y"
)


def table(*entries: ExportEntry, **options: Any) -> pa.Table:
    return pq.read_table(io.BytesIO(written("parquet", *entries, **options)))


def test_a_row_has_the_fields_of_a_json_line() -> None:
    everything = exported(
        blocks=[TextBlock("one", "h1", 0, 0.91234)],
        links=[OutLink(Key(5, 6), "http://c.test/", "see", "nofollow")],
        relevance=0.25,
    )
    (row,) = table(everything).to_pylist()
    fetched = datetime(1970, 1, 12, 13, 46, 40, 250_000, UTC)
    assert row == fields_of(everything) | {"fetched_at": fetched, "deleted": False, "evidence": None, "target": None}


def test_the_relevance_of_a_crawl_without_a_topic_is_null() -> None:
    found = table(exported(), exported(relevance=0.0)).column("relevance")
    assert (found.type, found.to_pylist()) == (pa.float64(), [None, 0.0])


def test_a_deletion_is_a_row_with_deleted_true() -> None:
    (row,) = table(DELETION).to_pylist()
    assert {name: fact for name, fact in row.items() if fact is not None} == fields_of(DELETION)


def test_all_files_have_one_schema() -> None:
    empty = table()
    assert empty.num_rows == 0
    assert tuple(empty.schema.names) == FIELDS
    assert empty.schema == table(exported()).schema == table(DELETION).schema
    assert empty.schema.field("fetched_at").type == pa.timestamp("us", tz="UTC")
    assert empty.schema.field("version").type == pa.int64()
    assert not empty.schema.field("deleted").nullable


def test_only_the_columns_that_are_wanted_are_there() -> None:
    found = table(exported(), DELETION, fields=["title", "host"])
    assert found.schema.names == ["id", "url", "host", "title", "deleted", "evidence", "version"]
    assert found.column("title").to_pylist() == ["Tüte", None]


@given(any_text, any_text)
def test_any_text_comes_back(title: str, text: str) -> None:
    entry = exported(
        title=title,
        text=text,
        blocks=[TextBlock(text, title, 0, 0.0)],
        anchors=[(title, text)],
        links=[OutLink(Key(1, 1), title, text, text)],
    )
    (row,) = table(entry).to_pylist()
    assert (row["title"], row["text"]) == (with_valid_characters(title), with_valid_characters(text))
    assert row["blocks"] == [
        {"text": with_valid_characters(text), "tag": with_valid_characters(title), "importance": 0.0}
    ]
    assert row["anchors"] == [{"host": with_valid_characters(title), "text": with_valid_characters(text)}]
    assert (row["links"][0]["url"], row["links"][0]["anchor"]) == (
        with_valid_characters(title),
        with_valid_characters(text),
    )


def test_row_groups_are_small_by_rows_and_by_text() -> None:
    many = pq.ParquetFile(io.BytesIO(written("parquet", *(exported(version=n) for n in range(5_000)))))
    assert [many.metadata.row_group(n).num_rows for n in range(many.num_row_groups)] == [4_096, 904]
    long = exported(text="long " * 5_000_000)
    large = pq.ParquetFile(io.BytesIO(written("parquet", *[long] * 5)))
    assert [large.metadata.row_group(n).num_rows for n in range(large.num_row_groups)] == [3, 2]
    assert {large.metadata.row_group(0).column(n).compression for n in range(large.metadata.num_columns)} == {"ZSTD"}


def test_an_unfinished_file_does_not_look_complete() -> None:
    stream = io.BytesIO()
    writer = ParquetFormat().open(stream)
    for version in range(5_000):
        writer.write(exported(version=version))
    del writer
    gc.collect()
    size = len(stream.getvalue())
    assert size > 1_000
    with pytest.raises(pa.ArrowInvalid):
        pq.read_table(io.BytesIO(stream.getvalue()))


def test_a_pipe_can_be_written() -> None:
    source, target = os.pipe()
    read: list[bytes] = []

    def read_all() -> None:
        with os.fdopen(source, "rb") as pipe:
            read.append(pipe.read())

    reader = threading.Thread(target=read_all)
    reader.start()
    with os.fdopen(target, "wb") as pipe:
        writer = ParquetFormat().open(pipe)
        writer.write(exported())
        writer.finish()
    reader.join()
    assert pq.read_table(io.BytesIO(read[0])).column("id").to_pylist() == [identifier(Key(-2, 255))]


def test_pyarrow_is_required_only_for_parquet() -> None:
    program = (
        "import sys\n"
        "from crawler.export.formats import FORMATS\n"
        "assert 'pyarrow' not in sys.modules\n"
        "sys.modules['pyarrow'] = None\n"  # as if it were not installed
        "FORMATS['jsonl'].open(sys.stdout.buffer)\n"
        "try:\n"
        "    FORMATS['parquet'].open(sys.stdout.buffer)\n"
        "except Exception as error:\n"
        "    print(type(error).__name__, error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("Misconfigured The format parquet needs pyarrow")
    assert "pip install 'orbweaver[parquet]'" in done.stdout
