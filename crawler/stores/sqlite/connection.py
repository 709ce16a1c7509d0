"""Open, create, migrate and check a database file; errors say in one sentence what to do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import apsw

from crawler.errors import CrawlError, DiskTrouble, NoCrawl, StoreUnreachable
from crawler.stores.contract.log import LARGEST_LOG
from crawler.stores.contract.partitions import PARTITIONS
from crawler.stores.sqlite import schema
from crawler.stores.sqlite.migrations import MIGRATIONS
from crawler.urls.hosts import host_of, registered_domain
from crawler.urls.keys import host_key

_MAGIC = b"SQLite format 3\0"
_BUSY_MS = 30_000  # another process of this crawl may be committing
# Pages of 4 kB after which the log is copied into the database. What others write until that is done must fit above it:
# `crawler.worker.committer` limits the URLs of their transactions, and `make bench-links` measures the whole.
_LOG_PAGES = 5_000
_LOG_GROWTH = 2_000  # pages by which a log grows that could not begin anew, until that is tried again
_FIRST, _AGAIN = 1.0, 0.1  # seconds that a checkpoint waits for readers and writers, at first and when that failed
_POLL = 0.001  # seconds between its tries: more often than those who wait to write, or it could wait in vain
# Concurrent writers could corrupt a write-ahead log in releases before this one.
_OLDEST_SAFE_SQLITE = 3_051_003

# SQL functions that migrations call.
_MIGRATION_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "host_of": host_of,
    "host_key": host_key,
    "site_of": lambda host: registered_domain(host) or host,
}


def open_for_writing(path: Path, *, check: bool = False, durable: bool = True) -> apsw.Connection:
    """Open a database file, which is created or migrated if necessary; `check` looks for damage first.

    A database that is not durable may be lost when the process stops, and no other process can read it.
    """
    if apsw.SQLITE_VERSION_NUMBER < _OLDEST_SAFE_SQLITE:
        raise StoreUnreachable(f"SQLite {apsw.sqlite_lib_version()} is too old for several writers; install apsw>=3.54")
    _refuse_foreign_file(path)
    with readable_errors(path):
        connection = apsw.Connection(str(path))
        try:
            # Closing must not write to the file before it was checked.
            connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            connection.set_busy_timeout(_BUSY_MS)
            refuse_newer(connection, path)
            if check:
                _refuse_damage(connection, path)
            if durable:
                connection.pragma("journal_mode", "wal")
                # A commit is acknowledged to others: it must survive a power cut.
                connection.pragma("synchronous", "full")
            else:
                connection.pragma("locking_mode", "exclusive")
                connection.pragma("journal_mode", "memory")
                connection.pragma("synchronous", "off")
            connection.pragma("foreign_keys", 1)
            # Without this, SQLite as built for apsw plans most statements again for each set of values, to use
            # statistics that do not exist.
            connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
            # With a million URLs, new links touch pages all over the index by key: this wants a larger cache.
            connection.pragma("cache_size", -64_000)
            connection.pragma("journal_size_limit", LARGEST_LOG)
            connection.set_wal_hook(_Checkpoints())
            create_or_migrate(connection, path)
            connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)
        except BaseException:
            connection.close()
            raise
    return connection


class _Checkpoints:
    """Copies the write-ahead log into the database, called after each commit, so that the log begins anew in time.

    A log that is copied more rarely costs less, because pages that change often are copied once: with a log of 256 MB,
    links are added to a million URLs 3 % faster than with one of 49. SQLite's own checkpoints let other processes go on
    writing, and then the log grows on: to 150 MB, with two writers and a limit of 49. So here writers wait, for 60 ms.
    With four writers that have no pause, a checkpoint that asks as rarely as SQLite does waited for up to 0.99 s.
    """

    def __init__(self) -> None:
        self._next = _LOG_PAGES  # the length of the log at which it is copied

    def __call__(self, connection: apsw.Connection, database: str, pages: int) -> int:
        if pages < _LOG_PAGES:
            self._next = _LOG_PAGES
        if pages >= self._next:
            connection.set_busy_handler(_Patience(_FIRST if self._next == _LOG_PAGES else _AGAIN))
            try:
                connection.wal_checkpoint(database, apsw.SQLITE_CHECKPOINT_RESTART)
                self._next = _LOG_PAGES
            except apsw.Error:
                # A process reads an old state of the database and needs the log, so it must grow. Or the disk has a
                # fault, which the next commit reports: this one is done.
                self._next = pages + _LOG_GROWTH
            finally:
                connection.set_busy_timeout(_BUSY_MS)
        return apsw.SQLITE_OK


class _Patience:
    """Waits for a lock for so many seconds; SQLite asks it whether to try again."""

    def __init__(self, seconds: float) -> None:
        self._end = monotonic() + seconds

    def __call__(self, tries: int) -> bool:
        sleep(_POLL)
        return monotonic() < self._end


def open_for_reading(path: Path) -> apsw.Connection:
    """Open a database file for reading; another process may be writing to it."""
    if not path.exists():
        raise NoCrawl(_no_crawl(path))
    _refuse_foreign_file(path)
    with readable_errors(path):
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            connection.set_busy_timeout(_BUSY_MS)
            connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            refuse_newer(connection, path)
            version = connection.pragma("user_version")
            if version == 0:
                raise NoCrawl(_no_crawl(path))
            if version < schema.SCHEMA_VERSION:
                raise StoreUnreachable(
                    f"{path}: this crawl was written by an older Orbweaver (schema {version}, now "
                    f"{schema.SCHEMA_VERSION}). `scrapy crawl web` brings it forward, and keeps a copy."
                )
            connection.pragma("query_only", 1)
        except BaseException:
            connection.close()
            raise
    return connection


def create_or_migrate(
    connection: apsw.Connection,
    path: Path,
    *,
    version: int = schema.SCHEMA_VERSION,
    migrations: Mapping[int, str] = MIGRATIONS,
) -> None:
    """Create the tables, or migrate them step by step in one transaction; a copy of the old file is kept beside it."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        found = connection.pragma("user_version")
        if found == 0:
            connection.execute(schema.TABLES)
            connection.executemany("INSERT INTO partitions (id) VALUES (?)", [(n,) for n in range(PARTITIONS)])
            connection.pragma("application_id", schema.APPLICATION_ID)
        elif found < version:
            _back_up(path, found)
            for name, function in _MIGRATION_FUNCTIONS.items():
                connection.create_scalar_function(name, function, 1, deterministic=True)
            for step in range(found, version):
                connection.execute(migrations[step + 1])
        if found != version:
            connection.pragma("user_version", version)
        if connection.execute("SELECT code, name, meaning FROM reasons").fetchall() != sorted(schema.REASONS):
            connection.executemany("INSERT OR REPLACE INTO reasons VALUES (?, ?, ?)", schema.REASONS)
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def refuse_newer(connection: apsw.Connection, path: Path) -> None:
    """Refuse a database of a newer Orbweaver, or of another program; it is not changed."""
    version = connection.pragma("user_version")
    if version > schema.SCHEMA_VERSION:
        raise StoreUnreachable(
            f"{path}: this crawl was written by a newer Orbweaver (schema {version}, this one knows up to "
            f"{schema.SCHEMA_VERSION}). Nothing was changed; use the newer version, or another CRAWL_DIR."
        )
    owner = connection.pragma("application_id")
    is_empty = owner == 0 and connection.execute("SELECT count(*) FROM sqlite_schema").get == 0
    if owner != schema.APPLICATION_ID and not is_empty:
        raise StoreUnreachable(f"{path}: a database of another program. Nothing was changed; use another CRAWL_DIR.")


