"""Targets of exports: what `--to FORMAT:PLACE` makes of directories, indexes and engines."""

from __future__ import annotations

import msgspec
import pytest

from crawler.collection.change_feed import FOLD, Selection
from crawler.collection.exporter import Exporter
from crawler.collection.targets import ExportTarget, default_duplicates, make_target
from crawler.errors import BadInput
from crawler.options import Options
from crawler.search.index import SCHEMA_VERSION
from crawler.search.query import Searcher
from crawler.stores.contract.store import Store
from tests.collection.pages import EVERYTHING, HTML, A, B, body
from tests.small_collection import Collection

INDEXED = Selection(duplicates=FOLD, blocks=True)


def test_engines_fold_duplicates_and_files_keep_them_by_default() -> None:
    assert [default_duplicates(name) for name in ("opensearch", "tantivy", "jsonl", "markdown")] == [
        "fold", "fold", "keep", "keep"
    ]  # fmt: skip


def test_a_full_export_to_a_directory_removes_its_files(collection: Collection, store: Store, options: Options) -> None:
    target = make_target("jsonl", str(options.crawl.dir / "out"), options, Selection())
    collection.add(A, body("one"), **HTML)
    Exporter(store, options, Selection(), target).run(lambda *_: None)
    collection.add(B, body("two"), **HTML)
    Exporter(store, options, Selection(), target).run(lambda *_: None)
    names = sorted(path.name for path in (options.crawl.dir / "out").glob("0*"))
    assert names == ["000000000000-000000000001.jsonl", "000000000001-000000000002.jsonl"]
    Exporter(store, options, Selection(), target).run(lambda *_: None, full=True)
    assert [path.name for path in (options.crawl.dir / "out").glob("0*")] == ["000000000000-000000000002.jsonl"]


def test_a_finished_file_is_not_written_again_after_a_kill_before_the_checkpoint(
    collection: Collection, store: Store, options: Options
) -> None:
    target = make_target("jsonl", str(options.crawl.dir / "out"), options, Selection())
    collection.add(A, body("one"), **HTML)
    Exporter(store, options, Selection(), target).run(lambda *_: None)
    before = target.checkpoint_path.read_bytes()
    collection.add(B, body("two"), **HTML)
    Exporter(store, options, Selection(), target).run(lambda *_: None)
    target.checkpoint_path.write_bytes(before)  # as after a kill
    again = Exporter(store, options, Selection(), target)
    again.run(lambda *_: None)
    assert again.feed.counts["documents"] == 0


def test_an_index_that_was_removed_is_built_again(collection: Collection, store: Store, options: Options) -> None:
    target = make_target("tantivy", "", options, INDEXED)
    collection.add(A, body("one"), **HTML)
    Exporter(store, options, INDEXED, target).run(lambda *_: None)
    for path in (options.crawl.dir / "search").rglob("*"):
        if path.is_file() and path.name != "checkpoint.json":
            path.unlink()
    again = Exporter(store, options, INDEXED, target)
    again.run(lambda *_: None)
    assert again.feed.counts["documents"] == 1


def make_older(target: ExportTarget) -> None:
    """Say of an index that an older version has built it."""
    schema = target.checkpoint_path.with_name("schema.json")
    schema.write_bytes(msgspec.json.encode({"index": "orbweaver", "schema": SCHEMA_VERSION - 1}))


def test_an_index_of_an_older_version_is_built_anew(collection: Collection, store: Store, options: Options) -> None:
    target = make_target("tantivy", "", options, INDEXED)
    collection.add(A, body("one"), **HTML)
    collection.add(B, body("two"), **HTML)
    Exporter(store, options, INDEXED, target).run(lambda *_: None)
    sentences: list[str] = []
    for expected in (2, 0):  # documents: the second time the index is up to date
        if expected:
            make_older(target)
        again = Exporter(store, options, INDEXED, target)
        again.run(lambda *_: None, notify=sentences.append)
        assert again.feed.counts["documents"] == expected
    (sentence,) = sentences
    assert sentence.startswith(f"{target.spec}: an older version has filled it")
    assert Searcher(options.crawl.dir / "search").count == 2


def test_an_index_of_an_older_version_is_left_alone_if_it_is_another_crawls_or_only_some_changes_are_wanted(
    collection: Collection, store: Store, options: Options
) -> None:
    target = make_target("tantivy", "", options, INDEXED)
    collection.add(A, body("one"), **HTML)
    Exporter(store, options, INDEXED, target).run(lambda *_: None)
    make_older(target)
    collection.add(B, body("two"), **HTML)
    with pytest.raises(BadInput, match="an older version has built the index there"):
        Exporter(store, options, INDEXED, target).run(lambda *_: None, since=1, notify=pytest.fail)
    path = target.checkpoint_path
    before = path.read_bytes()
    path.write_bytes(msgspec.json.encode(msgspec.json.decode(before) | {"crawl": "another"}))
    with pytest.raises(BadInput, match="another crawl"):
        Exporter(store, options, INDEXED, target).run(lambda *_: None, notify=pytest.fail)
    path.write_bytes(before)
    make_older(target)
    Exporter(store, options, INDEXED, target).run(lambda *_: None)
    assert Searcher(options.crawl.dir / "search").count == 2


@pytest.mark.parametrize(
    "place",
    [
        "http://me:secret@127.0.0.1:9200/pages",
        "me:secret@127.0.0.1:9200/pages",
        "http:/me:secret@127.0.0.1/pages",
        "http://127.0.0.1:9200/pages?token=secret",
    ],
)
def test_no_password_is_stored_or_shown(place: str, options: Options) -> None:
    target = make_target("opensearch", place, options, EVERYTHING)
    assert "secret" not in f"{target.spec}{target.state_path}{target.checkpoint_path}"
    if not place.startswith("http://me"):
        with pytest.raises(BadInput) as refused:
            target.open(0, False)  # noqa: FBT003
        assert "secret" not in str(refused.value)
