"""Targets of exports: what `--to FORMAT:PLACE` makes of directories, indexes and engines."""

from __future__ import annotations

import pytest

from crawler.collection.change_feed import FOLD, Selection
from crawler.collection.exporter import Exporter
from crawler.collection.targets import default_duplicates, make_target
from crawler.errors import BadInput
from crawler.options import Options
from crawler.stores.contract.store import Store
from tests.collection.pages import EVERYTHING, HTML, A, B, body
from tests.small_collection import Collection


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
    fold = Selection(duplicates=FOLD, blocks=True)
    target = make_target("tantivy", "", options, fold)
    collection.add(A, body("one"), **HTML)
    Exporter(store, options, fold, target).run(lambda *_: None)
    for path in (options.crawl.dir / "search").rglob("*"):
        if path.is_file() and path.name != "checkpoint.json":
            path.unlink()
    again = Exporter(store, options, fold, target)
    again.run(lambda *_: None)
    assert again.feed.counts["documents"] == 1


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
