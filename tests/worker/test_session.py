"""A start under other settings judges the stored URLs again, and new seeds open what is in their scope."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
import pytest

from crawler.duplicates.page_sketch import page_sketch
from crawler.errors import Misconfigured
from crawler.items import Page, Reason, Refusal, State
from crawler.options import Options
from crawler.stores.contract.archive import ArchivePosition, SegmentState
from crawler.stores.contract.store import Store
from crawler.stores.open import open_store
from crawler.urls.keys import key_of
from crawler.worker import session as module
from crawler.worker.session import Session
from tests.defaults import options_with
from tests.samples import NOW, acquire, link, new_url, visit_result, visited
from tests.stores.versions import as_version_1

A, B, C = "http://a.test/", "http://b.test/", "http://c.test/"
OTHER_SCOPE = "The scope is not that of the last crawl"
OTHER_SPELLING = "URLs are spelled by other rules than in the last crawl"

pytestmark = pytest.mark.usefixtures("logged")


@pytest.fixture
def logged(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.INFO, "crawler")
    return caplog


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "crawl"


def options(directory: Path, **given: Any) -> Options:
    return options_with(**{"CRAWL_DIR": str(directory), "CONTACT": "me@a.test", "SCOPE": "hosts"} | given)


@contextmanager
def session(directory: Path, **given: Any) -> Iterator[Session]:
    """Open a crawl, and close it without a fatal error."""
    opened = Session.open(options(directory, **given))
    try:
        yield opened
    finally:
        opened.close()
    assert opened.fatal is None


def start(directory: Path, **given: Any) -> None:
    with session(directory, **given):
        pass


@contextmanager
def store_in(directory: Path) -> Iterator[Store]:
    directory.mkdir(exist_ok=True)
    store = open_store(f"sqlite:{directory / 'crawl.db'}")
    try:
        yield store
    finally:
        store.close()


def seed(directory: Path, *urls: str) -> None:
    """Add seeds as `scrapy seed` does."""
    with store_in(directory) as store:
        store.urls.add_seeds([new_url(url) for url in urls], NOW)


def find(directory: Path, *urls: str, refused: Refusal | None = None, **facts: Any) -> None:
    """Add URLs as a crawl does that follows links."""
    with store_in(directory) as store:
        given = {"reason": Reason.LINK, "refused": refused, "via": key_of(A)} | facts
        store.urls.add([new_url(url, **given) for url in urls], NOW)


def crawl_a_page(directory: Path, *links: str) -> None:
    """Visit A, whose page has these links."""
    with store_in(directory) as store:
        acquire(store, "me", 0, NOW, 60, 60)
        (visit,) = store.frontier.lease("me", store.frontier.load(key_of(A).host, NOW, 1), NOW).granted
        store.commits.commit([visit_result(visited(visit, *map(link, links)))], [], NOW)
        store.partitions.leave("me")


def waiting(directory: Path, *urls: str) -> set[str]:
    with store_in(directory) as store:
        rows = [store.urls.find(key_of(url)) for url in urls]
    assert None not in rows
    return {row.url for row in rows if row is not None and row.state is State.WAITING}


OUT = Refusal(Reason.OUT_OF_SCOPE, "hosts")


# ── at a start ──


def test_a_first_start_leaves_all_urls_as_they_are(directory: Path, logged: pytest.LogCaptureFixture) -> None:
    seed(directory, A)
    find(directory, A + "x.zip", B)
    start(directory)
    assert logged.messages == []
    assert waiting(directory, A, A + "x.zip", B) == {A, A + "x.zip", B}


def test_a_start_with_the_same_settings_leaves_all_urls_as_they_are(
    directory: Path, logged: pytest.LogCaptureFixture
) -> None:
    seed(directory, A)
    start(directory)
    find(directory, B, refused=OUT)
    for _ in range(2):
        start(directory)
    assert logged.messages == []


@pytest.mark.parametrize(
    ("setting", "value", "closed"),
    [
        ("URL_SKIP_TYPES", "html", {A + "x.html"}),
        ("CRAWL_MAX_DEPTH", 1, {A + "far"}),
        ("URL_MAX_LENGTH", 19, {A + "x.html"}),
        ("SCOPE", "prefixes", {"http://a.test:8080/"}),
        ("URL_PORTS", "80", {"http://a.test:8080/"}),
        ("URL_EXCLUDE", "~x\\.html$", {A + "x.html"}),
        ("URL_INCLUDE", "http://a.test:8080/", {A + "x.html", A + "far"}),
        ("URL_EXCLUDE", "~.", {A + "x.html", A + "far", "http://a.test:8080/"}),
    ],
)
def test_another_scope_parks_the_urls_that_it_refuses_and_the_old_scope_reopens_them(
    setting: str, value: object, closed: set[str], directory: Path, tmp_path: Path, logged: pytest.LogCaptureFixture
) -> None:
    if setting in ("URL_EXCLUDE", "URL_INCLUDE"):
        (tmp_path / "patterns.txt").write_text(str(value))
        value = str(tmp_path / "patterns.txt")
    links = [A + "x.html", "http://a.test:8080/"]
    seed(directory, A)
    start(directory)
    find(directory, *links, depth=1)
    find(directory, A + "far", depth=2)
    everything = {A, A + "far", *links}
    start(directory, **{setting: value})
    assert waiting(directory, *everything) == everything - closed
    assert [message for message in logged.messages if OTHER_SCOPE in message] != []
    start(directory)
    assert waiting(directory, *everything) == everything


def test_a_changed_pattern_file_is_another_scope(directory: Path, tmp_path: Path) -> None:
    exclude = tmp_path / "exclude.txt"
    exclude.write_text("")
    seed(directory, A)
    start(directory, URL_EXCLUDE=str(exclude))
    find(directory, A + "x", A + "y")
    exclude.write_text(A + "x")
    start(directory, URL_EXCLUDE=str(exclude))
    assert waiting(directory, A + "x", A + "y") == {A + "y"}


@pytest.mark.parametrize(
    ("first", "second", "is_warned"),
    [
        ({}, {}, False),
        ({"URL_SORT_QUERY": False}, {}, True),
        ({}, {"URL_DROP_INDEX_PAGE": True}, True),
        ({}, {"URL_RULES": "a.test drop view"}, True),
        ({"URL_RULES": "a.test drop view"}, {"URL_RULES": "a.test drop sort"}, True),
        ({"URL_RULES": "a.test drop view"}, {"URL_RULES": "a.test drop view"}, False),
        ({}, {"URL_MAX_LENGTH": 100}, False),
    ],
)
def test_other_rules_for_spelling_urls_are_warned_of_once(
    first: dict[str, Any],
    second: dict[str, Any],
    is_warned: bool,
    directory: Path,
    tmp_path: Path,
    logged: pytest.LogCaptureFixture,
) -> None:
    for number, given in enumerate([first, second]):
        if "URL_RULES" in given:
            (tmp_path / f"rules{number}.txt").write_text(given["URL_RULES"])
            given = given | {"URL_RULES": str(tmp_path / f"rules{number}.txt")}
        start(directory, **given)
    warned = [record for record in logged.records if OTHER_SPELLING in record.getMessage()]
    assert [record.levelno for record in warned] == [logging.WARNING] * is_warned
    logged.clear()
    start(directory, **given)
    assert not any(OTHER_SPELLING in message for message in logged.messages)


def test_urls_of_a_crawl_of_the_first_version_are_judged_again(
    directory: Path, logged: pytest.LogCaptureFixture
) -> None:
    seed(directory, A)
    crawl_a_page(directory, A + "x", A + "x.zip")
    find(directory, A + "y", B, refused=OUT)
    as_version_1(directory / "crawl.db")
    start(directory)
    assert any(OTHER_SCOPE in message for message in logged.messages)
    assert waiting(directory, A, A + "x", A + "x.zip", A + "y", B) == {A, A + "x", A + "y"}
    logged.clear()
    start(directory)
    assert logged.messages == []


def test_a_start_that_was_interrupted_is_repeated_by_the_next(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seed(directory, A)
    start(directory)
    find(directory, A + "x.zip")

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("crawler.stores.sqlite.crawl.SqliteCrawl.set_facts", interrupt)
        with pytest.raises(KeyboardInterrupt):
            start(directory, URL_SKIP_TYPES="")
    find(directory, A + "y.zip", refused=Refusal(Reason.FILE_TYPE, "zip"))
    start(directory, URL_SKIP_TYPES="")
    assert waiting(directory, A + "x.zip", A + "y.zip") == {A + "x.zip", A + "y.zip"}


# ── new seeds ──


def by_seeding_before_a_start(directory: Path, *urls: str, **given: Any) -> None:
    seed(directory, *urls)
    start(directory, **given)


def by_seeding_a_running_crawl(directory: Path, *urls: str, **given: Any) -> None:
    with session(directory, **given) as running:
        seed(directory, *urls)
        new = running.call(running.new_seeds)
        running.extend_scope(new)
        running.call(lambda: running.open_scope(new))


def by_seeding_a_crawl_that_stopped_before_it_opened_the_scope(directory: Path, *urls: str, **given: Any) -> None:
    with session(directory, **given) as running:
        seed(directory, *urls)
        running.extend_scope(running.call(running.new_seeds))
    start(directory, **given)


Seeding = Callable[..., None]
seedings = pytest.mark.parametrize(
    "add_seeds",
    [by_seeding_before_a_start, by_seeding_a_running_crawl, by_seeding_a_crawl_that_stopped_before_it_opened_the_scope],
)


@seedings
@pytest.mark.parametrize(
    ("mode", "opened"),
    [
        ("hosts", {B + "x/y", B + "z", B + "z?q=1"}),
        ("domains", {B + "x/y", B + "z", B + "z?q=1", "http://www.b.test/", "http://a.b.test/"}),
        ("prefixes", {B + "x/y"}),
    ],
)
def test_a_new_seed_reopens_the_urls_in_its_scope_that_were_found_before(
    mode: str, opened: set[str], add_seeds: Seeding, directory: Path
) -> None:
    seed(directory, A)
    start(directory, SCOPE=mode)
    found = {B + "x/y", B + "z", B + "z?q=1", "http://www.b.test/", "http://a.b.test/", "http://notb.test/", C}
    find(directory, *found, refused=Refusal(Reason.OUT_OF_SCOPE, mode))
    find(directory, B + "x/a.zip", refused=Refusal(Reason.FILE_TYPE, "zip"))
    add_seeds(directory, B + "x/", SCOPE=mode)
    assert waiting(directory, *found, B + "x/a.zip", B + "x/") == {B + "x/", *opened}


@seedings
@pytest.mark.parametrize("mode", ["any", "domains", "hosts"])
def test_a_new_seed_opens_its_port_on_all_hosts_in_scope(mode: str, add_seeds: Seeding, directory: Path) -> None:
    """`scrapy urls` judges alike: the ports of the seeds are allowed on all hosts."""
    seed(directory, A)
    start(directory, SCOPE=mode)
    found = {"http://b.test:9000/x", "http://a.test:9000/"}
    find(directory, *found, "http://b.test:9001/", refused=Refusal(Reason.PORT_DENIED, "9000"))
    add_seeds(directory, "http://b.test:9000/", SCOPE=mode)
    assert waiting(directory, *found, "http://b.test:9001/") == found


def test_more_than_a_few_new_sites_are_opened_in_one_pass(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FEW_SITES", 2)
    seed(directory, A)
    start(directory)
    find(directory, *(f"http://h{number}.test/x" for number in range(5)), refused=OUT)
    new = [f"http://h{number}.test/" for number in range(4)]
    by_seeding_before_a_start(directory, *new)
    assert waiting(directory, *(f"http://h{number}.test/x" for number in range(5))) == {url + "x" for url in new}


def test_new_seeds_open_the_scope_once(directory: Path, logged: pytest.LogCaptureFixture) -> None:
    seed(directory, A)
    start(directory)
    find(directory, B + "x", refused=OUT)
    by_seeding_a_running_crawl(directory, B)
    assert [message for message in logged.messages if "in the scope now" in message] != []
    find(directory, B + "y", refused=OUT)
    start(directory)
    assert waiting(directory, B + "x", B + "y") == {B + "x"}


# ── near-duplicates ──


def sketches_in(directory: Path) -> tuple[int, int]:
    """Return the numbers of stored sketches and of their bands."""
    connection = apsw.Connection(str(directory / "crawl.db"))
    counted = [connection.execute(f"SELECT count(*) FROM {table}").get for table in ("sketches", "bands")]
    connection.close()
    return counted[0], counted[1]


def crawl_a_sketched_page(directory: Path, **given: Any) -> None:
    text = " ".join(f"word{number}" for number in range(200))
    with session(directory, **given) as opened:
        rule = opened.options.duplicates

        def commit() -> None:
            store = opened.store
            store.urls.add([new_url(A)], NOW)
            (visit,) = store.frontier.lease(
                opened.owner, store.frontier.load(key_of(A).host, NOW + 1e9, 9), NOW
            ).granted
            page = Page(text=text, body_digest=b"a", payload_digest=b"a", sketch=page_sketch(text, b"", rule))
            segment = SegmentState(name="x.warc.gz", slot=0, length=9, records=1, closed=True)
            place = ArchivePosition(segment=segment.name, offset=0, length=9)
            store.commits.commit([visit_result(visited(visit, page=page), position=place)], [segment], NOW)

        opened.call(commit)


def test_another_threshold_enters_all_sketches_again(directory: Path, logged: pytest.LogCaptureFixture) -> None:
    crawl_a_sketched_page(directory)
    assert sketches_in(directory) == (1, 11)
    start(directory)
    assert "DUPLICATE_THRESHOLD" not in logged.text
    start(directory, DUPLICATE_THRESHOLD=0.8)
    assert "DUPLICATE_THRESHOLD has changed: 1 pages are entered anew" in logged.text
    assert sketches_in(directory) == (1, 25)


def test_another_shingle_size_drops_all_sketches(directory: Path, logged: pytest.LogCaptureFixture) -> None:
    crawl_a_sketched_page(directory)
    start(directory, DUPLICATE_SHINGLE=3)
    assert "DUPLICATE_SHINGLE has changed" in logged.text
    assert sketches_in(directory) == (0, 0)


def test_without_near_duplicates_stored_sketches_stay(directory: Path) -> None:
    crawl_a_sketched_page(directory)
    start(directory, DUPLICATE_THRESHOLD=0)
    assert sketches_in(directory) == (1, 11)


def test_a_worker_with_another_rule_for_near_duplicates_is_refused(directory: Path) -> None:
    with session(directory), pytest.raises(Misconfigured, match="DUPLICATE_THRESHOLD or DUPLICATE_SHINGLE is not what"):
        Session.open(options(directory, DUPLICATE_THRESHOLD=0.8), join=True)
