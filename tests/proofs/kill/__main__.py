"""make prove-kill: run the proof at full size and print its figures."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from crawler.worker.committer import STEPS
from tests.proofs.kill.proof import CRAWL_DELAY, MEMORY, Findings, Proof
from tests.webgraph.server import Served


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.proofs.kill", description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--pages", type=int, default=1500)
    parser.add_argument("--hosts", type=int, default=30)
    parser.add_argument("--longest", type=float, default=3.0, help="seconds of crawling before a kill, at most")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--minutes", type=float, default=40)
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    print(
        f"Seed {options.seed}: {options.pages} pages on {options.hosts} hosts, {options.kills} kills at random moments"
    )
    deadline = time.monotonic() + options.minutes * 60
    good, kills, crawl = True, 0, 0
    while kills < options.kills and good and time.monotonic() < deadline:
        crawl += 1
        findings = _at_random(options, options.kills - kills, options.seed + crawl, deadline)
        kills += findings.kills
        good = _report(f"crawl {crawl}", findings)
    good = good and kills >= options.kills
    for step in STEPS if options.workers == 1 else ():
        good = good and _report(f"killed {step}", _in_step(step, options.seed, deadline))
    steps = ", and each step of the commit" if options.workers == 1 else f" of {options.workers} workers at once"
    print(f"{'Proved' if good else 'NOT PROVED'}: {kills} kills at random moments{steps}")
    return 0 if good else 1


def _at_random(options: argparse.Namespace, kills: int, seed: int, deadline: float) -> Findings:
    web = {"seed": seed, "hosts": options.hosts, "pages": options.pages, "crawl_delay": CRAWL_DELAY}
    with tempfile.TemporaryDirectory() as name, Served(web, Path(name)) as served:
        proof = Proof(served, Path(name), WARC_SEGMENT_BYTES=300_000)
        if options.workers > 1:
            proof.words = (*proof.words, "--workers", str(options.workers))
        proof.run_killed_at_random(kills, options.longest, seed, deadline)
        return proof.verify()


def _in_step(step: str, seed: int, deadline: float) -> Findings:
    web = {"seed": seed, "hosts": 8, "pages": 120, "crawl_delay": CRAWL_DELAY}
    with tempfile.TemporaryDirectory() as name, Served(web, Path(name)) as served:
        proof = Proof(served, Path(name), WARC_SEGMENT_BYTES=30_000)
        proof.run_killed_in(step, [1, 2, 3, 5, 8], deadline)
        findings = proof.verify()
    findings.expect(findings.kills >= 2, f"the step was reached only {findings.kills} times")
    return findings


def _report(what: str, findings: Findings) -> bool:
    findings.expect(findings.memory <= MEMORY, f"{findings.memory / 1e6:.0f} MB resident")
    findings.expect(findings.first_request <= 3, f"{findings.first_request:.1f} s to the first request")
    print(
        f"{what}: {findings.kills} kills, {findings.runs} runs, {findings.requests} requests, "
        f"{findings.pages} pages stored; fetched again {findings.refetched} (at most {findings.worst_refetch} after a "
        f"kill); accounting read {findings.accounts} times; {findings.memory / 1e6:.0f} MB at most, first request "
        f"after {findings.first_request:.1f} s",
        flush=True,
    )
    for wrong in findings.wrong[:20]:
        print(f"  WRONG: {wrong}")
    return not findings.wrong


if __name__ == "__main__":
    sys.exit(main())
