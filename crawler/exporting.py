"""Carry what has changed to a sink, and note how far it has come whenever it says that it has everything."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from crawler.errors import AlreadyRunning, BadInput, DiskTrouble
from crawler.export.directory import DirectorySink, last_version
from crawler.export.engines import ENGINES
from crawler.export.formats import DELETED, FORMATS, Format
from crawler.export.markdown import MarkdownSink
from crawler.export.sink import Checkpoint, Rejected, Sink, read_checkpoint, write_checkpoint
from crawler.export.tantivy_index import TantivyIndex
from crawler.feed import FOLD, KEEP, Feed, Selection
from crawler.options import Options
from crawler.stores.contract import Store

CHECKPOINT = "checkpoint.json"  # in a directory that a sink keeps
TREES = ("markdown", "tantivy")
NAMES = (*FORMATS, *TREES, *ENGINES)
_PLAIN = re.compile(r"[^a-z0-9.-]+")

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A sink that has not been opened yet, and where is noted what it has."""

    written: str  # as in --to, without passwords
    checkpoint: Path
    open: Callable[[int, bool], Sink]  # after a version; whether it begins anew
    last: Callable[[], int | None]  # the version up to which it has everything, if it can tell

    @property
    def rejected(self) -> Path:
        """Where documents that it refuses are named."""
        return self.checkpoint.with_suffix(".rejected.jsonl")


def duplicates_of(name: str) -> str:
    """What becomes of duplicates unless somebody says so: searchers want one of each, whoever keeps a collection wants all."""
    return FOLD if name in ENGINES or name == "tantivy" else KEEP


def target_of(name: str, place: str, options: Options, selection: Selection) -> Target:
    """What `--to NAME:PLACE` means."""
    if name in ENGINES:
        engine, fields = ENGINES[name], selection.fields or None
        written = f"{name}:{_without_password(place)}"
        return Target(
            written=written,
            checkpoint=options.directory / "exports" / f"{_file_name(written)}.json",
            open=lambda after, anew: engine(place, sleep=time.sleep, fields=fields),
            last=lambda: None,
        )
    directory = Path(place) if place else options.directory / "search"
    if name == "tantivy":
        opened: Callable[[int, bool], Sink] = lambda after, anew: TantivyIndex(directory, full=anew)
    elif name == "markdown":
        opened = lambda after, anew: MarkdownSink(directory)
    else:
        form = FORMATS[name].keeping(selection.fields) if selection.fields else FORMATS[name]
        opened = lambda after, anew: _files(directory, form) if anew else DirectorySink(directory, form, after)
    return Target(
        written=f"{name}:{directory}",
        checkpoint=directory / CHECKPOINT,
        open=opened,
        last=lambda: last_version(directory, FORMATS[name].suffix) if name in FORMATS else None,
    )


class Exporter:
    """Brings one target up to date."""

    def __init__(self, store: Store, options: Options, selection: Selection, target: Target) -> None:
        self._store = store
        self._target = target
        self._selection = selection
        self.feed = Feed(store, options, selection)
        self.version = 0  # up to which the target has everything
        self.rejected = 0
        self._letters = 0  # of what the archive does not have, that are written

    def run(self, progress: Progress, *, full: bool = False, since: int | None = None) -> None:
        """Everything that came after what it has; with `full` everything there is, with `since` what came after that version."""
        with _alone(self._target.checkpoint.with_suffix(".lock")):
            after = 0 if full else since if since is not None else self._after()
            until = self._store.version()
            self.version = after
            if until <= after and not full:
                return
            sink = self._target.open(after, full)
            try:
                self._carry(sink, after, until, progress)
            finally:
                sink.close()

    def _carry(self, sink: Sink, after: int, until: int, progress: Progress) -> None:
        count, last = 0, after
        for entry in self.feed.increments(after, until):
            sink.put(entry)
            count, last = count + 1, entry.version
            if count % sink.every == 0:
                self._settle(sink, last)
                progress("exporting", last - after, until - after)
        self._settle(sink, until)

    def _settle(self, sink: Sink, version: int) -> None:
        """Named before the checkpoint passes them, what is refused cannot be forgotten by a kill."""
        refused = [*sink.acknowledge(), *self.feed.unreadable[self._letters :]]
        self._letters = len(self.feed.unreadable)
        self.rejected += len(refused)
        if refused:
            _append(self._target.rejected, refused)
        write_checkpoint(self._target.checkpoint, self._checkpoint(version))
        self.version = version

    def _after(self) -> int:
        """The version up to which the target has everything, or an error if what it has is something else."""
        noted = read_checkpoint(self._target.checkpoint)
        if noted is None:
            return 0
        now_so = self._checkpoint(noted.version)
        if noted.crawl != now_so.crawl or noted.version > self._store.version():
            raise BadInput(
                f"{self._target.written} has documents of another crawl. Nothing was exported; give another place, the "
                "CRAWL_DIR that they are from, or --full to begin anew."
            )
        if noted.selection != now_so.selection:
            raise BadInput(
                f"{self._target.written} was filled with other options ({noted.selection}, now {now_so.selection}). Nothing "
                "was exported; give the same, another place, or --full to begin anew."
            )
        # A kill may have come after the files had their names, and before that was noted.
        return max(noted.version, self._target.last() or 0)

    def _checkpoint(self, version: int) -> Checkpoint:
        return Checkpoint(
            crawl=self._store.facts()["identity"],
            to=self._target.written,
            selection=self._selection.written(),
            version=version,
        )


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """Only one process brings a target up to date."""
    try:
        lock.parent.mkdir(parents=True, exist_ok=True)
        file = lock.open("ab")
    except OSError as error:
        raise DiskTrouble(f"{lock}: cannot be written ({error.strerror}). Nothing was exported.") from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise AlreadyRunning(f"{lock}: another export to the same place is running. Nothing was changed.") from error
        yield


def _files(directory: Path, form: Format) -> DirectorySink:
    """Of increments; what was there is of no use to who begins anew."""
    try:
        for suffix in (form.suffix, DELETED):
            for path in directory.glob(f"{'[0-9]' * 12}*-{'[0-9]' * 12}*.{suffix}"):
                path.unlink()
    except OSError as error:
        raise DiskTrouble(f"{directory}: cannot be begun anew ({error.strerror}); some files may be gone.") from error
    return DirectorySink(directory, form, 0)


def _append(path: Path, rejected: Sequence[Rejected]) -> None:
    try:
        with path.open("ab") as file:
            file.writelines(msgspec.json.encode(one) + b"\n" for one in rejected)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise DiskTrouble(
            f"{path}: cannot be written ({error.strerror}). {len(rejected)} documents were refused and are not named there; "
            "they will be given again."
        ) from error


def _without_password(place: str) -> str:
    parts = urlsplit(place)
    return place if "@" not in parts.netloc else parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def _file_name(written: str) -> str:
    """One that a person knows again, and that no other place has."""
    return f"{_PLAIN.sub('-', written.lower())[:80]}-{hashlib.sha256(written.encode()).hexdigest()[:8]}"
