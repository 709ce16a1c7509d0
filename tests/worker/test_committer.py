"""A visit is acknowledged whole or not at all, whatever happens between archive and store."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import pytest
from msgspec.structs import replace
from warcio.archiveiterator import ArchiveIterator

from crawler.archive.reading import read_block
from crawler.archive.segments import OPEN, SegmentWriter
from crawler.content.examine import examine
from crawler.errors import DiskTrouble
from crawler.items import Fetched, Link, Outcome, Reason, State, Visit
from crawler.stores.contract.commits import VisitResult
from crawler.stores.contract.store import Store
from crawler.stores.open import open_store
from crawler.urls.keys import key_of
from crawler.worker.committer import LINKS_A_VISIT, STEPS, Committer
from tests.defaults import DEFAULTS, urls_with
from tests.samples import NOW, acquire, answer, link, new_url, settled, visited

A, B, C = "http://a.test/", "http://b.test/", "http://c.test/"
Step = Callable[[str], None]


class Stop(Exception):
    """Planted by a test."""


class Bench:
    """A store and an archive in a directory, and what an outsider sees of them."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.store: Store = open_store(f"sqlite:{directory / 'crawl.db'}")
        acquire(self.store, "me", 0, NOW, 60, 60)
        self.outside = apsw.Connection(str(directory / "crawl.db"))
        self.archives: list[SegmentWriter] = []

    def committer(self, *, step: Step = lambda name: None, max_bytes: int = 10**9) -> Committer:
        archive = SegmentWriter(
            self.directory, prefix="t", slot=0, max_bytes=max_bytes, now=lambda: NOW, facts=[], step=step
        )
        self.archives.append(archive)
        return Committer(self.store, archive, lambda: NOW, step)

    def lease(self, *urls: str) -> list[Visit]:
        self.store.urls.add([new_url(url) for url in urls], NOW)
        loads = self.store.frontier.activate("me", NOW, 100, 100, ())
        visits = self.store.frontier.lease("me", [visit for load in loads for visit in load.visits], NOW).granted
        return sorted(visits, key=lambda visit: visit.url)

    def documents(self) -> list[str]:
        """URLs of all documents that the store knows."""
        return [
            url
            for (url,) in self.outside.execute(
                "SELECT u.url FROM documents d JOIN urls u ON u.host = d.host AND u.rest = d.rest ORDER BY d.id"
            )
        ]

    def archived(self) -> list[str]:
        """URLs of all responses in the files, every digest checked."""
        urls = []
        for path in sorted(self.directory.glob("*.warc.gz*")):
            with path.open("rb") as stream:
                for record in ArchiveIterator(stream, check_digests="raise"):
                    record.raw_stream.read()
                    if record.rec_type == "response":
                        urls.append(record.rec_headers.get_header("WARC-Target-URI"))
        return urls

    def fail_on_documents(self) -> None:
        """From now on the store's engine refuses to take a document, as it would on an error of its own."""
        self.outside.execute(
            "CREATE TRIGGER planted BEFORE INSERT ON documents BEGIN SELECT RAISE(ABORT, 'planted'); END"
        )

    def work_again(self) -> None:
        self.outside.execute("DROP TRIGGER planted")


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(tmp_path)
    yield bench
    for archive in bench.archives:
        archive.finish()
    bench.outside.close()
    bench.store.close()


def came(visit: Visit, body: bytes = b"") -> Fetched:
    """An answer that no other URL has, unless told."""
    return answer(visit.url, body=body or f"<p>{visit.url}".encode())


def result(visit: Visit, *links: Link, body: bytes = b"") -> VisitResult:
    fetched = visited(visit, fetched=came(visit, body), page=None)
    examined = examine(fetched, urls_with().new_scope(), DEFAULTS.reading, DEFAULTS.duplicates)
    assert examined.page is not None
    return settled(replace(examined, page=replace(examined.page, links=links)))


# ── the good case ──


def test_records_lie_where_the_store_says(bench: Bench) -> None:
    committer = bench.committer()
    visits = bench.lease(A, B)
    committed, late, _ = committer.commit([result(visits[0], link(C)), result(visits[1])])
    assert (committed.new_urls, committed.hosts_with_new, late) == (1, {key_of(C).host}, set())
    assert bench.documents() == bench.archived() == [A, B]
    for visit in visits:
        (document,) = bench.store.documents.versions(visit.key)
        place = document.position
        block = read_block(bench.directory, place.segment, place.offset, place.length)
        assert block == came(visit).head + came(visit).body
    committer.close()
    (segment,) = bench.store.archive.segments()
    assert (segment.closed, segment.records) == (True, 7)
    assert (bench.directory / segment.name).stat().st_size == segment.length
    assert bench.documents() == bench.archived() == [A, B]


