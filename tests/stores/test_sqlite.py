"""How the SQLite file is opened, migrated, shared and refused."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from crawler.errors import CrawlError, DiskTrouble, StoreUnreachable
from crawler.items import Reason, Refusal, State
from crawler.stores.contract.partitions import PARTITIONS
from crawler.stores.contract.store import Store
from crawler.stores.contract.urls import ScopeReview
from crawler.stores.open import open_store
from crawler.stores.sqlite import scope
from crawler.stores.sqlite.connection import create_or_migrate, open_for_reading, open_for_writing
from crawler.stores.sqlite.schema import APPLICATION_ID, SCHEMA_VERSION, TABLES
from crawler.urls.keys import key_of
from tests.samples import NOW, acquire, link, new_url, visit_result, visited
from tests.stores.versions import as_version_1

ROOT = Path(__file__).resolve().parents[2]
A, B = "http://a.test/", "http://b.test/"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "crawl.db"


@pytest.fixture
def connection(path: Path) -> Iterator[apsw.Connection]:
    opened = open_for_writing(path)
    yield opened
    opened.close()


def files(path: Path) -> dict[str, bytes]:
    return {found.name: found.read_bytes() for found in path.parent.iterdir()}


def execute_outside(path: Path, statements: str) -> None:
    connection = apsw.Connection(str(path))
    connection.execute(statements)
    connection.close()


# ── Opening ──


def test_commits_are_synced_and_readers_do_not_wait(connection: apsw.Connection) -> None:
    assert connection.pragma("journal_mode") == "wal"
    assert connection.pragma("synchronous") == 2  # FULL: each commit is synced before it is acknowledged
    assert connection.pragma("foreign_keys") == 1


def test_a_new_file_has_an_application_id_and_a_table_of_reasons(connection: apsw.Connection) -> None:
    assert connection.pragma("application_id") == APPLICATION_ID
    assert connection.pragma("user_version") == SCHEMA_VERSION
    reasons = {code: (name, meaning) for code, name, meaning in connection.execute("SELECT * FROM reasons")}
    assert reasons == {reason.value: (reason.name, reason.meaning) for reason in Reason}
    assert connection.execute("SELECT count(*) FROM partitions").get == PARTITIONS


def test_opening_again_changes_nothing(path: Path) -> None:
    open_for_writing(path).close()
    before = path.read_bytes()
    open_for_writing(path, check=True).close()
    assert path.read_bytes() == before


# ── The log ──


def write(connection: apsw.Connection, pages: int) -> None:
    """Commit a change that takes this many pages of the log."""
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("INSERT INTO scratch VALUES (zeroblob(?))", (4096 * pages,))
    connection.execute("COMMIT")


@pytest.fixture
def small_log(monkeypatch: pytest.MonkeyPatch) -> int:
    """Make the log small; return its largest size."""
    monkeypatch.setattr("crawler.stores.sqlite.connection._LOG_PAGES", 100)
    monkeypatch.setattr("crawler.stores.sqlite.connection._LOG_GROWTH", 20)
    monkeypatch.setattr("crawler.stores.sqlite.connection.LARGEST_LOG", 130 * 4096)
    return 130 * 4096


def test_the_log_stays_small_while_others_write_and_read(small_log: int, path: Path) -> None:
    log = path.with_name("crawl.db-wal")
    first, second, reader = open_for_writing(path), open_for_writing(path), open_for_reading(path)
    first.execute("CREATE TABLE scratch (content)")
    sizes = []
    for _ in range(100):
        for connection in (first, second):
            write(connection, 9)
            reader.execute("SELECT count(*) FROM scratch").fetchall()  # a moment only
            sizes.append(log.stat().st_size)
    assert 90 * 4096 < max(sizes) <= small_log
    for connection in (first, second, reader):
        connection.close()


def test_the_log_grows_while_an_old_state_is_read_and_is_cut_after_that(small_log: int, path: Path) -> None:
    log = path.with_name("crawl.db-wal")
    writer, reader = open_for_writing(path), open_for_reading(path)
    writer.execute("CREATE TABLE scratch (content)")
    reader.execute("BEGIN; SELECT * FROM scratch").fetchall()
    for _ in range(30):
        write(writer, 9)
    assert log.stat().st_size > 2 * small_log
    assert reader.execute("SELECT count(*) FROM scratch").get == 0
    reader.execute("ROLLBACK")
    for _ in range(3):
        write(writer, 9)
    assert log.stat().st_size <= small_log
    reader.close()
    writer.close()


def test_a_fault_of_the_disk_while_the_log_is_copied_does_not_undo_the_commit(
    small_log: int, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Failing(apsw.Connection):
        def wal_checkpoint(self, *args: Any, **kwargs: Any) -> Any:
            raise apsw.FullError("database or disk is full")

    monkeypatch.setattr("crawler.stores.sqlite.connection.apsw.Connection", Failing)
    writer = open_for_writing(path)
    writer.execute("CREATE TABLE scratch (content)")
    for _ in range(20):
        write(writer, 9)
    assert writer.execute("SELECT count(*) FROM scratch").get == 20
    monkeypatch.undo()
    writer.close()


# ── Refusing ──


@pytest.mark.parametrize("open_it", [open_for_writing, open_for_reading])
@pytest.mark.parametrize(
    "statements",
    [
        "CREATE TABLE photos (name); PRAGMA application_id = 1234",
        "CREATE TABLE photos (name)",  # most programs do not sign their files
        "CREATE TABLE photos (name); PRAGMA user_version = 1",
    ],
    ids=["signed", "unsigned", "with a version"],
)
def test_a_database_of_another_program_is_refused_and_not_touched(
    path: Path, statements: str, open_it: Callable[[Path], apsw.Connection]
) -> None:
    execute_outside(path, statements)
    before = files(path)
    with pytest.raises(StoreUnreachable, match=r"crawl\.db: .*another program.*Nothing was changed"):
        open_it(path).close()
    assert files(path) == before


@pytest.mark.parametrize("open_it", [open_for_writing, open_for_reading])
def test_a_newer_crawl_is_refused_and_not_touched(path: Path, open_it: Callable[[Path], apsw.Connection]) -> None:
    open_for_writing(path).close()
    execute_outside(path, f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    before = path.read_bytes()
    with pytest.raises(StoreUnreachable, match=rf"newer Orbweaver \(schema {SCHEMA_VERSION + 1}.*Nothing was changed"):
        open_it(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"not a database at all", b"SQLite format 3\0" + b"garbage" * 100])
@pytest.mark.parametrize("open_it", [open_for_writing, open_for_reading])
def test_a_file_that_is_no_database_is_refused_and_not_touched(
    path: Path, content: bytes, open_it: Callable[[Path], apsw.Connection]
) -> None:
    path.write_bytes(content)
    with pytest.raises(StoreUnreachable, match=r"damaged.*Nothing was changed"):
        open_it(path)
    assert files(path) == {path.name: content}


def test_damage_is_found_before_anything_is_written(path: Path) -> None:
    store = open_store(f"sqlite:{path}")
    store.urls.add([new_url(f"http://a.test/{n}") for n in range(2_000)], NOW)
    store.close()
    data = bytearray(path.read_bytes())
    data[8192:-4096] = b"\xa5" * (len(data) - 12288)
    path.write_bytes(data)
    with pytest.raises(StoreUnreachable, match=r"damaged.*Nothing was changed"):
        open_for_writing(path, check=True)
    assert path.read_bytes() == data


@pytest.mark.parametrize("content", [None, b""])
def test_a_missing_or_empty_file_cannot_be_read(path: Path, content: bytes | None) -> None:
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(StoreUnreachable, match="there is no crawl here"):
        open_for_reading(path).close()
    assert path.exists() == (content is not None)


def test_a_missing_directory_is_reported_as_disk_trouble(tmp_path: Path) -> None:
    with pytest.raises(DiskTrouble, match="cannot be read or written"):
        open_for_writing(tmp_path / "missing" / "crawl.db")


# ── Reading ──


def test_readers_see_committed_rows_and_cannot_write(path: Path, connection: apsw.Connection) -> None:
    reader = open_for_reading(path)
    connection.execute("INSERT INTO crawl VALUES ('x', 1)")
    assert reader.execute("SELECT value FROM crawl WHERE name = 'x'").get == 1
    for statement in ("INSERT INTO crawl VALUES ('y', 1)", "DELETE FROM crawl", "DROP TABLE crawl", "VACUUM"):
        with pytest.raises(apsw.ReadOnlyError):
            reader.execute(statement)
    reader.close()
    assert list(connection.execute("SELECT name FROM crawl")) == [("identity",), ("x",)]


def test_a_store_opened_for_reading_cannot_write(path: Path, connection: apsw.Connection) -> None:
    store = open_store(f"sqlite:{path}", read_only=True)
    with pytest.raises(CrawlError):
        store.urls.add([new_url(A)], NOW)
    assert store.crawl.account().known == 0
    store.close()


# ── Migrations ──

NEXT = SCHEMA_VERSION + 1
MIGRATIONS = {
    NEXT: "ALTER TABLE hosts ADD COLUMN colour TEXT NOT NULL DEFAULT 'red'; INSERT INTO crawl VALUES ('step', 1)",
    NEXT + 1: "CREATE TABLE extra (x); UPDATE crawl SET value = 2 WHERE name = 'step'",
}


def dump(connection: apsw.Connection) -> tuple[Any, ...]:
    """Version, schema and facts."""
    tables = connection.execute("SELECT name, sql FROM sqlite_schema ORDER BY name").fetchall()
    return connection.pragma("user_version"), tables, connection.execute("SELECT * FROM crawl").fetchall()


@pytest.mark.parametrize("version", [NEXT, NEXT + 1])
def test_an_older_crawl_is_migrated_and_backed_up(path: Path, connection: apsw.Connection, version: int) -> None:
    connection.execute("INSERT INTO crawl VALUES ('fact', 'yes')")
    before = dump(connection)
    create_or_migrate(connection, path, version=version, migrations=MIGRATIONS)
    assert connection.pragma("user_version") == version
    assert connection.execute("SELECT value FROM crawl WHERE name = 'step'").get == version - SCHEMA_VERSION
    assert connection.execute("SELECT value FROM crawl WHERE name = 'fact'").get == "yes"
    copy = open_for_reading(path.with_name(f"crawl.db.schema{SCHEMA_VERSION}"))
    assert dump(copy) == before
    assert copy.pragma("application_id") == APPLICATION_ID
    copy.close()
    create_or_migrate(connection, path, version=version, migrations={})  # nothing is left to migrate


@pytest.mark.parametrize(
    ("migrations", "error"),
    [
        (MIGRATIONS | {NEXT + 1: "INSERT INTO no_such_table VALUES (1)"}, apsw.SQLError),
        (MIGRATIONS | {NEXT + 1: "UPDATE crawl SET value = 3; SELECT nonsense("}, apsw.SQLError),
        ({NEXT: MIGRATIONS[NEXT]}, KeyError),
    ],
)
def test_a_migration_that_fails_changes_nothing(
    path: Path, connection: apsw.Connection, migrations: dict[int, str], error: type[Exception]
) -> None:
    connection.execute("INSERT INTO crawl VALUES ('fact', 'yes')")
    before = dump(connection)
    with pytest.raises(error):
        create_or_migrate(connection, path, version=NEXT + 1, migrations=migrations)
    assert dump(connection) == before
    assert not connection.in_transaction
    create_or_migrate(connection, path, version=NEXT + 1, migrations=MIGRATIONS)  # it can be repeated
    assert connection.pragma("user_version") == NEXT + 1


def test_readers_see_a_migration_all_at_once(path: Path, connection: apsw.Connection) -> None:
    reader = open_for_reading(path)
    before = dump(reader)
    seen = []

    def look(*_: object) -> None:
        seen.append(dump(reader))

    connection.create_scalar_function("look", look, 0)
    migrations = {NEXT: MIGRATIONS[NEXT] + "; SELECT look()", NEXT + 1: MIGRATIONS[NEXT + 1] + "; SELECT look()"}
    create_or_migrate(connection, path, version=NEXT + 1, migrations=migrations)
    assert seen == [before, before]
    assert dump(reader)[0] == NEXT + 1
    reader.close()


# ── The first version ──


def everything_in(path: Path, schema: str = "") -> dict[str, list[tuple[Any, ...]]]:
    """Table → rows of a file, to which a schema may be applied first."""
    connection = apsw.Connection(str(path))
    connection.execute(schema)
    names = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    rows = {name: connection.execute(f"SELECT * FROM {name}").fetchall() for name in names}
    # Migrations append columns, so columns are compared and not the text of the statements.
    rows["the schema"] = sorted(
        [
            *connection.execute("SELECT type, name, sql FROM sqlite_schema WHERE type <> 'table'").fetchall(),
            *((name, *column) for name in names for column in columns_of(connection, name)),
        ],
        key=str,
    )
    rows["the version"] = [(connection.pragma("user_version"), connection.pragma("application_id"))]
    connection.close()
    return rows


def columns_of(connection: apsw.Connection, table: str) -> list[tuple[Any, ...]]:
    columns = f"SELECT name, type, \"notnull\", dflt_value, pk FROM pragma_table_info('{table}')"
    return connection.execute(columns).fetchall()


def content_of(path: Path, table: str, like: Path) -> list[tuple[Any, ...]]:
    """The rows of a table, with the columns that it has in another file.

    Migrations compute levels and sources anew; the first version never filled validators.
    """
    connection = apsw.Connection(str(like))
    changed = {"level", "via_host", "via_rest", "etag", "last_modified", "asked"}
    names = [name for name, *_ in columns_of(connection, table) if name not in changed]
    connection.close()
    return columns_in(path, table, ", ".join(names))


def columns_in(path: Path, table: str, columns: str) -> list[tuple[Any, ...]]:
    connection = apsw.Connection(str(path))
    rows = sorted(connection.execute(f"SELECT {columns} FROM {table}").fetchall(), key=str)
    connection.close()
    return rows


def test_urls_of_a_level_are_loaded_by_step_and_then_by_due_time(path: Path) -> None:
    store = open_store(f"sqlite:{path}")
    acquire(store, "me", 0, NOW, 60, 60)
    urls = [f"http://a.test/{number}" for number in range(4)]
    for number, url in enumerate(urls):
        store.urls.add([new_url(url)], NOW - 10 + number)
    connection = apsw.Connection(str(path))
    connection.executemany("UPDATE urls SET step = ? WHERE url = ?", [(7, urls[0]), (1, urls[1]), (1, urls[2])])
    connection.close()
    (load,) = store.frontier.activate("me", NOW, 9, 3, ())
    assert [visit.url for visit in load.visits] == [urls[3], urls[1], urls[2]]
    assert [visit.url for visit in store.frontier.load(load.host, NOW, 9)] == [urls[3], urls[1], urls[2], urls[0]]
    store.close()


@pytest.fixture
def version_1(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    """The rows of a crawl of the first version, in a file at `path`."""
    store = open_store(f"sqlite:{path}")
    acquire(store, "me", 0, NOW, 60, 60)
    store.urls.add_seeds([new_url(A), new_url(B)], NOW)
    visits = [visit for load in store.frontier.activate("me", NOW, 9, 9, ()) for visit in load.visits]
    store.frontier.lease("me", visits, NOW)
    result = visited(visits[0], link("http://c.test/", "words", refused=Reason.OUT_OF_SCOPE), link("http://d.test/"))
    store.commits.commit([visit_result(result)], [], NOW)
    store.close()
    as_version_1(path)
    return everything_in(path)


def test_a_crawl_of_the_first_version_is_migrated_with_all_rows(
    path: Path, version_1: dict[str, list[tuple[Any, ...]]]
) -> None:
    assert version_1["the version"] == [(1, APPLICATION_ID)]
    assert "collisions" not in version_1
    open_for_writing(path, check=True).close()
    migrated = everything_in(path)
    assert migrated["the version"] == [(SCHEMA_VERSION, APPLICATION_ID)]
    assert migrated["the schema"] == everything_in(Path(":memory:"), TABLES)["the schema"]
    assert migrated["collisions"] == []
    assert migrated["reasons"] == [(reason.value, reason.name, reason.meaning) for reason in sorted(Reason)]
    assert len(version_1["reasons"]) < len(migrated["reasons"])
    filled = version_1.keys() - {"reasons", "the schema", "the version", "sketches"}  # which was never filled
    assert {"urls", "hosts", "seeds", "partitions", "crawl", "anchors"} <= filled
    copy = path.with_name("crawl.db.schema1")
    assert everything_in(copy) == version_1
    for name in filled - {"crawl"}:
        assert content_of(path, name, like=copy) == content_of(copy, name, like=copy)
    assert [row for row in migrated["crawl"] if row[0] != "identity"] == version_1["crawl"]
    sources = columns_in(path, "urls u LEFT JOIN urls v ON v.id = u.via", "u.url, v.url")
    ((source,),) = columns_in(path, "urls WHERE visits > 0", "url")
    assert dict(sources) == {A: None, B: None, "http://c.test/": source, "http://d.test/": source}
    assert {row[1]: row[2] for row in migrated["sites"]} == {"a.test": 1, "b.test": 1, "c.test": 0, "d.test": 0}
    levels = {A: 0, B: 0, "http://c.test/": 2, "http://d.test/": 2}  # each has an in-link
    assert dict(columns_in(path, "urls", "url, level")) == levels
    assert dict(columns_in(path, "hosts WHERE due IS NOT NULL", "name, level")) == {
        "a.test": 0,
        "b.test": 0,
        "d.test": 2,
    }


def test_urls_parked_by_the_first_version_can_be_reviewed(
    path: Path, version_1: dict[str, list[tuple[Any, ...]]]
) -> None:
    store = open_store(f"sqlite:{path}")
    assert store.crawl.facts().keys() == {"identity"}
    assert store.crawl.account().collisions == 0
    assert store.urls.review_scope(lambda url, depth: None, NOW) == ScopeReview(opened=1, closed=0)
    assert store.urls.add([new_url("http://c.test/double", key=key_of("http://c.test/"))], NOW) == 0
    assert store.urls.collisions(key_of("http://c.test/")) == ["http://c.test/double"]
    store.close()


def test_readers_name_the_command_that_migrates_and_change_nothing(
    path: Path, version_1: dict[str, list[tuple[Any, ...]]]
) -> None:
    before = path.read_bytes()
    message = rf"crawl\.db: .*older Orbweaver \(schema 1, now {SCHEMA_VERSION}\)\. `scrapy crawl web` brings it forward"
    with pytest.raises(StoreUnreachable, match=message):
        open_store(f"sqlite:{path}", read_only=True)
    assert path.read_bytes() == before
    assert not path.with_name("crawl.db.schema1").exists()


def test_the_table_of_reasons_is_updated_at_opening(path: Path) -> None:
    open_for_writing(path).close()
    execute_outside(path, "DELETE FROM reasons WHERE code > 90; UPDATE reasons SET meaning = 'old' WHERE code = 1")
    open_for_writing(path).close()
    expected = [(reason.value, reason.name, reason.meaning) for reason in sorted(Reason)]
    assert everything_in(path)["reasons"] == expected


# ── A review of the scope in several transactions ──

REVIEWED = [f"http://h{host}.test/{page}" for host in range(3) for page in range(4)]


@pytest.fixture
def parked(path: Path) -> Iterator[Store]:
    """A store with twelve URLs of three hosts, all parked by the scope."""
    store = open_store(f"sqlite:{path}")
    refused = Refusal(Reason.OUT_OF_SCOPE, "hosts")
    store.urls.add([new_url(url, reason=Reason.LINK, refused=refused, via=key_of(A)) for url in REVIEWED], NOW)
    yield store
    store.close()


def waiting_in(store: Store) -> set[str]:
    rows = [store.urls.find(key_of(url)) for url in REVIEWED]
    return {row.url for row in rows if row is not None and row.state is State.WAITING}


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 11, 12, 13])
def test_each_url_is_judged_once_whatever_the_size_of_a_transaction(
    size: int, parked: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scope, "_URLS_PER_REVIEW", size)
    judged: list[str] = []

    def judge(url: str, depth: int) -> Refusal | None:
        judged.append(url)
        return None if url.endswith(("1", "2")) else Refusal(Reason.EXCLUDED)

    assert parked.urls.review_scope(judge, NOW) == ScopeReview(opened=6, closed=0)
    assert sorted(judged) == REVIEWED
    assert waiting_in(parked) == {url for url in REVIEWED if url.endswith(("1", "2"))}
    assert parked.urls.review_scope(lambda url, depth: Refusal(Reason.EXCLUDED), NOW) == ScopeReview(opened=0, closed=6)
    judged.clear()
    assert parked.urls.review_scope(judge, NOW, "h1.test").opened == 2
    assert sorted(judged) == REVIEWED[4:8]


def test_a_review_that_was_interrupted_can_be_repeated(parked: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scope, "_URLS_PER_REVIEW", 5)
    judged: list[str] = []

    def judge(url: str, depth: int) -> Refusal | None:
        judged.append(url)
        if len(judged) == 8:
            raise KeyboardInterrupt
        return None

    with pytest.raises(KeyboardInterrupt):
        parked.urls.review_scope(judge, NOW)
    assert waiting_in(parked) == set(judged[:5])  # the second transaction was rolled back
    assert parked.urls.review_scope(judge, NOW) == ScopeReview(opened=7, closed=0)
    assert parked.urls.add([new_url(REVIEWED[0]), new_url("http://new.test/")], NOW) == 1
    account = parked.crawl.account()
    assert (account.known, account.waiting, account.parked) == (13, 13, 0)


# ── Several processes ──

SEED = """
import sys
from crawler.stores.open import open_store
from tests.samples import NOW, new_url
store = open_store("sqlite:" + sys.argv[1])
print("open", flush=True)
for n in range(200):
    assert store.urls.add_seeds([new_url(f"http://seeded.test/{n}")], NOW) == 1
