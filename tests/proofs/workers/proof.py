"""Crawl a generated web with several workers, kill one and stop one again and again, and judge the log.

A worker that is stopped (SIGSTOP) longer than its lease does not know at SIGCONT that others have taken over.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from collections import Counter, defaultdict
from contextlib import suppress
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import pairwise
from pathlib import Path

from tests.crawl.runner import ROOT, command, rows
from tests.proofs.kill.proof import BATCH, FLOOR, Proof
from tests.webgraph.log import Entry, gaps
from tests.webgraph.log import Rest as Required
from tests.webgraph.server import Served

LEASE = 3.0
LONGEST = 4.0  # seconds of a request, at most
AT_ONCE = 4  # visits to one address
NOTICED = 0.25  # seconds within which the server notices that a client has disconnected
GROUP = "h??1.*"  # hosts that count as one
PAUSE = (0.5, 2.5)  # seconds between two interruptions


@dataclass
class Interruptions:
    """The kills and stops of workers, and their effects."""

    kills: int = 0
    stops: int = 0
    took_over: int = 0  # stops after which other workers had the partitions of the stopped one
    late: dict[int, int] = field(default_factory=dict)  # visits whose commit was refused, by process
    pids: set[int] = field(default_factory=set)


class WorkersProof(Proof):
    """One crawl of one web by several workers."""

    def __init__(self, served: Served, directory: Path, workers: int, **settings: object) -> None:
        super().__init__(
            served, directory, PARTITION_LEASE=LEASE, FETCH_TIMEOUT=LONGEST, FETCH_FIRST_BYTE_TIMEOUT=2,
            POLITENESS_GROUPS=GROUP, **settings,
        )  # fmt: skip
        self.workers = workers
        self.interruptions = Interruptions()
        self.summary = directory / "summary.json"
        self.words = (*self.words, "--workers", str(workers), "--summary", str(self.summary))
        self._interrupted_at: list[float] = []  # times of kills and stops

    def run(self, seconds: float, seed: int, deadline: float) -> None:
        """Kill and stop workers for so long, then let the crawl end."""
        chance = random.Random(seed)
        given = command(*self.words, **self.settings)
        begun = time.monotonic()
        with self.accounting(), self.output.open("ab") as log:
            crawl = subprocess.Popen(given, cwd=ROOT, stdout=log, stderr=subprocess.STDOUT)
            try:
                while crawl.poll() is None and time.monotonic() < min(begun + seconds, deadline):
                    time.sleep(chance.uniform(*PAUSE))
                    self._interrupt(chance)
                while crawl.poll() is None and time.monotonic() < deadline:
                    time.sleep(0.5)
                    self._living()
                code = crawl.wait(timeout=1.0)
                self.findings.expect(code == 0, f"the crawl ended with exit code {code}; see {self.output}")
            except subprocess.TimeoutExpired:
                self.findings.wrong.append("the crawl did not end in time")
            finally:
                if crawl.poll() is None:
                    crawl.terminate()
                    with suppress(subprocess.TimeoutExpired):
                        crawl.wait(30)
                crawl.kill()
                crawl.wait()
                for pid in self.interruptions.pids:  # no worker outlives the proof
                    with suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
        self.restarts = sorted(self._interrupted_at)

    def _living(self) -> dict[int, int]:
        """Return the workers in the store: process → number of its partitions."""
        with suppress(Exception):
            found = rows(
                self.directory,
                "SELECT w.pid, (SELECT count(*) FROM partitions p WHERE p.owner = w.owner), w.late FROM workers w",
            )
            living = {int(str(pid)): int(str(count)) for pid, count, _ in found}
            self.interruptions.late |= {int(str(pid)): int(str(late)) for pid, _, late in found}
            self.interruptions.pids |= living.keys()
            return living
        return {}

    def _interrupt(self, chance: random.Random) -> None:
        busy = [pid for pid, partitions in self._living().items() if partitions]
        if len(busy) < 2:
            return
        killed, stopped = chance.sample(busy, 2)
        stopped_at = time.monotonic()
        with suppress(ProcessLookupError):
            os.kill(stopped, signal.SIGSTOP)
            self.interruptions.stops += 1
            self._interrupted_at.append(stopped_at)
        time.sleep(chance.uniform(0, LEASE))
        with suppress(ProcessLookupError):
            os.kill(killed, signal.SIGKILL)
            self.interruptions.kills += 1
            self._interrupted_at.append(time.monotonic())
        time.sleep(max(0.0, stopped_at + 2 * LEASE + LONGEST - time.monotonic()))
        self.interruptions.took_over += not self._living().get(stopped)
        with suppress(ProcessLookupError):
            os.kill(stopped, signal.SIGCONT)

    # ── judging ──

    def verify_refetches(self) -> None:
        """Check that after each kill or stop at most a batch and the visits in flight were fetched again."""
        findings, hosts = self.findings, len(self.served.web.addresses())
        seen: Counter[str] = Counter()
        for entry in self.served.log():
            if entry.is_complete and entry.status < 500:
                seen[entry.url] += 1
        findings.refetched = sum(count - 1 for count in seen.values())
        most = len(self._interrupted_at) * (BATCH + hosts)
        findings.expect(findings.refetched <= most, f"{findings.refetched} fetched again, at most {most} may be")

    def judge_servers(self) -> None:
        """Check the limits that several hosts share, over all workers: those of addresses and of a group."""
        log = sorted(self.served.log(), key=lambda entry: entry.t0)
        ends: defaultdict[str, list[float]] = defaultdict(list)
        for entry in log:
            busy = ends[entry.address]
            while busy and busy[0] <= entry.t0:
                heappop(busy)
            heappush(busy, entry.t1 - NOTICED if entry.aborted else entry.t1)
            if len(busy) > AT_ONCE:
                self.findings.wrong.append(f"{len(busy)} at once at {entry.address}: {entry.url}")
        group = [entry._replace(host="group") for entry in log if _is_in_group(entry.host)]
        early = gaps(group, lambda history, entry: Required(FLOOR, "floor of the group"))
        self.findings.wrong += [f"too early in the group: {violation}" for violation in early[:5]]
        self.findings.expect(
            len({entry.host for entry in log if _is_in_group(entry.host)}) > 1, "the group is no group"
        )

    @property
    def gaps_in_group(self) -> list[float]:
        log = sorted((entry for entry in self.served.log() if _is_in_group(entry.host)), key=lambda entry: entry.t0)
        return [later.t0 - earlier.t1 for earlier, later in pairwise(log)]


def _is_in_group(host: str) -> bool:
    return host.partition(".")[0].endswith("1")


def documents(directory: Path) -> dict[str, str]:
    """Return the pages in the store and their digests."""
    found = rows(
        directory,
        "SELECT u.url, hex(d.body_digest) FROM documents d JOIN urls u ON u.host = d.host AND u.rest = d.rest "
        "WHERE d.status = 200 AND d.kind = 0 AND d.reason = 20",
    )
    return {str(url): str(digest) for url, digest in found}


__all__ = ["LEASE", "Entry", "WorkersProof", "documents"]
