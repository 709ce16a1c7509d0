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
from crawler.items import ChangeEvent, Fetched, Link, Outcome, Reason, State, Visit
from crawler.stores.contract.commits import VisitResult
from crawler.stores.contract.store import Store
from crawler.stores.open import open_store
from crawler.urls.keys import key_of
from crawler.worker.committer import STEPS, URLS_OF_TRANSACTIONS, Committer
from tests.defaults import DEFAULTS, urls_with
from tests.samples import NOW, acquire, answer, link, new_url, visit_result, visited

A, B, C = "http://a.test/", "http://b.test/", "http://c.test/"
Step = Callable[[str], None]


class Stop(Exception):
    """The error that a test raises inside a commit."""


class Workplace:
    """A store and an archive in a directory, with a second connection to read what is stored."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.store: Store = open_store(f"sqlite:{directory / 'crawl.db'}")
        acquire(self.store, "me", 0, NOW, 60, 60)
        self.outside = apsw.Connection(str(directory / "crawl.db"))
        self.archives: list[SegmentWriter] = []

    def committer(self, *, step: Step = lambda name: None, max_bytes: int = 10**9, workers: int = 1) -> Committer:
        archive = SegmentWriter(
            self.directory, prefix="t", slot=0, max_bytes=max_bytes, now=lambda: NOW, facts=[], step=step
        )
        self.archives.append(archive)
        return Committer(self.store, archive, lambda: NOW, step, lambda: workers)

    def lease(self, *urls: str) -> list[Visit]:
        self.store.urls.add([new_url(url) for url in urls], NOW)
        loads = self.store.frontier.activate("me", NOW, 100, 100, ())
        visits = self.store.frontier.lease("me", [visit for load in loads for visit in load.visits], NOW).granted
        return sorted(visits, key=lambda visit: visit.url)

    def documents(self) -> list[str]:
        """Return the URLs of all stored documents."""
        return [
            url
            for (url,) in self.outside.execute(
                "SELECT u.url FROM documents d JOIN urls u ON u.host = d.host AND u.rest = d.rest ORDER BY d.id"
            )
        ]

    def archived(self) -> list[str]:
        """Return the URLs of all archived responses, every digest checked."""
        urls = []
        for path in sorted(self.directory.glob("*.warc.gz*")):
            with path.open("rb") as stream:
                for record in ArchiveIterator(stream, check_digests="raise"):
                    record.raw_stream.read()
                    if record.rec_type == "response":
                        urls.append(record.rec_headers.get_header("WARC-Target-URI"))
        return urls

    def fail_on_documents(self) -> None:
        """Let SQLite refuse every new document from now on."""
        self.outside.execute(
            "CREATE TRIGGER planted BEFORE INSERT ON documents BEGIN SELECT RAISE(ABORT, 'planted'); END"
        )

    def accept_documents(self) -> None:
        self.outside.execute("DROP TRIGGER planted")

    def inserted_by_transaction(self) -> list[int]:
        """Return a list that will have the number of URLs that each transaction of the store inserts from now on."""
        (connection,) = (
            each for each in apsw.connections() if each.filename == self.outside.filename and each is not self.outside
        )
        inserted = [0]

        def count(change: int, database: str, table: str, row: int) -> None:
            inserted[-1] += table == "urls" and change == apsw.SQLITE_INSERT

        def committed() -> bool:
            inserted.append(0)
            return False

        connection.set_update_hook(count)
        connection.set_commit_hook(committed)
        return inserted


@pytest.fixture
def workplace(tmp_path: Path) -> Iterator[Workplace]:
    workplace = Workplace(tmp_path)
    yield workplace
    for archive in workplace.archives:
        archive.finish()
    workplace.outside.close()
    workplace.store.close()


def answer_to(visit: Visit, body: bytes = b"") -> Fetched:
    """Return an answer; without a body, one that no other URL has."""
    return answer(visit.url, body=body or f"<p>{visit.url}".encode())


def result(visit: Visit, *links: Link, body: bytes = b"") -> VisitResult:
    fetched = visited(visit, fetched=answer_to(visit, body), page=None)
    examined = examine(fetched, urls_with().new_scope(), DEFAULTS.reading, DEFAULTS.duplicates)
    assert examined.page is not None
    return visit_result(replace(examined, page=replace(examined.page, links=links)))


# ── commits that succeed ──


def test_records_are_archived_at_the_stored_positions(workplace: Workplace) -> None:
    committer = workplace.committer()
    visits = workplace.lease(A, B)
    committed, late, *_ = committer.commit([result(visits[0], link(C)), result(visits[1])])
    assert (committed.new_urls, committed.hosts_with_new, late) == (1, {key_of(C).host}, set())
    assert workplace.documents() == workplace.archived() == [A, B]
    for visit in visits:
        (document,) = workplace.store.documents.versions(visit.key)
        place = document.position
        block = read_block(workplace.directory, place.segment, place.offset, place.length)
        assert block == answer_to(visit).head + answer_to(visit).body
    committer.close()
    (segment,) = workplace.store.archive.segments()
    assert (segment.closed, segment.records) == (True, 7)
    assert (workplace.directory / segment.name).stat().st_size == segment.length
    assert workplace.documents() == workplace.archived() == [A, B]


def test_pages_that_are_wanted_are_returned_as_they_are_stored(workplace: Workplace) -> None:
    committer = workplace.committer()
    visits = workplace.lease(A, B, C)
    failed = replace(result(visits[2]).visited, outcome=Outcome.FAILED, reason=Reason.TIMEOUT, fetched=None, page=None)
    batch = [result(visits[0]), result(visits[1]), visit_result(replace(failed, records=()))]
    answer = committer.commit(batch, wanted={key_of(A), key_of(C)})
    (page,) = answer.pages.values()
    (published,) = [change for change in workplace.store.changes.published() if change.url == A]
    assert (page.url, page.version, page.event) == (A, published.version, ChangeEvent.UPSERT)
    assert page.text == batch[0].visited.page.text != ""
    assert committer.commit([result(visit) for visit in workplace.lease("http://d.test/")]).pages == {}


def test_records_are_on_disk_before_the_store_commits(workplace: Workplace) -> None:
    documents: dict[str, int] = {}
    durable: list[str] = []

    def look(step: str) -> None:
        documents[step] = len(workplace.documents())
        if sum(path.stat().st_size for path in workplace.directory.glob("*.warc.gz*")) >= committer.archive.length > 0:
            durable.append(step)

    committer = workplace.committer(step=look, max_bytes=1)
    committer.commit([result(visit) for visit in workplace.lease(A)])
    assert tuple(documents) == STEPS
    assert [step for step, number in documents.items() if number] == list(STEPS[STEPS.index("after commit") :])
    assert {"after fsync", "before commit", "after commit"} <= set(durable)


def test_a_batch_without_answers_begins_no_file(workplace: Workplace) -> None:
    steps: list[str] = []
    committer = workplace.committer(step=steps.append)
    (visit,) = workplace.lease(A)
    failed = visited(visit, outcome=Outcome.FAILED, reason=Reason.TIMEOUT, fetched=None, page=None)
    committer.commit([visit_result(failed)])
    committer.close()
    row = workplace.store.urls.find(visit.key)
    assert row is not None
    assert (row.state, row.reason) == (State.WAITING, Reason.TIMEOUT)
    assert steps == ["before commit", "after commit"]
    assert workplace.store.archive.segments() == []
    assert list(workplace.directory.glob("*.warc.gz*")) == []


def test_a_full_file_is_ended_and_the_next_batch_begins_another(workplace: Workplace) -> None:
    committer = workplace.committer(max_bytes=1)
    for url in (A, B):
        committer.commit([result(visit) for visit in workplace.lease(url)])
    names = ["t-000-00001.warc.gz", "t-000-00002.warc.gz"]
    assert [(segment.name, segment.closed) for segment in workplace.store.archive.segments()] == [
        (name, True) for name in names
    ]
    assert sorted(path.name for path in workplace.directory.glob("*.warc.gz*")) == names
    assert workplace.documents() == workplace.archived() == [A, B]


def test_the_next_batch_is_appended_to_a_file_that_is_not_full(workplace: Workplace) -> None:
    committer = workplace.committer()
    for url in (A, B):
        committer.commit([result(visit) for visit in workplace.lease(url)])
    (segment,) = workplace.store.archive.segments()
    assert (segment.closed, segment.records) == (False, 7)
    committer.close()
    assert workplace.archived() == [A, B]


# ── visits that another worker has taken over ──


@pytest.mark.parametrize("taken", [A, B, C])
def test_a_visit_that_was_taken_over_is_discarded_with_its_bytes(workplace: Workplace, taken: str) -> None:
    committer = workplace.committer()
    visits = workplace.lease(A, B, C)
    workplace.store.frontier.unlease([visit for visit in visits if visit.url == taken], NOW)
    _, late, *_ = committer.commit([result(visit) for visit in visits])
    assert set(late) == {key_of(taken)}
    kept = [url for url in (A, B, C) if url != taken]
    assert workplace.documents() == workplace.archived() == kept
    row = workplace.store.urls.find(key_of(taken))
    assert row is not None
    assert (row.state, row.visited) == (State.WAITING, None)
    committer.close()
    assert workplace.archived() == kept


def test_a_body_that_was_discarded_is_archived_with_the_next_visit_that_has_it(workplace: Workplace) -> None:
    committer = workplace.committer()
    first, second = workplace.lease(A, B)
    workplace.store.frontier.unlease([first], NOW)
    committer.commit([result(visit, body=b"<p>the same") for visit in (first, second)])
    (document,) = workplace.store.documents.versions(second.key)
    place = document.position
    block = read_block(workplace.directory, place.segment, place.offset, place.length)
    assert block == answer_to(second).head + b"<p>the same"
    assert workplace.archived() == [B]


def test_when_all_visits_were_taken_over_nothing_is_archived(workplace: Workplace) -> None:
    committer = workplace.committer()
    visits = workplace.lease(A, B)
    workplace.store.frontier.unlease(visits, NOW)
    _, late, *_ = committer.commit([result(visit) for visit in visits])
    assert set(late) == {key_of(A), key_of(B)}
    assert workplace.documents() == []
    committer.close()
    assert workplace.archived() == []


def test_a_stored_file_length_is_on_disk_even_if_all_visits_were_taken_over(workplace: Workplace) -> None:
    committer = workplace.committer()
    visits = workplace.lease(A)
    workplace.store.frontier.unlease(visits, NOW)
    committer.commit([result(visit) for visit in visits])
    for segment in workplace.store.archive.segments():
        assert (workplace.directory / (segment.name + OPEN)).stat().st_size >= segment.length
    committer.close()


def test_a_batch_with_late_visits_is_appended_to_the_same_file(workplace: Workplace) -> None:
    committer = workplace.committer()
    committer.commit([result(visit) for visit in workplace.lease(A)])
    visits = workplace.lease(B, C)
    workplace.store.frontier.unlease(visits[:1], NOW)
    committer.commit([result(visit) for visit in visits])
    committer.close()
    assert workplace.documents() == workplace.archived() == [A, C]


# ── failures ──


def test_an_error_of_the_store_leaves_the_file_as_it_was(workplace: Workplace) -> None:
    committer = workplace.committer()
    committer.commit([result(visit) for visit in workplace.lease(A)])
    batch = [result(visit) for visit in workplace.lease(B)]
    before = committer.archive.length
    workplace.fail_on_documents()
    with pytest.raises(apsw.ConstraintError, match="planted"):
        committer.commit(batch)
    assert committer.archive.length == before
    assert workplace.documents() == workplace.archived() == [A]
    workplace.accept_documents()
    committer.commit(batch)
    committer.close()
    assert workplace.documents() == workplace.archived() == [A, B]


@pytest.mark.parametrize("step", STEPS)
def test_an_error_at_any_step_leaves_all_visits_or_none(workplace: Workplace, step: str) -> None:
    planted = [step]

    def stop(name: str) -> None:
        if name in planted:
            planted.clear()
            raise Stop(name)

    committer = workplace.committer(step=stop, max_bytes=1)
    batch = [result(visit) for visit in workplace.lease(A, B)]
    with pytest.raises(Stop):
        committer.commit(batch)
    acknowledged = STEPS.index(step) >= STEPS.index("after commit")
    assert workplace.documents() == workplace.archived() == ([A, B] if acknowledged else [])
    for segment in workplace.store.archive.segments():
        (path,) = workplace.directory.glob(segment.name + "*")
        assert path.stat().st_size == segment.length
    committer.close()
    assert workplace.documents() == workplace.archived()


def test_a_disk_error_while_a_file_is_ended_is_reported_as_disk_trouble(workplace: Workplace) -> None:
    def remove(step: str) -> None:
        if step == "before rename":
            for path in workplace.directory.glob(f"*{OPEN}"):
                path.unlink()

    committer = workplace.committer(step=remove, max_bytes=1)
    with pytest.raises(DiskTrouble, match="writing the archive failed"):
        committer.commit([result(visit) for visit in workplace.lease(A)])


# ── visits with very many links ──

MANY = [link(f"http://h{n % 7}.test/{n}") for n in range(5_000)]


def stored_urls(workplace: Workplace) -> set[str]:
    return {url for (url,) in workplace.outside.execute("SELECT url FROM urls")}


@pytest.mark.parametrize("number", [URLS_OF_TRANSACTIONS, URLS_OF_TRANSACTIONS + 1, 5_000])
def test_all_links_of_a_visit_with_very_many_are_stored(number: int, workplace: Workplace) -> None:
    committer = workplace.committer()
    (visit,) = workplace.lease(A)
    committed, *_ = committer.commit([result(visit, *MANY[:number])])
    assert committed.new_urls == committed.visits[visit.key].new_links == number
    assert committed.hosts_with_new == {each.key.host for each in MANY[:number]}
    assert stored_urls(workplace) == {A, *(each.url for each in MANY[:number])}
    assert workplace.store.crawl.account().known == 1 + number
    committer.close()


@pytest.mark.parametrize("workers", [1, 4])
def test_no_transaction_inserts_more_urls_than_the_store_s_log_can_hold(workers: int, workplace: Workplace) -> None:
    committer = workplace.committer(workers=workers)
    visits = workplace.lease(A, B)
    inserted = workplace.inserted_by_transaction()
    committer.commit([result(visit, *MANY[number::2]) for number, visit in enumerate(visits)])
    assert sum(inserted) == 5_000
    assert max(inserted) <= URLS_OF_TRANSACTIONS / workers
    committer.close()


def test_links_of_a_visit_with_very_many_are_kept_even_if_the_commit_fails(workplace: Workplace) -> None:
    committer = workplace.committer()
    (visit,) = workplace.lease(A)
    workplace.fail_on_documents()
    with pytest.raises(apsw.ConstraintError):
        committer.commit([result(visit, *MANY)])
    assert stored_urls(workplace) == {A, *(each.url for each in MANY)}
    assert workplace.documents() == []
    workplace.accept_documents()
    committed, *_ = committer.commit([result(visit, *MANY)])
    assert committed.new_urls == 0
    assert workplace.documents() == [A]
    committer.close()
