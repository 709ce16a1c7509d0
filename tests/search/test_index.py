"""The index has the last version of each document that was put, even if the writer is killed."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from random import Random

import pytest
import tantivy

from crawler.errors import AlreadyRunning, BadInput, DiskTrouble
from crawler.export.sink import Checkpoint, Sink, write_checkpoint
from crawler.items import TextBlock
from crawler.search import index as index_module
from crawler.search.index import CHECKPOINT, DOCUMENTS, TantivyIndex, has_older_index, open_index
from tests.crawl.runner import ROOT
from tests.export.entries import deletion, document, feed, left_of
from tests.export.indexing import EVERY

A, B, C = "http://a.test/", "http://a.test/b", "http://c.test/"


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "search"


@pytest.fixture
def index(directory: Path) -> Iterator[TantivyIndex]:
    opened = TantivyIndex(directory)
    yield opened
    opened.close()


def documents_in(directory: Path) -> list[dict[str, object]]:
    """The stored fields of all documents that a new reader finds, one value per field."""
    searcher = open_index(directory).searcher()
    hits = searcher.search(tantivy.Query.all_query(), max(searcher.num_docs, 1)).hits
    return [{name: values[0] for name, values in searcher.doc(address).to_dict().items()} for _, address in hits]


def versions_in(directory: Path) -> dict[object, object]:
    found = documents_in(directory)
    versions = {each["id"]: each["version"] for each in found}
    assert len(versions) == len(found)
    return versions


def having(directory: Path, field: str, word: str) -> int:
    return open_index(directory).searcher().doc_freq(field, word)


def test_it_is_a_sink(index: TantivyIndex) -> None:
    sink: Sink = index
    assert sink.acknowledge_every == 10_000
    assert list(sink.acknowledge()) == []


def test_what_is_put_is_there_when_it_is_acknowledged(index: TantivyIndex, directory: Path) -> None:
    index.put(document(A, 1, title="A title", text="Some text", metadata={"published": "2019-10"}))
    index.put(document(C, 2, duplicate_of=A))
    assert documents_in(directory) == []
    index.acknowledge()
    first, second = sorted(documents_in(directory), key=lambda each: str(each["version"]))
    assert first | {"id": "", "fetched_at": ""} == {
        "id": "",
        "url": A,
        "host": "a.test",
        "title": "A title",
        "text": "Some text",
        "language": "en",
        "format": "html",
        "published_at": "2019-10",
        "fetched_at": "",
        "version": 1,
    }
    assert second["duplicate_of"] == A


def test_a_document_is_replaced_and_deleted_by_its_id(index: TantivyIndex, directory: Path) -> None:
    index.put(document(A, 1, text="before"))
    index.put(document(B, 2, text="before"))
    index.put(document(A, 3, text="after"))  # before the first is committed
    index.acknowledge()
    index.put(document(B, 4, text="after"))  # after the first is committed
    index.acknowledge()
    assert sorted(str(each["text"]) for each in documents_in(directory)) == ["after", "after"]
    index.put(deletion(A, 5))
    index.put(deletion(C, 6))  # which was never indexed
    index.acknowledge()
    assert [each["url"] for each in documents_in(directory)] == [B]


@pytest.mark.parametrize("is_written", [False, True])
def test_an_older_version_does_not_replace_a_newer_one(is_written: bool, index: TantivyIndex, directory: Path) -> None:
    index.put(document(A, 7, text="newer"))
    if is_written:
        index.acknowledge()
    index.put(document(A, 6, text="older"))
    index.put(deletion(A, 5))
    index.acknowledge()
    assert [each["text"] for each in documents_in(directory)] == ["newer"]


def test_putting_the_same_again_changes_nothing(directory: Path) -> None:
    for _ in range(3):
        index = TantivyIndex(directory)
        for entry in feed(200, 30):
            index.put(entry)
        index.acknowledge()
        index.close()
        assert versions_in(directory) == left_of(feed(200, 30))


def test_blocks_beside_the_main_text_are_indexed_but_not_stored(index: TantivyIndex, directory: Path) -> None:
    blocks = [TextBlock("Menu home", "li", 0, 0.1), TextBlock("The story", "p", 9, 0.9)]
    index.put(document(A, text="The story", blocks=blocks, anchors=[("b.test", "Famous tale")]))
    index.acknowledge()
    assert [having(directory, "rest", word) for word in ("menu", "story")] == [1, 0]
    assert [having(directory, "text", word) for word in ("menu", "story")] == [0, 1]
    assert [having(directory, "anchors", word) for word in ("famous", "story")] == [1, 0]


def test_words_are_without_case_and_accents(index: TantivyIndex, directory: Path) -> None:
    index.put(document(A, text="Étoile STRASSE straße Бородинский हिन्दी"))
    index.acknowledge()
    assert [having(directory, "text", word) for word in ("etoile", "strasse", "бородинский")] == [1, 1, 1]


def test_any_text_can_be_indexed(index: TantivyIndex, directory: Path) -> None:
    hostile = ["\ud800 half", "\x00\x1b[31m", "x" * 100_000, "🐝" * 50, "潮だまり" * 9_000, "\u202e back", "", " \n "]
    for number, text in enumerate(hostile, start=1):
        url = f"http://a.test/{number}"
        blocks = [TextBlock(text, "p", 0, 0.0)]
        index.put(document(url, number, title=text, text=text, blocks=blocks, anchors=[("b.test", text)]))
    index.acknowledge()
    assert len(documents_in(directory)) == len(hostile)


def test_long_documents_are_committed_before_an_acknowledgement(
    index: TantivyIndex, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_module, "_MAX_UNCOMMITTED", 10_000)
    for number in range(1, 21):
        index.put(document(f"http://a.test/{number}", number, text="word " * 400))
    assert len(documents_in(directory)) == 20


def test_two_processes_cannot_write_one_index(index: TantivyIndex, directory: Path) -> None:
    index.put(document(A))
    index.acknowledge()
    for full in (False, True):
        with pytest.raises(AlreadyRunning, match="another process"):
            TantivyIndex(directory, full=full)
    assert len(documents_in(directory)) == 1


def test_a_closed_index_can_be_written_by_others(directory: Path) -> None:
    first = TantivyIndex(directory)
    assert first.is_new
    first.close()
    first.close()
    second = TantivyIndex(directory)
    assert not second.is_new
    second.close()


def test_what_was_not_acknowledged_is_not_there(directory: Path) -> None:
    index = TantivyIndex(directory)
    index.put(document(A))
    index.close()
    assert documents_in(directory) == []


def test_a_cleared_index_is_empty_and_has_no_checkpoint(index: TantivyIndex, directory: Path) -> None:
    index.put(document(A, 5))
    index.acknowledge()
    write_checkpoint(directory / CHECKPOINT, Checkpoint(crawl="", to="", selection="", version=5))
    index.clear()
    assert index.is_new
    assert documents_in(directory) == []
    assert not (directory / CHECKPOINT).exists()
    index.put(document(A, 1))
    index.acknowledge()
    assert len(documents_in(directory)) == 1


def test_a_directory_with_something_else_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("ten years of work")
    for full in (False, True):
        with pytest.raises(BadInput, match=r"thesis\.txt.*name another directory"):
            TantivyIndex(tmp_path, full=full)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_file_is_no_directory(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInput, match="name a directory"):
        TantivyIndex(tmp_path / "file")


@pytest.mark.parametrize("stored", ['{"index":"orbweaver","schema":99}', '{"index":"other","schema":1}', "{", "[]", ""])
def test_an_index_of_another_format_is_rebuilt_only_on_request(stored: str, directory: Path) -> None:
    TantivyIndex(directory).close()
    (directory / "schema.json").write_text(stored)
    with pytest.raises(BadInput, match="--full builds it anew"):
        TantivyIndex(directory)
    index = TantivyIndex(directory, full=True)
    assert index.is_new
    index.close()
    assert json.loads((directory / "schema.json").read_text())["schema"] == index_module.SCHEMA_VERSION


def test_an_index_of_an_older_version_is_told_from_others(directory: Path) -> None:
    assert not has_older_index(directory)
    TantivyIndex(directory).close()
    for schema, is_older in ((1, True), (index_module.SCHEMA_VERSION, False), (99, False)):
        (directory / "schema.json").write_text(f'{{"index":"orbweaver","schema":{schema}}}')
        assert has_older_index(directory) is is_older
    (directory / "schema.json").write_text('{"index":"orbweaver","schema":1}')
    for refused in (TantivyIndex, open_index):
        with pytest.raises(BadInput, match=r"older version .*Nothing was changed.*without --no-update"):
            refused(directory)
    (directory / "schema.json").write_text("{")
    with pytest.raises(BadInput, match="--full builds it anew"):
        has_older_index(directory)


def test_a_damaged_index_is_rebuilt_only_on_request(directory: Path) -> None:
    TantivyIndex(directory).close()
    (directory / DOCUMENTS / "meta.json").unlink()
    with pytest.raises(BadInput, match="--full builds it anew"):
        TantivyIndex(directory)
    TantivyIndex(directory, full=True).close()
    assert documents_in(directory) == []


def test_a_rebuild_that_was_killed_starts_over(directory: Path) -> None:
    index = TantivyIndex(directory)
    index.put(document(A))
    index.acknowledge()
    index.close()
    (directory / "schema.json").unlink()  # as the kill left it
    index = TantivyIndex(directory)
    assert index.is_new
    index.close()
    assert documents_in(directory) == []


def test_a_directory_that_cannot_be_written_is_one_clear_error(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    parent = Path("/proc/self") if os.geteuid() == 0 else tmp_path  # root may write almost everywhere
    with pytest.raises(DiskTrouble, match="cannot be written"):
        TantivyIndex(parent / "search")


def test_a_full_disk_is_one_error_and_the_index_stays_as_it_was(directory: Path) -> None:
    """The size of files is limited in the first run, and not in the second."""
    words = [sys.executable, "-m", "tests.export.indexing", str(directory), "2000", "300"]
    limit = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (4_000, 4_000))
    failed = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False, preexec_fn=limit)
    assert failed.returncode == 1
    assert "DiskTrouble" in failed.stderr.splitlines()[-1]
    last = int((failed.stdout.split() or ["0"])[-1])
    assert versions_in(directory) == left_of(feed(last, 300))
    assert subprocess.run(words, cwd=ROOT, capture_output=True, check=False).returncode == 0
    assert versions_in(directory) == left_of(feed(2_000, 300))


def test_kill_loses_nothing_that_was_acknowledged(directory: Path) -> None:
    """Kill the writer at random moments, until a run ends by itself."""
    versions, urls, chance, code = 2_000, 300, Random(9), None
    words = [sys.executable, "-m", "tests.export.indexing", str(directory), str(versions), str(urls)]
    while code != 0:
        with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            stored = list(islice(process.stdout, chance.randrange(1, 25)))
            process.kill()
            stored += process.stdout.readlines()
        code = process.returncode
        last = int(stored[-1])
        possible = [left_of(feed(version, urls)) for version in (last, min(last + EVERY, versions))]
        assert versions_in(directory) in possible
    assert last == versions
    assert versions_in(directory) == left_of(feed(versions, urls))
