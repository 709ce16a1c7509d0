"""make prove-workers: run the proof at full size and print its figures."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from pathlib import Path

from crawler.settings import CONTENT_PROCESSES
from tests.crawl.runner import polite_to, scrapy, seeds_file
from tests.proofs.kill.proof import CAP, FLOOR
from tests.proofs.workers.proof import GROUP, WorkersProof, documents
from tests.webgraph.server import Served


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.proofs.workers", description=__doc__)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--minutes", type=float, default=10, help="for which workers are killed and stopped")
    parser.add_argument("--pages", type=int, default=20_000)
    parser.add_argument("--hosts", type=int, default=200)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--alone", action="store_true", help="crawl the same web with one worker, too, and compare")
    parser.add_argument("--keep", type=Path, help="an empty folder in which log and crawl are kept")
    options = parser.parse_args()
    print(
        f"Seed {options.seed}: {options.pages} pages on {options.hosts} hosts, {options.workers} workers, killed and "
        f"stopped for {options.minutes:g} minutes",
        flush=True,
    )
    directory = Path(options.keep or tempfile.mkdtemp(prefix="workers-")).resolve()
    directory.mkdir(parents=True, exist_ok=True)
    web = {
        "seed": options.seed, "hosts": options.hosts, "pages": options.pages, "crawl_delay": 0.4, "shared_addresses": 3,
    }  # fmt: skip
    try:
        with Served(web, directory) as served:
            proof = WorkersProof(served, directory, options.workers)
            begun = time.monotonic()
            proof.run(60 * options.minutes, options.seed, begun + 60 * (options.minutes + 30))
            seconds = time.monotonic() - begun
            findings = proof.verify()
            proof.judge_servers()
        if options.alone:
            _compare(proof, web, directory)
    finally:
        if not options.keep:
            shutil.rmtree(directory)
    done = proof.interruptions
    print(
        f"{findings.requests} requests, {findings.pages} pages stored in {seconds:.0f} s; {done.kills} workers killed, "
        f"{done.stops} stopped ({done.took_over} of them until others had taken over); fetched again "
        f"{findings.refetched}, refused as late {sum(done.late.values())}; accounting read {findings.accounts} times"
    )
    for wrong in findings.wrong[:20]:
        print(f"  WRONG: {wrong}")
    print("NOT PROVED" if findings.wrong else "Proved")
    return 1 if findings.wrong else 0


def _compare(proof: WorkersProof, web: dict[str, object], directory: Path) -> None:
    """Check that one worker alone gives the same documents."""
    alone = directory / "alone"
    alone.mkdir()
    with Served(web, alone) as served:  # type: ignore[arg-type]
        seeds = seeds_file(served, alone)
        settings = polite_to(
            served, alone / "crawl", POLITENESS_MIN_DELAY=FLOOR, POLITENESS_LATENCY_FACTOR=2,
            POLITENESS_LATENCY_CAP=CAP, POLITENESS_GROUPS=GROUP, CRAWL_HORIZON=10, CONTENT_PROCESSES=CONTENT_PROCESSES,
        )  # fmt: skip
        ended = scrapy("crawl", "web", "-a", f"seeds={seeds}", timeout=3_600, **settings)
        proof.findings.expect(ended.returncode == 0, f"one worker alone ended with exit code {ended.returncode}")
        there = {url.replace(f":{served.web.port}", ""): digest for url, digest in documents(alone / "crawl").items()}
    port = f":{proof.served.web.port}"
    here = {url.replace(port, ""): digest for url, digest in documents(proof.directory).items()}
    proof.findings.expect(here.keys() == there.keys(), f"{len(here.keys() ^ there.keys())} documents differ")


if __name__ == "__main__":
    sys.exit(main())
