"""How much faster is a crawl with a second worker?

`polite`: each worker has room for 500 of 2,000 hosts with a delay of 10 s: 50 pages a second for each worker. `busy`:
hosts with almost no delay, so that the CPU is the limit; what the workers report as their limit is printed. Rates are
measured by the server.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from functools import partial
from pathlib import Path

from benchmarks.polite import Result, Workload, crawl, ours
from benchmarks.polite_server import addresses_of

TIMES = 1.9  # required speed-up on a web that is limited by politeness
WINDOW = 500


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seconds", type=float, default=60.0, help="time of each crawl (%(default)s)")


def main(options: argparse.Namespace) -> int:
    hosts = addresses_of(2_000)
    seconds: float = options.seconds
    polite = Workload(name="polite", delays=dict.fromkeys(hosts, 10.0), seconds=seconds, steady=seconds / 2)
    busy = Workload(name="busy", delays=dict.fromkeys(hosts, 0.1), seconds=seconds / 2, steady=seconds / 4)
    rates: dict[tuple[str, int], float] = {}
    for work in (polite, busy):
        for workers in (1, 2):
            result, limits = _crawl(work, workers)
            rates[work.name, workers] = result.rate
            limited_by = "; ".join(limits)
            print(f"{work.name:6} {workers} worker(s): {result.rate:7.1f} pages/s; limited by {limited_by}", flush=True)
            if result.shortest < 0:
                print(f"FAIL  a request was sent {-result.shortest * 1000:.1f} ms too early")
                return 1
    print(f"      busy: {rates['busy', 2] / rates['busy', 1]:.2f} × with two workers")
    times = rates["polite", 2] / rates["polite", 1]
    print(f"{'pass' if times >= TIMES else 'FAIL'}  polite: {times:.2f} × with two workers, at least {TIMES} ×")
    return 0 if times >= TIMES else 1


def _crawl(work: Workload, workers: int) -> tuple[Result, list[str]]:
    window = {"FRONTIER_ACTIVE_HOSTS": WINDOW, "FRONTIER_MOST_HOSTS": WINDOW} if work.name == "polite" else {}
    with tempfile.TemporaryDirectory(prefix="orbweaver-") as name:
        directory = Path(name)
        summary = directory / "summary.json"

        def command(work: Workload, directory: Path, port: int) -> list[str]:
            words = partial(ours, **window)(work, directory, port)
            return [*words, "--workers", str(workers), "--summary", str(summary)]

        result = crawl(work, "ours", directory, command, None, None)
        limited = json.loads(summary.read_text())["limited_by"]
        return result, limited if isinstance(limited, list) else [limited]
