"""Increments in a directory are complete files, follow each other, and list deletions."""

from __future__ import annotations

import json
import resource
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from crawler.errors import AlreadyRunning, DiskTrouble
from crawler.export.directory import DirectorySink, last_version
from crawler.export.formats import FORMATS, FileFormat
from crawler.items import DeletedDocument, ExportEntry, Key, identifier
from tests.export.test_documents import exported

JSONL, TRECTEXT = FORMATS["jsonl"], FORMATS["trectext"]


def names(directory: Path) -> list[str]:
    return sorted(found.name for found in directory.iterdir() if found.name != ".lock")


@contextmanager
def sink_for(directory: Path, form: FileFormat = JSONL, after: int = 0) -> Iterator[DirectorySink]:
    sink = DirectorySink(directory, form, after)
    try:
        yield sink
    finally:
        sink.close()


def deletion(version: int, key: int) -> DeletedDocument:
    return DeletedDocument(version=version, key=Key(key, 0), url=f"http://a.test/{key}")


def test_each_acknowledgement_writes_a_file_that_continues_the_last(tmp_path: Path) -> None:
    with sink_for(tmp_path / "made", after=7) as sink:
        sink.put(exported(version=9))
        sink.put(deletion(12, 5))
        assert names(tmp_path / "made") == [".000000000007.jsonl.part"]
        assert sink.acknowledge() == ()
        sink.put(exported(version=30))
        sink.acknowledge()
    assert names(tmp_path / "made") == ["000000000007-000000000012.jsonl", "000000000012-000000000030.jsonl"]
    first, second = ((tmp_path / "made" / name).read_text().splitlines() for name in names(tmp_path / "made"))
    assert [json.loads(line)["version"] for line in first] == [9, 12]
    assert [json.loads(line)["version"] for line in second] == [30]


def test_without_entries_there_is_no_file(tmp_path: Path) -> None:
    with sink_for(tmp_path) as sink:
        sink.acknowledge()
        sink.put(exported(version=1))
        sink.acknowledge()
        sink.acknowledge()
    assert names(tmp_path) == ["000000000000-000000000001.jsonl"]


def test_what_was_not_acknowledged_leaves_nothing(tmp_path: Path) -> None:
    with sink_for(tmp_path) as sink:
        sink.put(exported())
    assert names(tmp_path) == []


def test_deletions_have_a_list_where_the_format_has_none(tmp_path: Path) -> None:
    with sink_for(tmp_path, TRECTEXT) as sink:
        sink.put(exported(version=1, key=Key(1, 0)))
        sink.put(deletion(2, 5))
        sink.put(deletion(3, 1))
        sink.acknowledge()
        sink.put(exported(version=4))
        sink.acknowledge()
        sink.put(deletion(5, 6))
        sink.acknowledge()
    assert names(tmp_path) == [
        "000000000000-000000000003.deleted",
        "000000000000-000000000003.trectext",
        "000000000003-000000000004.trectext",
        "000000000004-000000000005.deleted",
        "000000000004-000000000005.trectext",
    ]
    ids = (tmp_path / "000000000000-000000000003.deleted").read_text()
    assert ids == f"{identifier(Key(5, 0))}\n{identifier(Key(1, 0))}\n"
    assert (tmp_path / "000000000004-000000000005.trectext").read_bytes() == b""


def test_unfinished_files_are_removed_and_foreign_ones_stay(tmp_path: Path) -> None:
    left = [".000000000000.jsonl.part", ".000000000003.deleted.part"]
    others = [".mine.part", "000000000000-000000000003.deleted", "000000000000.jsonl.part", "notes.txt"]
    for name in left + others:
        (tmp_path / name).write_bytes(b"x")
    with sink_for(tmp_path):
        assert names(tmp_path) == others


def test_a_second_export_into_the_directory_is_refused(tmp_path: Path) -> None:
    with sink_for(tmp_path) as sink:
        sink.put(exported())
        with pytest.raises(AlreadyRunning, match="another export is writing there"):
            DirectorySink(tmp_path, TRECTEXT, 0)
        sink.acknowledge()
    with sink_for(tmp_path, after=3) as sink:
        sink.put(exported(version=4))
        sink.acknowledge()
    assert names(tmp_path) == ["000000000000-000000000003.jsonl", "000000000003-000000000004.jsonl"]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ([], None),
        (["000000000000-000000000012.jsonl", "000000000012-000000000102.jsonl"], 102),
        (
            ["000000000000-000000000012.deleted", ".000000000012.jsonl.part", "x-000000000012.jsonl", "12-13.jsonl"],
            None,
        ),
        (["000000000000-1000000000000.jsonl"], 10**12),
    ],
)
def test_the_last_version_is_that_of_the_last_whole_file(
    tmp_path: Path, found: list[str], expected: int | None
) -> None:
    for name in found:
        (tmp_path / name).touch()
    assert last_version(tmp_path, "jsonl") == expected


def test_a_directory_that_is_not_there_has_no_version(tmp_path: Path) -> None:
    assert last_version(tmp_path / "none", "jsonl") is None


def test_a_place_that_is_no_directory_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DiskTrouble, match=r"file: cannot be written .* Nothing was exported"):
        DirectorySink(tmp_path / "file", JSONL, 0)


def put_all(sink: DirectorySink, entries: Iterable[ExportEntry]) -> None:
    for entry in entries:
        sink.put(entry)
    sink.acknowledge()


@contextmanager
def small_disk(largest: int) -> Iterator[None]:
    """Limit the size of files."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("form", [JSONL, FORMATS["parquet"], TRECTEXT], ids=lambda form: form.suffix)
def test_a_sink_that_failed_refuses_to_continue(tmp_path: Path, form: FileFormat) -> None:
    noise = "".join(map(chr, range(0x4E00, 0x9000)))
    with sink_for(tmp_path, form) as sink:
        sink.put(exported(version=1))
        sink.acknowledge()
        with small_disk(20_000), pytest.raises(DiskTrouble, match="what came after version 1 is not in them"):
            put_all(sink, (exported(version=version, text=noise) for version in range(2, 9)))
        with pytest.raises(DiskTrouble):
            sink.put(exported(version=9))
        with pytest.raises(DiskTrouble):
            sink.acknowledge()
    assert names(tmp_path) == [f"000000000000-000000000001.{form.suffix}"]