store.close()
"""


def test_two_processes_may_write_at_once(path: Path) -> None:
    store = open_store(f"sqlite:{path}")
    acquire(store, "me", 0, NOW, 60, 60)
    store.urls.add([new_url(f"http://a.test/{n}") for n in range(200)], NOW)
    visits = store.frontier.lease("me", store.frontier.load(key_of(A).host, NOW, 200), NOW).granted
    assert len(visits) == 200
    with subprocess.Popen(
        [sys.executable, "-c", SEED, str(path)], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "open\n"
        for visit in visits:
            store.commits.commit([visit_result(visited(visit))], [], NOW)
        _, error = other.communicate()
    assert (other.returncode, error) == (0, "")
    account = store.crawl.account()
    assert (account.known, account.waiting, account.leased, account.parked) == (400, 400, 0, 0)
    assert len(list(store.urls.seeds())) == 200
    assert store.crawl.check() is None
    store.close()


def test_several_processes_may_create_a_crawl_at_once(path: Path) -> None:
    create = "import sys; from crawler.stores.open import open_store; open_store('sqlite:' + sys.argv[1]).close()"
    command = [sys.executable, "-c", create, str(path)]
    others = [subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True) for _ in range(4)]
    errors = [other.communicate()[1] for other in others]
    assert errors == [""] * 4
    connection = open_for_reading(path)
    assert connection.execute("SELECT count(*) FROM partitions").get == PARTITIONS
    connection.close()
