"""make prove-polite: run the proof at full size and print its figures."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from pathlib import Path

from tests.proofs.polite.judge import TIGHT
from tests.proofs.polite.proof import KILLS, Findings, Proof


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.proofs.polite", description=__doc__)
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--active", type=int, default=0, help="hosts that the crawl has in memory at once")
    parser.add_argument("--request-rate", action="store_true", help="some hosts ask for a Request-rate, and get it")
    parser.add_argument("--address-limit", type=int, default=0, help="requests at once to one address, at most")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="an empty folder for the log and the crawl, to look at afterwards")
    options = parser.parse_args()
    directory = Path(options.keep or tempfile.mkdtemp(prefix="polite-")).resolve()
    directory.mkdir(parents=True, exist_ok=True)
    given = {"active": options.active, "rates": options.request_rate, "workers": options.workers}
    proof = Proof(directory, options.requests, options.seed, **given)
    print(f"Seed {options.seed}: {options.requests} requests to {proof.world.hosts} hosts, {KILLS} kills", flush=True)
    try:
        findings = proof.run(time.monotonic() + 60 * options.minutes, options.address_limit)
    finally:
        if not options.keep:
            shutil.rmtree(directory)
    _report(findings)
    return 0 if findings.is_good else 1


def _report(findings: Findings) -> None:
    verdict = findings.verdict
    rate = findings.requests / findings.seconds
    print(f"{findings.requests} requests to {findings.hosts} hosts in {findings.seconds:.0f} s, {rate:.0f} a second")
    print(f"kills: {findings.kills}; clean stops between: {len(findings.stops) - findings.kills}")
    print(
        f"the server read a request at most {findings.latest * 1000:.0f} ms late, "
        f"99 of 100 {findings.late * 1000:.1f} ms"
    )
    print(f"{'rule':<16}{'gaps':>8}{'tight':>8}{'smallest margin':>17}{'violations':>12}")
    counts = verdict.counts
    for rule, margin in sorted(verdict.margins.items()):
        smallest = f"{margin.smallest * 1000:.3f} ms"
        print(f"{rule:<16}{margin.gaps:>8}{margin.tight:>8}{smallest:>17}{counts[rule]:>12}")
    for rule in (
        "one at a time",
        "one connection at a time",
        "robots.txt first",
        "forbidden",
        "wrong address",
        "address limit",
    ):
        print(f"{rule:<49}{counts[rule]:>12}")
    print(f"(tight: a gap less than {TIGHT * 1000:.0f} ms longer than required)")
    shared = sorted(verdict.at_once.items(), key=lambda item: -item[1])
    print("requests at once to one address, at most: " + ", ".join(f"{address} {most}" for address, most in shared[:6]))
    for rule in counts:
        for violation in [one for one in verdict.violations if one.rule == rule][:5]:
            print(f"  VIOLATION {violation}")
    for wrong in findings.wrong:
        print(f"  WRONG: {wrong}")
    print("Proved" if findings.is_good else "NOT PROVED")


if __name__ == "__main__":
    sys.exit(main())
