"""The index of `scrapy search` gets what the collection has that it has not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from crawler.commands.export import _Reading
from crawler.errors import BadInput
from crawler.export.documents import Deleted, Entry, Evidence, Exported
from crawler.export.sink import Checkpoint, read_checkpoint, write_checkpoint
from crawler.export.tantivy_index import CHECKPOINT, TantivyIndex
from crawler.options import Options
from crawler.stores.contract import Store
from crawler.stores.open import open_store

_SELECTION = "current documents that are no duplicates"


def bring_up_to_date(
    options: Options, directory: Path, *, full: bool = False, progress: Callable[[str, int, int], None]
) -> None:
    """Afterwards the index has every document that can be read, and none that is gone or says the same as another."""
    store = open_store(options.store, read_only=True)
    try:
        index = TantivyIndex(directory, full=full)
        try:
            _fill(index, store, options, directory / CHECKPOINT, progress)
        finally:
            index.close()
    finally:
        store.close()


def _fill(
    index: TantivyIndex, store: Store, options: Options, path: Path, progress: Callable[[str, int, int], None]
) -> None:
    crawl = str(options.directory.resolve())
    known = read_checkpoint(path)
    since = known.version if known is not None else None
    newest = store.version()
    if known is not None and (known.crawl != crawl or known.version > newest):
        raise BadInput(
            f"{path.parent}: this index is of the crawl in {known.crawl}, up to version {known.version}; this one has come to "
            f"{newest}. Nothing was changed; --full builds it anew."
        )

    def note(version: int) -> None:
        index.acknowledge()
        write_checkpoint(path, Checkpoint(crawl=crawl, to="search", selection=_SELECTION, version=version))

    last, noted = since or 0, since
    for number, entry in enumerate(_wanted(store, options, since), start=1):
        index.put(entry)
        last = entry.version
        progress("indexing", last - (since or 0), newest - (since or 0))
        if number % index.every == 0:
            note(last)
            noted = last
    if noted != last:
        note(last)


def _wanted(store: Store, options: Options, since: int | None) -> Iterator[Entry]:
    for entry in _Reading(store, options, since, with_blocks=True).entries():
        if isinstance(entry, Exported) and entry.duplicate_of is not None:
            target = entry.duplicate_of
            yield Deleted(
                version=entry.version, key=entry.key, url=entry.url, evidence=Evidence.DUPLICATE, target=target
            )
        else:
            yield entry