@contextmanager
def readable_errors(path: Path) -> Iterator[None]:
    """Turn errors of SQLite into errors that say what to do."""
    try:
        yield
    except CrawlError:
        raise
    except (apsw.NotADBError, apsw.CorruptError) as error:
        raise StoreUnreachable(_damage(path, str(error))) from error
    except apsw.FullError as error:
        raise DiskTrouble(
            f"{path}: the disk is full. What was committed is kept; free some space and start the crawl again."
        ) from error
    except apsw.BusyError as error:
        raise StoreUnreachable(
            f"{path}: another program has held the database for {_BUSY_MS // 1000} s. Nothing was lost; end that "
            "program and start again."
        ) from error
    except (apsw.IOError, apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError) as error:
        raise DiskTrouble(
            f"{path}: cannot be read or written ({error}). What was committed is kept; check the disk and the "
            "directory's permissions, then start again."
        ) from error


def _refuse_foreign_file(path: Path) -> None:
    try:
        with path.open("rb") as file:
            start = file.read(len(_MAGIC))
    except FileNotFoundError:
        return
    except OSError as error:
        raise DiskTrouble(f"{path}: cannot be read ({error.strerror}); check the directory's permissions.") from error
    if start and start != _MAGIC:
        raise StoreUnreachable(_damage(path, "it is not an SQLite file"))


def _refuse_damage(connection: apsw.Connection, path: Path) -> None:
    answer = connection.execute("PRAGMA quick_check(1)").get
    if answer != "ok":
        raise StoreUnreachable(_damage(path, str(answer).splitlines()[-1]))


def _damage(path: Path, what: str) -> str:
    return (
        f"{path}: the store is damaged ({what}). Nothing was changed, and the WARC files beside it hold every "
        "document; restore the file from a backup, or move it away to start a new crawl."
    )


def _no_crawl(path: Path) -> str:
    return (
        f"{path}: there is no crawl here; `scrapy crawl web` with -a seeds=FILE-or-URLs and -s "
        f"CRAWL_DIR={path.parent} makes one, or `scrapy seed`"
    )


def _back_up(path: Path, version: int) -> None:
    """Copy the file. `VACUUM INTO` cannot run inside the migrating transaction, so a second connection does it."""
    copy = path.with_name(f"{path.name}.schema{version}")
    copy.unlink(missing_ok=True)
    reader = apsw.Connection(str(path))
    try:
        reader.execute("VACUUM INTO ?", (str(copy),))
    finally:
        reader.close()
