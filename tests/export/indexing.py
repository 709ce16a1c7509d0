"""Index a generated feed from its checkpoint on, and print each acknowledged version.

python -m tests.export.indexing DIRECTORY VERSIONS URLS
"""

from __future__ import annotations

import sys
from pathlib import Path

from crawler.export.sink import Checkpoint, read_checkpoint, write_checkpoint
from crawler.search.index import CHECKPOINT, TantivyIndex
from tests.export.entries import feed

EVERY = 40


def main(directory: Path, versions: int, urls: int) -> None:
    start = read_checkpoint(directory / CHECKPOINT)
    index = TantivyIndex(directory)
    for entry in feed(versions, urls):
        if start is not None and entry.version <= start.version:
            continue
        index.put(entry)
        if entry.version % EVERY == 0 or entry.version == versions:
            index.acknowledge()
            print(entry.version, flush=True)
            checkpoint = Checkpoint(crawl="test", to="search", selection="all", version=entry.version)
            write_checkpoint(directory / CHECKPOINT, checkpoint)
    index.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
