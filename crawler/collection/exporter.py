"""Carry what has changed to a sink, and note how far it has come whenever it says that it has everything."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from crawler.collection.change_feed import FOLD, KEEP, ChangeFeed, Selection
from crawler.errors import AlreadyRunning, BadInput, DiskTrouble, StoreUnreachable
from crawler.export.directory import DirectorySink, last_version
from crawler.export.engines import ENGINES
from crawler.export.formats import DELETED, FORMATS, FileFormat
from crawler.export.http import without_password
from crawler.export.markdown import MarkdownSink
from crawler.export.opensearch import OpenSearchSink
from crawler.export.sink import Checkpoint, Sink, SinkDown, read_checkpoint, write_checkpoint
from crawler.export.solr import SolrSink
from crawler.export.vespa import VespaSink
from crawler.files import exclusive_lock, sync_directory, sync_file
from crawler.items import ExportedDocument, RejectedDocument
from crawler.options import Options
from crawler.search.index import TantivyIndex, has_index
from crawler.stores.contract.store import Store
from crawler.stores.open import open_store

CHECKPOINT = "checkpoint.json"  # in a directory that a sink keeps
WITH_BLOCKS = ("markdown", "tantivy", "trecweb")  # whose documents are made of them
NAMES = (*FORMATS, "markdown", "tantivy", *ENGINES)
_TELLING = 20  # documents that are not all bad by chance
_DOCUMENT = re.compile("[0-9a-f]{32}[.]md")
_PLAIN = re.compile(r"[^a-z0-9.-]+")

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportTarget:
    """A sink that has not been opened yet, and where is noted what it has."""

    written: str  # as in --to, without passwords
    notes: Path  # names of files about it, without a suffix
    checkpoint: Path
    open: Callable[[int, bool], Sink]  # after a version; whether it begins anew
    has: Callable[[int], int] = lambda noted: noted  # the version up to which it has everything, if so much is noted
    is_ordered: bool = False  # it is read in the order in which it is written, so nothing may come again later
    keeps_others: bool = False  # documents that are not of this crawl stay, whatever is exported

    @property
    def rejected(self) -> Path:
        """Where documents that it refuses are named."""
        return self.notes.with_name(f"{self.notes.name}.rejected.jsonl")

    @property
    def lock(self) -> Path:
        return self.notes.with_name(f"{self.notes.name}.lock")


def duplicates_of(name: str) -> str:
    """What becomes of duplicates unless somebody says so: searchers want one of each, whoever keeps a collection wants all."""
    return FOLD if name in ENGINES or name == "tantivy" else KEEP


def target_of(name: str, place: str, options: Options, selection: Selection) -> ExportTarget:
    """What `--to NAME:PLACE` means."""
    if name in ENGINES:
        engine, fields = ENGINES[name], selection.fields or None
        written = f"{name}:{without_password(place)}"
        notes = options.crawl.dir / "exports" / _file_name(written)
        return ExportTarget(
            written=written,
            notes=notes,
            checkpoint=notes.with_name(f"{notes.name}.json"),
            open=lambda after, anew: _engine(engine, place, fields, after),
            keeps_others=True,
        )
    if not place and name != "tantivy":
        raise BadInput(f"--to {name}: name a directory, such as {name}:documents. Nothing was exported.")
    directory = Path(place or options.crawl.dir / "search").absolute()
    written = f"{name}:{directory}"
    target = ExportTarget(
        written=written,
        notes=options.crawl.dir / "exports" / _file_name(written),
        checkpoint=directory / CHECKPOINT,
        open=lambda after, anew: _tree(directory) if anew else MarkdownSink(directory),
    )
    if name == "tantivy":
        return replace(
            target,
            open=lambda after, anew: TantivyIndex(directory, full=anew),
            has=lambda noted: noted if has_index(directory) else 0,
        )
    if name in FORMATS:
        form = FORMATS[name].keeping(selection.fields) if selection.fields else FORMATS[name]
        return replace(
            target,
            open=lambda after, anew: DirectorySink(directory, form, after) if after else _files(directory, form),
            is_ordered=True,
            # A kill may have come after a file had its name, and before that was noted.
            has=lambda noted: max(noted, last_version(directory, form.suffix) or 0),
        )
    return target


class Exporter:
    """Brings one target up to date."""

    def __init__(self, store: Store, options: Options, selection: Selection, target: ExportTarget) -> None:
        self._store = store
        self._target = target
        self._selection = selection
        self.feed = ChangeFeed(store, options, selection)
        self.version = 0  # up to which the target has everything
        self.rejected = 0
        self.feed.must_have_files = True

    def run(self, progress: Progress, *, full: bool = False, since: int | None = None, every: int = 0) -> None:
        """Everything that came after what it has; with `full` everything there is, with `since` what came after that version.

        The sink acknowledges after so many entries, or as often as it likes.
        """
        with _alone(self._target.lock):
            after = self._begin_anew() if full else self._after(since)
            until = self._store.changes.version()
            self.version = after
            if until <= after and not full:
                return
            sink = self._target.open(after, full)
            try:
                self._carry(sink, after, until, every or sink.every, progress)
            finally:
                sink.close()

    def _carry(self, sink: Sink, after: int, until: int, every: int, progress: Progress) -> None:
        count, documents, last = 0, 0, after
        for entry in self.feed.increments(after, until):
            sink.put(entry)
            count, documents, last = count + 1, documents + isinstance(entry, ExportedDocument), entry.version
            if count == every:
                self._settle(sink, last, documents)
                progress("exporting", last - after, until - after)
                count = documents = 0
        self._settle(sink, until, documents)

    def _settle(self, sink: Sink, version: int, documents: int) -> None:
        """Named before the checkpoint passes them, what is refused cannot be forgotten by a kill."""
        refused = list(sink.acknowledge())
        if documents >= _TELLING and len(refused) >= documents:
            raise SinkDown(
                f"{self._target.written}: refuses every document ({refused[0].error}). All that it acknowledged before is "
                "noted; see to its schema, then export again."
            )
        refused += self.feed.unreadable
        self.feed.unreadable.clear()
        self.rejected += len(refused)
        if refused:
            _append(self._target.rejected, refused)
        write_checkpoint(self._target.checkpoint, self._checkpoint(version))
        self.version = version

    def _begin_anew(self) -> int:
        """What the target has is not noted any more, before it is touched."""
        noted = self._noted()
        if noted is not None and self._target.keeps_others and noted.crawl != self._store.crawl.facts()["identity"]:
            raise BadInput(
                f"{self._target.written} has documents of another crawl, and would keep them. Nothing was exported; empty it "
                f"and remove {self._target.checkpoint}, or give another place."
            )
        try:
            self._target.checkpoint.unlink(missing_ok=True)
            if self._target.checkpoint.parent.is_dir():
                sync_directory(self._target.checkpoint.parent)
        except OSError as error:
            raise DiskTrouble(
                f"{self._target.checkpoint}: cannot be removed ({error.strerror}). Nothing was exported."
            ) from error
        return 0

    def _after(self, since: int | None) -> int:
        """The version up to which the target has everything, or an error if what it has is something else."""
        noted = self._noted()
        if noted is None:
            return since or 0
        now_so = self._checkpoint(noted.version)
        if noted.crawl != now_so.crawl or (noted.mark and noted.mark != now_so.mark):
            raise BadInput(
                f"{self._target.written} has documents of another crawl, or of this one before it was set back. Nothing was "
                "exported; give another place, the CRAWL_DIR that they are from, or --full to begin anew."
            )
        if noted.selection != now_so.selection:
            raise BadInput(
                f"{self._target.written} was filled with other options ({noted.selection}, now {now_so.selection}). Nothing "
                "was exported; give the same, another place, or --full to begin anew."
            )
        has = self._target.has(noted.version)
        if since is not None and (since > has or (since < has and self._target.is_ordered)):
            raise BadInput(
                f"--since {since}: {self._target.written} has everything up to version {has}. Nothing was exported; leave "
                "--since away, or give --full to begin anew."
            )
        return has if since is None else since

    def _noted(self) -> Checkpoint | None:
        noted = read_checkpoint(self._target.checkpoint)
        if noted is not None and noted.to.partition(":")[0] != self._target.written.partition(":")[0]:
            raise BadInput(
                f"{self._target.checkpoint.parent} was filled by --to {noted.to}. Nothing was exported; give another place."
            )
        return noted

    def _checkpoint(self, version: int) -> Checkpoint:
        return Checkpoint(
            crawl=self._store.crawl.facts()["identity"],
            to=self._target.written,
            selection=self._selection.written(),
            version=version,
            mark=self._store.changes.version_mark(version),
        )


def _tree(directory: Path) -> MarkdownSink:
    """Of Markdown; documents that were there may be of another crawl, and nobody would remove them."""
    try:
        for path in directory.glob("*/*.md"):
            if _DOCUMENT.fullmatch(path.name) and not path.parent.is_symlink():
                path.unlink()
    except OSError as error:
        raise DiskTrouble(f"{directory}: cannot be begun anew ({error.strerror}); some files may be gone.") from error
    return MarkdownSink(directory)


def tell_what_is_left(options: Options) -> None:
    """A crawl that was killed has left pages whose new anchors the feed has yet to tell of."""
    store = open_store(options.store, read_only=True)
    try:
        is_left = store.changes.has_pending_anchors()
    finally:
        store.close()
    if is_left:
        with suppress(StoreUnreachable, DiskTrouble):  # who may only read gets them when a crawl has run again
            store = open_store(options.store)
            try:
                store.changes.publish_anchors()
            finally:
                store.close()


def _engine(
    kind: type[OpenSearchSink | SolrSink | VespaSink], place: str, fields: Collection[str] | None, after: int
) -> Sink:
    engine = kind(place, sleep=time.sleep, fields=fields)
    if isinstance(engine, OpenSearchSink):
        engine.may_create = not after
    return engine


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """Only one process brings a target up to date."""
    try:
        lock.parent.mkdir(parents=True, exist_ok=True)
        file = lock.open("ab")
    except OSError as error:
        raise DiskTrouble(f"{lock}: cannot be written ({error.strerror}). Nothing was exported.") from error
    with file:
        if not exclusive_lock(file):
            raise AlreadyRunning(f"{lock}: another export to the same place is running. Nothing was changed.")
        yield


def _files(directory: Path, form: FileFormat) -> DirectorySink:
    """Of increments; what was there is of no use to who begins anew."""
    try:
        for suffix in (form.suffix, DELETED):
            for path in directory.glob(f"{'[0-9]' * 12}*-{'[0-9]' * 12}*.{suffix}"):
                path.unlink()
    except OSError as error:
        raise DiskTrouble(f"{directory}: cannot be begun anew ({error.strerror}); some files may be gone.") from error
    return DirectorySink(directory, form, 0)


def _append(path: Path, rejected: Sequence[RejectedDocument]) -> None:
    try:
        with path.open("ab") as file:
            file.writelines(msgspec.json.encode(one) + b"\n" for one in rejected)
            sync_file(file)
    except OSError as error:
        raise DiskTrouble(
            f"{path}: cannot be written ({error.strerror}). {len(rejected)} documents were refused and are not named there; "
            "they will be given again."
        ) from error


def _file_name(written: str) -> str:
    """One that a person knows again, and that no other place has."""
    return f"{_PLAIN.sub('-', written.lower())[:80]}-{hashlib.sha256(written.encode()).hexdigest()[:8]}"
