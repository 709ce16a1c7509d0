"""make prove-feed: ten crawls of a changing web, two hundred kills of the exporter, bulk items that fail.

Afterwards four indexes have exactly the documents of the collection.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.proofs.feed.consumers import JsonDirectory, ParquetDirectory, Tantivy, bulk_server
from tests.proofs.feed.proof import prove
from tests.proofs.feed.web import ChangingWeb


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.proofs.feed", description=__doc__)
    parser.add_argument("--crawls", type=int, default=10)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--failing", type=float, default=0.3, help="share of bulk items that fail")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    print(f"Seed {options.seed}", flush=True)
    web = ChangingWeb(hosts=6, pages=40, seed=options.seed)
    with tempfile.TemporaryDirectory() as name, bulk_server(failing=options.failing, seed=options.seed) as bulk:
        directory = Path(name)
        consumers = [
            JsonDirectory(directory / "jsonl"),
            ParquetDirectory(directory / "parquet"),
            Tantivy(directory / "index"),
            bulk,
        ]
        found = prove(web, consumers, directory, crawls=options.crawls, kills=options.kills, seed=options.seed)
    print(
        f"{found.crawls} crawls, {found.exports} exports of which {found.kills} were killed; {found.documents} "
        "documents at the end"
    )
    print(*found.wrong[:50], sep="\n")
    good = not found.wrong and found.kills >= options.kills
    print(
        "Proved" if good else "NOT PROVED",
        ": 0 missing, 0 stale, 0 twice" if good else f": {len(found.wrong)} differences",
        sep="",
    )
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
