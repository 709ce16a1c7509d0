"""Export what has changed to a target, and write a checkpoint each time its sink acknowledges."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from crawler.collection.change_feed import ChangeFeed, Selection
from crawler.collection.targets import ExportTarget
from crawler.errors import AlreadyRunning, BadInput, DiskTrouble, StoreUnreachable
from crawler.export.sink import Checkpoint, Sink, SinkDown, read_checkpoint, write_checkpoint
from crawler.files import sync_directory, sync_file
from crawler.items import ExportedDocument, RejectedDocument
from crawler.options import Options
from crawler.stores.contract.store import Store
from crawler.stores.open import open_store
from crawler.system import lock_file

_ALL_REFUSED = 20  # if a sink refuses this many documents, all of a batch, then the sink is at fault and not they

_SHOWN_EVERY = 50  # versions between two looks at the progress
Progress = Callable[[str, int, int], None]
Notify = Callable[[str], None]  # gets a sentence for the user


class Exporter:
    """Brings one target up to date."""

    def __init__(self, store: Store, options: Options, selection: Selection, target: ExportTarget) -> None:
        self._store = store
        self._target = target
        self._selection = selection
        self.feed = ChangeFeed(store, options, selection)
        self.version = 0  # up to which the target has everything
        self.rejected = 0
        self.feed.fail_on_missing_files = True

    def run(
        self,
        progress: Progress,
        *,
        full: bool = False,
        since: int | None = None,
        every: int = 0,
        notify: Notify = lambda sentence: None,
    ) -> None:
        """Export all changes after the checkpoint, after version `since` if it is given, or from the start if `full`.

        What an older version has filled in a way that cannot be continued is filled anew, from the start. The sink
        acknowledges after `every` entries; 0 = as often as it prefers.
        """
        with _hold_lock(self._target.lock_path):
            after = self._discard_checkpoint() if full else self._resume_version(since)
            if not full and since is None and self._target.is_outdated():
                notify(f"{self._target.spec}: an older version has filled it, so it is filled anew with everything.")
                after, full = self._discard_checkpoint(), True
            until = self._store.changes.version()
            self.version = after
            if until <= after and not full:
                return
            sink = self._target.open(after, full)
            try:
                self._export(sink, after, until, every or sink.acknowledge_every, progress)
            finally:
                sink.close()

    def _export(self, sink: Sink, after: int, until: int, every: int, progress: Progress) -> None:
        count, documents, last = 0, 0, after
        for entry in self.feed.increments(after, until):
            sink.put(entry)
            count, documents, last = count + 1, documents + isinstance(entry, ExportedDocument), entry.version
            if count == every:
                self._acknowledge(sink, last, documents)
                count = documents = 0
            if last % _SHOWN_EVERY == 0:
                progress("exporting", last - after, until - after)
        self._acknowledge(sink, until, documents)

    def _acknowledge(self, sink: Sink, version: int, documents: int) -> None:
        """Have the sink acknowledge, list what it refused, then write the checkpoint.

        In this order a kill cannot lose a refused document: it is listed before the checkpoint passes it.
        """
        refused = list(sink.acknowledge())
        if documents >= _ALL_REFUSED and len(refused) >= documents:
            raise SinkDown(
                f"{self._target.spec}: refuses every document ({refused[0].error}). All that it acknowledged before is "
                "noted; see to its schema, then export again."
            )
        refused += self.feed.unreadable
        self.feed.unreadable.clear()
        self.rejected += len(refused)
        if refused:
            _append_rejected(self._target.rejected_path, refused)
        write_checkpoint(self._target.checkpoint_path, self._checkpoint(version))
        self.version = version

    def _discard_checkpoint(self) -> int:
        """Remove the checkpoint, durably and before the target is changed; the export starts from version 0."""
        stored = self._stored_checkpoint()
        if (
            stored is not None
            and self._target.keeps_foreign_documents
            and stored.crawl != self._store.crawl.facts()["identity"]
        ):
            raise BadInput(
                f"{self._target.spec} has documents of another crawl, and would keep them. Nothing was exported; empty "
                f"it and remove {self._target.checkpoint_path}, or give another place."
            )
        try:
            self._target.checkpoint_path.unlink(missing_ok=True)
            if self._target.checkpoint_path.parent.is_dir():
                sync_directory(self._target.checkpoint_path.parent)
        except OSError as error:
            raise DiskTrouble(
                f"{self._target.checkpoint_path}: cannot be removed ({error.strerror}). Nothing was exported."
            ) from error
        return 0

    def _resume_version(self, since: int | None) -> int:
        """The version after which the export continues; `BadInput` if the target was filled by another export."""
        stored = self._stored_checkpoint()
        if stored is None:
            return since or 0
        current = self._checkpoint(stored.version)
        if stored.crawl != current.crawl or (stored.mark and stored.mark != current.mark):
            raise BadInput(
                f"{self._target.spec} has documents of another crawl, or of this one before it was set back. Nothing "
                "was exported; give another place, the CRAWL_DIR that they are from, or --full to begin anew."
            )
        if stored.selection != current.selection:
            raise BadInput(
                f"{self._target.spec} was filled with other options ({stored.selection}, now {current.selection}). "
                "Nothing was exported; give the same, another place, or --full to begin anew."
            )
        complete = self._target.complete_up_to(stored.version)
        if since is not None and (since > complete or (since < complete and self._target.is_ordered)):
            raise BadInput(
                f"--since {since}: {self._target.spec} has everything up to version {complete}. Nothing was exported; "
                "leave --since away, or give --full to begin anew."
            )
        return complete if since is None else since

    def _stored_checkpoint(self) -> Checkpoint | None:
        """The target's checkpoint; `BadInput` if it was written for another format."""
        stored = read_checkpoint(self._target.checkpoint_path)
        if stored is not None and stored.to.partition(":")[0] != self._target.spec.partition(":")[0]:
            raise BadInput(
                f"{self._target.checkpoint_path.parent} was filled by --to {stored.to}. Nothing was exported; give "
                "another place."
            )
        return stored

    def _checkpoint(self, version: int) -> Checkpoint:
        return Checkpoint(
            crawl=self._store.crawl.facts()["identity"],
            to=self._target.spec,
            selection=self._selection.to_json(),
            version=version,
            mark=self._store.changes.version_mark(version),
        )


