"""Exports bring targets up to date, resume after a kill, and refuse targets that were filled by another export."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Sequence
from typing import Any

import apsw
import pytest
from msgspec.structs import replace

from crawler.collection.change_feed import EVIDENCE, FOLD, ChangeFeed, Selection
from crawler.collection.exporter import Exporter, publish_pending_anchors
from crawler.collection.targets import ExportTarget, make_target
from crawler.errors import AlreadyRunning, BadInput, DiskTrouble
from crawler.export.sink import SinkDown, read_checkpoint
from crawler.items import DeletedDocument, ExportedDocument, ExportEntry, Reason, RejectedDocument, identifier
from crawler.options import Options
from crawler.stores.contract.store import Store
from crawler.stores.sqlite.document_writer import DELETED_BY
from crawler.urls.keys import key_of
from tests.collection.pages import EVERYTHING, HTML, WORDS, A, B, C, body
from tests.samples import NOW
from tests.small_collection import Collection


class RecordingSink:
    """A sink that records its entries, and refuses the URLs in `refuses`."""

    acknowledge_every = 100

    def __init__(self) -> None:
        self.entries: list[ExportEntry] = []
        self.acknowledged: list[int] = []  # the number of entries so far, at each acknowledgement
        self.refuses: set[str] = set()
        self.is_down = False

    def put(self, entry: ExportEntry) -> None:
        self.entries.append(entry)

    def acknowledge(self) -> Sequence[RejectedDocument]:
        if self.is_down:
            raise SinkDown("down")
        new = self.entries[self.acknowledged[-1] if self.acknowledged else 0 :]
        self.acknowledged.append(len(self.entries))
        return [
            RejectedDocument(id=identifier(entry.key), url=entry.url, version=entry.version, error="bad")
            for entry in new
            if entry.url in self.refuses
        ]

    def close(self) -> None:
        pass


def exporter(
    store: Store, options: Options, sink: RecordingSink, selection: Selection = EVERYTHING, spec: str = "recording"
) -> Exporter:
    state_path = options.crawl.dir / "exports" / spec
    target = ExportTarget(
        spec=spec,
        state_path=state_path,
        checkpoint_path=state_path.with_name(f"{spec}.json"),
        open=lambda after, full: sink,
    )
    return Exporter(store, options, selection, target)


def run(store: Store, options: Options, sink: RecordingSink | None = None, **given: Any) -> list[ExportEntry]:
    """Run one export, and return its entries."""
    sink = sink or RecordingSink()
    before = len(sink.entries)
    selection = given.pop("selection", Selection())
    exporter(store, options, sink, selection).run(lambda *_: None, **given)
    return sink.entries[before:]


def events_of(entries: Sequence[ExportEntry]) -> list[tuple[str, str]]:
    """URL and event of each entry; of a deletion, its evidence."""
    return [
        (entry.url, entry.evidence.value if isinstance(entry, DeletedDocument) else entry.event.value)
        for entry in entries
    ]


# ── increments ──


def test_each_export_brings_what_came_after_the_one_before(
    collection: Collection, store: Store, options: Options
) -> None:
    collection.add(A, body("one"), **HTML)
    collection.add(B, body("two"), **HTML)
    assert events_of(run(store, options)) == [(A, "upsert"), (B, "upsert")]
    assert run(store, options) == []
    collection.add(A, body("one"), at=NOW + 1, **HTML)
    collection.add(B, body("three"), at=NOW + 2, **HTML)
    collection.add(C, status=404, **HTML)
    assert events_of(run(store, options)) == [(A, "meta"), (B, "upsert")]
    collection.add(B, b"", at=NOW + 3, status=410, **HTML)
    assert events_of(run(store, options)) == [(B, "gone")]


def test_a_full_export_has_all_documents_and_deletions(collection: Collection, store: Store, options: Options) -> None:
    collection.add(A, body("one"), **HTML)
    collection.add(B, body("two"), **HTML)
    collection.add(B, b"", at=NOW + 1, status=410, **HTML)
    run(store, options)
    assert events_of(run(store, options, full=True)) == [(A, "upsert"), (B, "gone")]
    assert events_of(run(store, options, since=1)) == [(B, "gone")]


def test_entries_that_were_not_acknowledged_are_exported_again(
    collection: Collection, store: Store, options: Options
) -> None:
    for number in range(5):
        collection.add(f"http://a.test/{number}", body(f"page {number}"), **HTML)
    sink = RecordingSink()
    sink.is_down = True
    with pytest.raises(SinkDown):
        run(store, options, sink)
    assert read_checkpoint(options.crawl.dir / "exports" / "recording.json") is None
    sink.is_down = False
    assert len(run(store, options, sink, every=2)) == 5
    assert sink.acknowledged == [7, 9, 10]


def test_documents_that_a_sink_refuses_are_listed(collection: Collection, store: Store, options: Options) -> None:
    collection.add(A, body("one"), **HTML)
    collection.add(B, body("two"), **HTML)
    sink = RecordingSink()
    sink.refuses = {B}
    export = exporter(store, options, sink)
    export.run(lambda *_: None)
    rejected = (options.crawl.dir / "exports" / "recording.rejected.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in rejected] == [
        {"id": identifier(key_of(B)), "url": B, "version": 2, "error": "bad"}
    ]
    assert (export.rejected, export.version) == (1, 2)
    assert run(store, options) == []


def test_a_sink_that_refuses_everything_gets_no_checkpoint(
    collection: Collection, store: Store, options: Options
) -> None:
    sink = RecordingSink()
    for number in range(25):
        url = f"http://a.test/{number}"
        collection.add(url, body(f"page {number}"), **HTML)
        sink.refuses.add(url)
    with pytest.raises(SinkDown, match="refuses every document"):
        run(store, options, sink)
    assert len(run(store, options)) == 25


def test_an_unreadable_document_is_listed_and_does_not_stop_the_export(
    collection: Collection, store: Store, options: Options
) -> None:
    collection.add(A, body("one"), **HTML)
    collection.close()
    (segment,) = (options.crawl.dir / "warc").iterdir()
    segment.write_bytes(b"")
    export = exporter(store, options, RecordingSink())
    export.run(lambda *_: None)
    assert (export.rejected, export.feed.counts["unreadable"], export.feed.unreadable) == (1, 1, [])
    assert A in (options.crawl.dir / "exports" / "recording.rejected.jsonl").read_text()


def test_a_missing_archive_file_stops_the_export(collection: Collection, store: Store, options: Options) -> None:
    collection.add(A, body("one"), **HTML)
    away = options.crawl.dir / "away"
    (options.crawl.dir / "warc").rename(away)
    with pytest.raises(DiskTrouble, match="restore the file"):
        run(store, options)
    away.rename(options.crawl.dir / "warc")
    assert events_of(run(store, options)) == [(A, "upsert")]


def test_a_first_export_in_several_reads_has_upserts_only(
    collection: Collection, store: Store, options: Options
) -> None:
    for at in (NOW, NOW + 1):
        for number in range(5):
            collection.add(f"http://a.test/{number}", body(f"page {number}"), at=at, **HTML)
    for part in (store.changes.published(5, 7, None, 0), store.changes.published(7, 10, None, 0)):
        assert all(published.is_new for published in part)
    assert [published.is_new for published in store.changes.published(5)] == [False] * 5
    assert {event for _, event in events_of(run(store, options, every=2))} == {"upsert"}


def test_an_increment_has_documents_as_of_its_last_version(
    collection: Collection, store: Store, options: Options
) -> None:
    collection.add(A, body("one"), **HTML)
    until = store.changes.version()
    collection.add(A, body("two"), at=NOW + 1, **HTML)
    (found,) = ChangeFeed(store, options, EVERYTHING).increments(0, until)
    assert isinstance(found, ExportedDocument)
    assert (found.version, found.title) == (until, "one")


@pytest.mark.parametrize("since", [1, 3])
def test_since_must_continue_a_directory_without_gap_or_overlap(
    since: int, collection: Collection, store: Store, options: Options
) -> None:
    target = make_target("jsonl", str(options.crawl.dir / "out"), options, EVERYTHING)
    for url in (A, B):
        collection.add(url, body(url), **HTML)
    Exporter(store, options, EVERYTHING, target).run(lambda *_: None)
    collection.add(C, body(C), **HTML)
    with pytest.raises(BadInput, match="has everything up to version 2"):
        Exporter(store, options, EVERYTHING, target).run(lambda *_: None, since=since)


def test_a_directory_has_one_format(collection: Collection, store: Store, options: Options) -> None:
    collection.add(A, body("one"), **HTML)
    place = str(options.crawl.dir / "out")
    Exporter(store, options, EVERYTHING, make_target("jsonl", place, options, EVERYTHING)).run(lambda *_: None)
    other = Exporter(store, options, EVERYTHING, make_target("jsoncollection", place, options, EVERYTHING))
    for full in (False, True):
        with pytest.raises(BadInput, match="was filled by --to jsonl"):
            other.run(lambda *_: None, full=full)


@pytest.mark.parametrize("name", ["jsonl", "markdown", "tantivy"])
def test_a_full_export_that_is_killed_leaves_no_checkpoint(
    name: str, collection: Collection, store: Store, options: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = make_target(name, str(options.crawl.dir / "out"), options, EVERYTHING)
    for url in (A, B):
        collection.add(url, body(url), **HTML)
    Exporter(store, options, EVERYTHING, target).run(lambda *_: None)
    killed = Exporter(store, options, EVERYTHING, target)
    monkeypatch.setattr(killed, "_acknowledge", lambda *_: pytest.fail("killed"))
    with pytest.raises(pytest.fail.Exception):
        killed.run(lambda *_: None, full=True)
    again = Exporter(store, options, EVERYTHING, target)
    again.run(lambda *_: None)
    assert again.feed.counts["documents"] == 2


def test_a_full_export_removes_earlier_markdown_documents(
    collection: Collection, store: Store, options: Options
) -> None:
    collection.add(A, body("one"), **HTML)
    target = make_target("markdown", str(options.crawl.dir / "out"), options, EVERYTHING)
    Exporter(store, options, EVERYTHING, target).run(lambda *_: None)
    stranger = options.crawl.dir / "out" / "x.test" / f"{'0' * 32}.md"
    stranger.parent.mkdir()
    for path in (stranger, stranger.with_name("mine.md")):
        path.write_text("here before")
    Exporter(store, options, EVERYTHING, target).run(lambda *_: None, full=True)
    names = sorted(path.name for path in (options.crawl.dir / "out").glob("*/*.md"))
    assert names == sorted([f"{identifier(key_of(A))}.md", "mine.md"])


def test_a_full_export_to_an_engine_with_another_crawls_documents_is_refused(store: Store, options: Options) -> None:
    target = make_target("opensearch", "http://127.0.0.1:9/pages", options, EVERYTHING)
    target.checkpoint_path.parent.mkdir(parents=True)
    noted = {"crawl": "another", "to": target.spec, "selection": "{}", "version": 9}
    target.checkpoint_path.write_text(json.dumps(noted))
    with pytest.raises(BadInput, match="would keep them"):
        Exporter(store, options, EVERYTHING, target).run(lambda *_: None, full=True)


def test_duplicates_of_an_original_that_is_not_selected_are_exported(
    collection: Collection, store: Store, options: Options
) -> None:
    collection.add(A, body("one"), **HTML)
    collection.add(B, body("one"), **HTML)
    selection = Selection(hosts=["b.test"], duplicates=FOLD)
    assert events_of(run(store, options, selection=selection)) == [(A, "not_selected"), (B, "upsert")]


def test_pending_anchors_of_a_killed_crawl_are_published_once(
    collection: Collection, store: Store, options: Options
) -> None:
    collection.add(A, body("one"), **HTML)
    collection.add(B, b'<p>see <a href="http://a.test/">that page</a>', **HTML)
    before = store.changes.version()
    publish_pending_anchors(options)
    assert [(published.url, published.is_new) for published in store.changes.published(before)] == [(A, False)]
    publish_pending_anchors(options)
    assert store.changes.version() == before + 1


def test_a_new_noarchive_is_an_upsert(collection: Collection, store: Store, options: Options) -> None:
    collection.add(A, body("one"), **HTML)
    run(store, options)
    collection.add(A, body("one"), at=NOW + 1, X_Robots_Tag="noarchive", **HTML)
    (found,) = run(store, options)
    assert isinstance(found, ExportedDocument)
    assert (found.event, found.noarchive) == ("upsert", True)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"crawl": "another"}, "another crawl"),
        ({"mark": "1:2:3"}, "set back"),
        ({"selection": "{}"}, "other options"),
    ],
)
def test_a_target_filled_by_another_export_is_left_alone(
    change: dict[str, Any], complaint: str, collection: Collection, store: Store, options: Options
) -> None:
    collection.add(A, body("one"), **HTML)
    run(store, options)
    path = options.crawl.dir / "exports" / "recording.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(BadInput, match=complaint):
        run(store, options)
    assert len(run(store, options, full=True)) == 1


def test_only_one_export_at_a_time_goes_to_a_place(collection: Collection, store: Store, options: Options) -> None:
    lock = options.crawl.dir / "exports" / "recording.lock"
    lock.parent.mkdir()
    with lock.open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(AlreadyRunning):
            run(store, options)
    assert run(store, options) == []


# ── selection ──


def test_folded_duplicates_are_deletions(collection: Collection, store: Store, options: Options) -> None:
    collection.add(A, body("one"), **HTML)
    collection.add(B, body("one"), **HTML)
    kept = run(store, options)
    assert [(entry.url, entry.duplicate_of) for entry in kept if isinstance(entry, ExportedDocument)] == [
        (A, None),
        (B, A),
    ]
    folded = run(store, options, full=True, selection=Selection(duplicates=FOLD))
    assert events_of(folded) == [(A, "upsert"), (B, "duplicate")]
    assert isinstance(folded[1], DeletedDocument)
    assert folded[1].target == A


def test_when_an_original_is_deleted_its_copy_is_exported(
    collection: Collection, store: Store, options: Options
) -> None:
    fold = Selection(duplicates=FOLD)
    collection.add(A, body("one"), **HTML)
    collection.add(B, body("one"), **HTML)
    run(store, options, selection=fold)
    collection.add(A, b"", at=NOW + 1, status=410, **HTML)
    assert events_of(run(store, options, selection=fold)) == [(A, "gone"), (B, "upsert")]


def test_a_document_that_is_no_longer_selected_is_a_deletion(
    collection: Collection, store: Store, options: Options
) -> None:
    german = "Es war ein klarer kalter Tag im April und die Uhren schlugen gerade dreizehn als der Mann nach Hause kam "
    english = Selection(languages=["en"])
    collection.add(A, body("one"), **HTML)
    collection.add(B, f"<html lang=de><p>{german * 3}".encode(), **HTML)
    assert events_of(run(store, options, selection=english)) == [(A, "upsert"), (B, "not_selected")]
    collection.add(A, f"<html lang=de><p>{german * 2}".encode(), at=NOW + 1, **HTML)
    assert events_of(run(store, options, selection=english)) == [(A, "not_selected")]


def test_a_document_is_exported_with_its_relevance(collection: Collection, store: Store, options: Options) -> None:
    collection.add(A, body("one"), relevance=0.123_456, **HTML)
    collection.add(B, body("two"), **HTML)
    found = list(ChangeFeed(store, options, Selection()).snapshot(None))
    assert [isinstance(entry, ExportedDocument) and entry.relevance for entry in found] == [0.1235, None]


def test_documents_below_a_relevance_are_not_selected(collection: Collection, store: Store, options: Options) -> None:
    relevant = Selection(min_relevance=0.5)
    for url, relevance in ((A, 0.499_96), (B, 0.499_94), (C, None)):  # of which the first is exported as 0.5
        collection.add(url, body(url), relevance=relevance, **HTML)
    assert events_of(run(store, options, selection=relevant)) == [
        (A, "upsert"), (B, "not_selected"), (C, "not_selected")
    ]  # fmt: skip
    collection.add(A, body(A), at=NOW + 1, relevance=0.2, **HTML)
    assert events_of(run(store, options, selection=relevant)) == [(A, "not_selected")]


def test_a_least_relevance_of_0_selects_what_a_crawl_with_a_topic_has_fetched(
    collection: Collection, store: Store, options: Options
) -> None:
    collection.add(A, body("one"), relevance=0.0, **HTML)
    collection.add(B, body("two"), **HTML)
    assert events_of(run(store, options, selection=Selection(min_relevance=0.0))) == [
        (A, "upsert"),
        (B, "not_selected"),
    ]


def test_a_least_relevance_is_part_of_the_checkpoint_only_if_it_is_given(
    collection: Collection, store: Store, options: Options
) -> None:
    assert Selection().to_json() == '{"duplicates": "keep"}'
    for least in (0.0, 0.5):
        assert json.loads(Selection(min_relevance=least).to_json()) == {"duplicates": "keep", "min_relevance": least}
    collection.add(A, body("one"), relevance=0.0, **HTML)
    run(store, options)
    with pytest.raises(BadInput, match="other options"):
        run(store, options, selection=Selection(min_relevance=0.0))


@pytest.mark.parametrize(
    ("relevance", "expected"), [(0.4, [(A, "not_selected"), (B, "upsert")]), (0.6, [(A, "upsert"), (B, "duplicate")])]
)
def test_duplicates_of_an_original_that_is_not_relevant_are_exported(
    relevance: float, expected: list[tuple[str, str]], collection: Collection, store: Store, options: Options
) -> None:
    collection.add(A, body("one"), relevance=relevance, **HTML)
    collection.add(B, body("one"), relevance=0.7, **HTML)
    assert events_of(run(store, options, selection=Selection(min_relevance=0.5, duplicates=FOLD))) == expected


def test_a_page_that_goes_off_topic_is_deleted(collection: Collection, store: Store, options: Options) -> None:
    collection.add(A, body("one"), relevance=0.7, **HTML)
    run(store, options)
    collection.add(A, body("two"), at=NOW + 1, relevance=0.1, is_off_topic=True, **HTML)
    collection.add(B, body("three"), relevance=0.1, is_off_topic=True, **HTML)
    assert events_of(run(store, options)) == [(A, "off_topic")]


def test_hosts_are_selected_by_patterns(collection: Collection, store: Store, options: Options) -> None:
    for url in (A, B, "http://www.a.test/"):
        collection.add(url, body(url), **HTML)
    found = ChangeFeed(store, options, Selection(hosts=["a.test", "*.a.test"])).snapshot(None)
    assert [entry.url for entry in found] == [A, "http://www.a.test/"]


def test_links_and_blocks_are_exported_on_request(collection: Collection, store: Store, options: Options) -> None:
    page = body("one") + b'<a href="/b" rel=nofollow>there</a><a href="http://b.test/">and here</a>'
    collection.add(A, page, **HTML)
    (plain,) = ChangeFeed(store, options, Selection()).snapshot(None)
    (full,) = ChangeFeed(store, options, Selection(links=True, blocks=True)).snapshot(None)
    assert isinstance(plain, ExportedDocument)
    assert isinstance(full, ExportedDocument)
    assert (plain.links, plain.blocks, plain.text) == (None, None, full.text)
    assert [(link.url, link.anchor, link.rel) for link in full.links or ()] == [
        ("http://a.test/b", "there", "nofollow"), (B, "and here", "")
    ]  # fmt: skip
    assert [block.text for block in full.blocks or () if block.importance >= 0.5] == full.text.split("\n")


def test_the_quick_reading_of_a_page_gives_the_same_text(
    collection: Collection, store: Store, options: Options
) -> None:
    rows = "".join(f"<tr><td>{name}<td>{WORDS}" for name in ("first", "second"))
    page = (
        f"<nav><a href=/x>x</a></nav><article><h1>t</h1><p>{WORDS}<table>{rows}</table></article><footer>© we</footer>"
    )
    collection.add(A, page.encode(), **HTML)
    (quick,) = ChangeFeed(store, options, Selection()).snapshot(None)
    (slow,) = ChangeFeed(store, options, Selection(links=True)).snapshot(None)
    assert store.documents.versions(key_of(A))[0].weights
    assert isinstance(quick, ExportedDocument)
    assert isinstance(slow, ExportedDocument)
    assert quick == replace(slow, links=None)


def test_a_page_with_outdated_weights_is_read_without_them(
    collection: Collection, store: Store, options: Options
) -> None:
    """Stored block weights are not used if they do not give the text whose digest is stored."""
    collection.add(A, body("one"), **HTML)
    outside = apsw.Connection(str(options.crawl.dir / "crawl.db"))
    outside.execute("UPDATE documents SET weights = zeroblob(length(weights))")
    assert outside.changes() == 1
    outside.close()
    (found,) = ChangeFeed(store, options, Selection()).snapshot(None)
    assert isinstance(found, ExportedDocument)
    assert found.text.startswith("one It was a bright")


def test_every_reason_for_a_deletion_has_its_evidence() -> None:
    assert {*DELETED_BY, Reason.NOT_FOUND, Reason.SOFT_404, Reason.LOGIN_WALL, Reason.REDIRECTED} <= EVIDENCE.keys()
