"""The index of `scrapy search` gets what the collection has that it has not."""

from __future__ import annotations

from pathlib import Path

from crawler.collection.change_feed import FOLD, Selection
from crawler.collection.exporter import Exporter, Progress, target_of, tell_what_is_left
from crawler.options import Options
from crawler.stores.open import open_store

_SELECTION = Selection(duplicates=FOLD, blocks=True)


def bring_up_to_date(options: Options, directory: Path, *, full: bool = False, progress: Progress) -> int:
    """Afterwards the index has every document that can be read, and none that is gone or says the same as another.

    How many could not be.
    """
    tell_what_is_left(options)
    store = open_store(options.store, read_only=True)
    try:
        exporter = Exporter(store, options, _SELECTION, target_of("tantivy", str(directory), options, _SELECTION))
        exporter.run(progress, full=full)
    finally:
        store.close()
    return exporter.rejected