def publish_pending_anchors(options: Options) -> None:
    """Publish changes of anchors that a killed crawl recorded, but did not write to the change feed."""
    store = open_store(options.store, read_only=True)
    try:
        has_pending = store.changes.has_pending_anchors()
    finally:
        store.close()
    if has_pending:
        with suppress(StoreUnreachable, DiskTrouble):  # without write access they are published by the next crawl
            store = open_store(options.store)
            try:
                store.changes.publish_anchors()
            finally:
                store.close()


@contextmanager
def _hold_lock(path: Path) -> Iterator[None]:
    """Hold the lock of a target: only one process at a time exports to it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("ab")
    except OSError as error:
        raise DiskTrouble(f"{path}: cannot be written ({error.strerror}). Nothing was exported.") from error
    with file:
        if not lock_file(file):
            raise AlreadyRunning(f"{path}: another export to the same place is running. Nothing was changed.")
        yield


def _append_rejected(path: Path, rejected: Sequence[RejectedDocument]) -> None:
    """List refused documents in the target's file, durably."""
    try:
        with path.open("ab") as file:
            file.writelines(msgspec.json.encode(one) + b"\n" for one in rejected)
            sync_file(file)
    except OSError as error:
        raise DiskTrouble(
            f"{path}: cannot be written ({error.strerror}). {len(rejected)} documents were refused and are not named "
            "there; they will be given again."
        ) from error