def test_the_archive_is_durable_before_the_store_knows_of_it(bench: Bench) -> None:
    documents: dict[str, int] = {}
    durable: list[str] = []

    def look(step: str) -> None:
        documents[step] = len(bench.documents())
        if sum(path.stat().st_size for path in bench.directory.glob("*.warc.gz*")) >= committer.archive.length > 0:
            durable.append(step)

    committer = bench.committer(step=look, max_bytes=1)
    committer.commit([result(visit) for visit in bench.lease(A)])
    assert tuple(documents) == STEPS
    assert [step for step, number in documents.items() if number] == list(STEPS[STEPS.index("after commit") :])
    assert {"after fsync", "before commit", "after commit"} <= set(durable)


def test_a_batch_without_answers_needs_no_file(bench: Bench) -> None:
    steps: list[str] = []
    committer = bench.committer(step=steps.append)
    (visit,) = bench.lease(A)
    failed = visited(visit, outcome=Outcome.FAILED, reason=Reason.TIMEOUT, fetched=None, page=None)
    committer.commit([settled(failed)])
    committer.close()
    row = bench.store.urls.find(visit.key)
    assert row is not None
    assert (row.state, row.reason) == (State.WAITING, Reason.TIMEOUT)
    assert steps == ["before commit", "after commit"]
    assert bench.store.archive.segments() == []
    assert list(bench.directory.glob("*.warc.gz*")) == []


def test_a_full_file_is_ended_and_the_next_batch_begins_another(bench: Bench) -> None:
    committer = bench.committer(max_bytes=1)
    for url in (A, B):
        committer.commit([result(visit) for visit in bench.lease(url)])
    names = ["t-000-00001.warc.gz", "t-000-00002.warc.gz"]
    assert [(segment.name, segment.closed) for segment in bench.store.archive.segments()] == [
        (name, True) for name in names
    ]
    assert sorted(path.name for path in bench.directory.glob("*.warc.gz*")) == names
    assert bench.documents() == bench.archived() == [A, B]


def test_a_file_that_is_not_full_goes_on(bench: Bench) -> None:
    committer = bench.committer()
    for url in (A, B):
        committer.commit([result(visit) for visit in bench.lease(url)])
    (segment,) = bench.store.archive.segments()
    assert (segment.closed, segment.records) == (False, 7)
    committer.close()
    assert bench.archived() == [A, B]


# ── visits that another worker has taken over ──


@pytest.mark.parametrize("taken", [A, B, C])
def test_a_visit_that_was_taken_over_is_discarded_with_its_bytes(bench: Bench, taken: str) -> None:
    committer = bench.committer()
    visits = bench.lease(A, B, C)
    bench.store.frontier.unlease([visit for visit in visits if visit.url == taken], NOW)
    _, late, _ = committer.commit([result(visit) for visit in visits])
    assert set(late) == {key_of(taken)}
    kept = [url for url in (A, B, C) if url != taken]
    assert bench.documents() == bench.archived() == kept
    row = bench.store.urls.find(key_of(taken))
    assert row is not None
    assert (row.state, row.visited) == (State.WAITING, None)
    committer.close()
    assert bench.archived() == kept


def test_a_body_that_was_discarded_is_kept_with_the_next_visit_that_has_it(bench: Bench) -> None:
    committer = bench.committer()
    first, second = bench.lease(A, B)
    bench.store.frontier.unlease([first], NOW)
    committer.commit([result(visit, body=b"<p>the same") for visit in (first, second)])
    (document,) = bench.store.documents.versions(second.key)
    place = document.position
    block = read_block(bench.directory, place.segment, place.offset, place.length)
    assert block == came(second).head + b"<p>the same"
    assert bench.archived() == [B]


def test_when_all_were_taken_over_nothing_remains(bench: Bench) -> None:
    committer = bench.committer()
    visits = bench.lease(A, B)
    bench.store.frontier.unlease(visits, NOW)
    _, late, _ = committer.commit([result(visit) for visit in visits])
    assert set(late) == {key_of(A), key_of(B)}
    assert bench.documents() == []
    committer.close()
    assert bench.archived() == []


