"""The index of `scrapy search` gets what the collection has that it has not."""

from __future__ import annotations

from pathlib import Path

from crawler.exporting import Exporter, Progress, target_of
from crawler.feed import FOLD, Selection
from crawler.options import Options
from crawler.stores.open import open_store

_SELECTION = Selection(duplicates=FOLD, blocks=True)


def bring_up_to_date(options: Options, directory: Path, *, full: bool = False, progress: Progress) -> None:
    """Afterwards the index has every document that can be read, and none that is gone or says the same as another."""
    store = open_store(options.store, read_only=True)
    try:
        target = target_of("tantivy", str(directory), options, _SELECTION)
        Exporter(store, options, _SELECTION, target).run(progress, full=full)
    finally:
        store.close()
