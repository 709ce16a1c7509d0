"""make prove-duplicates: two workers, killed twenty times, find the same clusters of copies as an undisturbed crawl."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.proofs.copies.proof import Findings, crawl
from tests.proofs.copies.web import Copies


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.proofs.copies", description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    web = Copies(hosts=9, pages=60, clusters=80, seed=options.seed)
    planted = web.clusters_of_copies()
    print(f"Seed {options.seed}: {web.hosts * web.pages} pages on {web.hosts} hosts, {len(planted)} clusters of copies")
    with tempfile.TemporaryDirectory() as name:
        calm = crawl(web, Path(name) / "calm", workers=options.workers)
        _report("undisturbed", calm, planted)
        killed = crawl(web, Path(name) / "killed", kills=options.kills, workers=options.workers, seed=options.seed)
        _report(f"{killed.kills} kills", killed, planted)
    good = killed.clusters == calm.clusters and killed.kills >= options.kills
    print("Proved" if good else "NOT PROVED", ": the same clusters with and without kills", sep="")
    return 0 if good else 1


def _report(name: str, found: Findings, planted: set[frozenset[str]]) -> None:
    print(
        f"{name}: {found.pages} pages, {len(found.clusters)} clusters, {len(found.clusters & planted)} of them as "
        f"planted; {found.templates} templates learned, {found.compared} pages compared by their texts",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