def test_a_length_that_the_store_has_is_on_the_disk_even_if_all_were_taken_over(bench: Bench) -> None:
    committer = bench.committer()
    visits = bench.lease(A)
    bench.store.frontier.unlease(visits, NOW)
    committer.commit([result(visit) for visit in visits])
    for segment in bench.store.archive.segments():
        assert (bench.directory / (segment.name + OPEN)).stat().st_size >= segment.length
    committer.close()


def test_late_and_early_batches_share_a_file(bench: Bench) -> None:
    committer = bench.committer()
    committer.commit([result(visit) for visit in bench.lease(A)])
    visits = bench.lease(B, C)
    bench.store.frontier.unlease(visits[:1], NOW)
    committer.commit([result(visit) for visit in visits])
    committer.close()
    assert bench.documents() == bench.archived() == [A, C]


# ── failures ──


def test_a_store_that_fails_leaves_the_file_as_it_was(bench: Bench) -> None:
    committer = bench.committer()
    committer.commit([result(visit) for visit in bench.lease(A)])
    batch = [result(visit) for visit in bench.lease(B)]
    before = committer.archive.length
    bench.fail_on_documents()
    with pytest.raises(apsw.ConstraintError, match="planted"):
        committer.commit(batch)
    assert committer.archive.length == before
    assert bench.documents() == bench.archived() == [A]
    bench.work_again()
    committer.commit(batch)
    committer.close()
    assert bench.documents() == bench.archived() == [A, B]


@pytest.mark.parametrize("step", STEPS)
def test_an_error_at_any_step_leaves_whole_visits_or_none(bench: Bench, step: str) -> None:
    planted = [step]

    def stop(name: str) -> None:
        if name in planted:
            planted.clear()
            raise Stop(name)

    committer = bench.committer(step=stop, max_bytes=1)
    batch = [result(visit) for visit in bench.lease(A, B)]
    with pytest.raises(Stop):
        committer.commit(batch)
    acknowledged = STEPS.index(step) >= STEPS.index("after commit")
    assert bench.documents() == bench.archived() == ([A, B] if acknowledged else [])
    for segment in bench.store.archive.segments():
        (path,) = bench.directory.glob(segment.name + "*")
        assert path.stat().st_size == segment.length
    committer.close()
    assert bench.documents() == bench.archived()


def test_trouble_with_the_disk_while_a_file_is_ended_is_told_as_that(bench: Bench) -> None:
    def remove(step: str) -> None:
        if step == "before rename":
            for path in bench.directory.glob(f"*{OPEN}"):
                path.unlink()

    committer = bench.committer(step=remove, max_bytes=1)
    with pytest.raises(DiskTrouble, match="writing the archive failed"):
        committer.commit([result(visit) for visit in bench.lease(A)])


# ── visits with very many links ──

MANY = [link(f"http://h{n % 7}.test/{n}") for n in range(5_000)]


def known(bench: Bench) -> set[str]:
    return {url for (url,) in bench.outside.execute("SELECT url FROM urls")}


def test_a_visit_with_very_many_links_arrives_whole(bench: Bench) -> None:
    committer = bench.committer()
    (visit,) = bench.lease(A)
    committed, *_ = committer.commit([result(visit, *MANY)])
    assert committed.new_urls == 5_000
    assert committed.hosts_with_new == {each.key.host for each in MANY}
    assert known(bench) == {A, *(each.url for each in MANY)}
    assert bench.store.crawl.account().known == 5_001
    committer.close()


def test_what_is_too_much_for_one_transaction_is_there_even_if_the_last_one_fails(bench: Bench) -> None:
    committer = bench.committer()
    (visit,) = bench.lease(A)
    bench.fail_on_documents()
    with pytest.raises(apsw.ConstraintError):
        committer.commit([result(visit, *MANY)])
    assert known(bench) == {A, *(each.url for each in MANY[LINKS_A_VISIT:])}
    assert bench.documents() == []
    bench.work_again()
    committed, *_ = committer.commit([result(visit, *MANY)])
    assert committed.new_urls == LINKS_A_VISIT
    assert known(bench) == {A, *(each.url for each in MANY)}
    assert bench.documents() == [A]
    committer.close()


@pytest.mark.parametrize("number", [LINKS_A_VISIT - 1, LINKS_A_VISIT, LINKS_A_VISIT + 1, 2 * LINKS_A_VISIT])
def test_no_link_is_lost_at_the_limit(bench: Bench, number: int) -> None:
    committer = bench.committer()
    (visit,) = bench.lease(A)
    committed, *_ = committer.commit([result(visit, *MANY[:number])])
    assert committed.new_urls == number
    committer.close()
