"""Make a store with a million known URLs, once; the next run uses it again.

The URLs are on the hosts of the web that is crawled, so that new URLs are inserted among them, and are due in 30 days.
"""

from __future__ import annotations

import hashlib
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.web import Web, page_path
from crawler.items import Reason
from crawler.stores.contract.urls import NewUrl
from crawler.stores.open import open_store
from crawler.stores.sqlite import schema
from crawler.urls.keys import key_of

DAYS = 30 * 86_400.0  # seconds until they are due
DEPTH = 3


def store_that_knows(count: int, web: Web) -> Path:
    """Return the path of a store to copy; its name is a hash of everything that determines its content."""
    made_of = f"{count} {web.hosts} {schema.SCHEMA_VERSION} {schema.TABLES}"
    directory = Path(tempfile.gettempdir()) / "orbweaver-benchmark"
    path = directory / f"known-{hashlib.sha256(made_of.encode()).hexdigest()[:12]}.db"
    if not path.exists() or time.time() - path.stat().st_mtime > DAYS / 2:
        directory.mkdir(exist_ok=True)
        unfinished = path.with_suffix(".unfinished")
        unfinished.unlink(missing_ok=True)
        _fill(unfinished, count, web)
        unfinished.rename(path)
    return path


def _fill(path: Path, count: int, web: Web) -> None:
    print(f"Making a store that knows {count:,} URLs; the next run finds it in {path.parent} …", flush=True)
    store = open_store(f"sqlite:{path}")
    try:
        store.urls.add(_urls(count, web), time.time() + DAYS)
    finally:
        store.close()


def _urls(count: int, web: Web) -> Iterator[NewUrl]:
    addresses = web.addresses()
    for number in range(count):
        url = f"http://{addresses[number % len(addresses)]}/known{page_path(number)}"
        yield NewUrl(key=key_of(url), url=url, reason=Reason.LINK, depth=DEPTH)
