"""Bring the index of `scrapy search` up to date with the collection."""

from __future__ import annotations

from pathlib import Path

from crawler.collection.change_feed import FOLD, Selection
from crawler.collection.exporter import Exporter, Notify, Progress, publish_pending_anchors
from crawler.collection.targets import make_target
from crawler.options import Options
from crawler.stores.open import open_store

_SELECTION = Selection(duplicates=FOLD, blocks=True)


def update_index(options: Options, directory: Path, *, full: bool = False, progress: Progress, notify: Notify) -> int:
    """Index every document that can be read, and remove those that were deleted or are duplicates.

    An index that an older version has built is built anew, and `notify` is told so. Returns how many documents could
    not be indexed.
    """
    publish_pending_anchors(options)
    store = open_store(options.store, read_only=True)
    try:
        exporter = Exporter(store, options, _SELECTION, make_target("tantivy", str(directory), options, _SELECTION))
        exporter.run(progress, full=full, notify=notify)
    finally:
        store.close()
    return exporter.rejected
