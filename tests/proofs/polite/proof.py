"""Crawls the world with a process that is killed several times, and judges the server's log."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.crawl.runner import ROOT, command, kill_all
from tests.proofs.polite.judge import PolitenessLimits, Stop, Verdict, judge
from tests.proofs.polite.log import read_log, steady_clock
from tests.proofs.polite.world import World

FLOOR, FACTOR = 0.1, 2.0
CAP = 3.0  # seconds that a host rests at most because its last answer was slow
FIRST_BYTE = 1.5  # seconds that the crawl waits for an answer to begin: less than a host stalls
KILLS = 3
FIRST_REQUEST_TIMEOUT = 30.0  # seconds within which a crawl must have sent a request
LONGEST_STOP = 25.0  # after SIGTERM


@dataclass
class Findings:
    """The results of a crawl."""

    verdict: Verdict
    requests: int
    hosts: int
    seconds: float
    kills: int
    stops: list[Stop]
    late: float = 0.0  # how late the server's loop was, in 99 of 100 cases
    latest: float = 0.0  # and at most
    wrong: list[str] = field(default_factory=list)

    @property
    def is_good(self) -> bool:
        return not self.verdict.violations and not self.wrong


class Proof:
    """One crawl of one world, of so many requests."""

    def __init__(
        self, directory: Path, requests: int, seed: int, *, active: int = 0, rates: bool = False, workers: int = 1
    ) -> None:
        hosts = min(4000, max(100, requests // 25))
        self.world = World(seed, hosts, int(requests * 1.3), rates=rates)
        self.requests = requests
        self.workers = workers
        self.log = directory / "access.tsv"
        self.output = directory / "output.txt"
        self._directory = directory
        self._active = active or 2 * self.world.large
        self._chance = random.Random(seed)
        self._now = steady_clock()
        self._stops: list[Stop] = []
        self._wrong: list[str] = []
        self._requests_seen = self._bytes_read = 0
        self._process: subprocess.Popen[bytes] | None = None

    def run(self, deadline: float, address_limit: int = 0) -> Findings:
        """Crawl until the server has received enough requests, with stops and restarts; then judge the log."""
        with self._serving() as late:
            begun = time.monotonic()
            try:
                for count, is_kill in [*self._stop_points(), (self.requests, False)]:
                    self._crawl_until(count, deadline)
                    self._stop(is_kill=is_kill)
                    if self._wrong:
                        break
            finally:
                if self._process is not None and self._process.poll() is None:
                    kill_all(self._process)
                    self._process.wait()
            seconds = time.monotonic() - begun
        return self._findings(seconds, address_limit, **late)

    def _stop_points(self) -> list[tuple[int, bool]]:
        """Return how many requests are made before each stop, and whether it is a kill; one in the middle is not."""
        shares = sorted(self._chance.uniform(0.15 + 0.2 * part, 0.3 + 0.2 * part) for part in range(KILLS + 1))
        clean = self._chance.randrange(1, KILLS)
        return [(int(share * self.requests), number != clean) for number, share in enumerate(shares)]

    # ── the crawl ──

    def _crawl_until(self, count: int, deadline: float) -> None:
        """Start the crawl and let it run until the server has received so many requests."""
        with self.output.open("ab") as output:
            if self._stops:
                self._stops[-1] = self._stops[-1]._replace(restarted=self._now())
            self._process = subprocess.Popen(self._command(), cwd=ROOT, stdout=output, stderr=subprocess.STDOUT)
        before, started = self._count(), time.monotonic()
        while self._count() < count:
            time.sleep(0.05)
            if self._requests_seen == before and time.monotonic() > started + FIRST_REQUEST_TIMEOUT:
                deadline = 0.0
            if self._process.poll() is not None:
                self._wrong.append(f"the crawl ended by itself after {self._count()} requests; see {self.output}")
                return
            if time.monotonic() > deadline:
                self._wrong.append(f"time was up after {self._count()} requests")
                return
        time.sleep(self._chance.random() if count < self.requests else 0.0)

    def _stop(self, *, is_kill: bool) -> None:
        assert self._process
        at = self._now()
        if is_kill:
            kill_all(self._process)
        else:
            self._process.terminate()
        try:
            code = self._process.wait(LONGEST_STOP)
        except subprocess.TimeoutExpired:
            kill_all(self._process)
            code = self._process.wait()
        if code != (-signal.SIGKILL if is_kill else 0) and not self._wrong:
            self._wrong.append(f"the crawl ended with exit code {code}; see {self.output}")
        self._stops.append(Stop(at, float("inf"), is_clean=not is_kill))

    def _command(self) -> list[str]:
        seeds = self._directory / "seeds.txt"
        return command(
            "crawl",
            "web",
            "-a",
            f"seeds={seeds}",
            *("--workers", str(self.workers)),
            CRAWL_DIR=self._directory / "crawl",
            OWN_HOSTS="*.test",
            INTRANET_HOSTS="*.test",
            INTRANET_NETWORKS="127.0.0.0/8",
            URL_PORTS=f"{self.world.port},{self.world.second_port}",
            DNS_HOSTS=self._directory / "hosts",
            POLITENESS_MIN_DELAY=FLOOR,
            POLITENESS_LATENCY_FACTOR=FACTOR,
            POLITENESS_LATENCY_CAP=CAP,
            FETCH_FIRST_BYTE_TIMEOUT=FIRST_BYTE,
            FRONTIER_ACTIVE_HOSTS=self._active,
            RETRY_DELAY=0.3,
            ROBOTS_RETRY_DELAY=1,
            CRAWL_HORIZON=15,
            LOG_LEVEL="WARNING",
        )

    # ── the server ──

    @contextmanager
    def _serving(self) -> Iterator[dict[str, float]]:
        """Serve the world; yield a dict that has the server's figures once it has ended."""
        world, late = self.world, dict[str, float]()
        options = [f"--seed={world.seed}", f"--hosts={world.hosts}", f"--pages={world.pages}", f"--log={self.log}"]
        options += ["--rates"] if world.rates else []
        given = [sys.executable, "-m", "tests.proofs.polite.server", *options]
        with subprocess.Popen(given, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
            assert server.stdin
            assert server.stdout
            try:
                self.world = replace(world, **json.loads(server.stdout.readline()))
                (self._directory / "hosts").write_text(self.world.hosts_file())
                (self._directory / "seeds.txt").write_text("\n".join(self.world.seeds()) + "\n")
                yield late
                server.stdin.close()
                late |= json.loads(server.stdout.readline())
                server.wait(10)
            finally:
                if server.poll() is None:
                    server.kill()

    def _count(self) -> int:
        """Return the number of requests that the server has logged."""
        with self.log.open("rb") as log:
            log.seek(self._bytes_read)
            new = log.read()
        self._bytes_read += len(new)
        self._requests_seen += new.count(b"\n")
        return self._requests_seen

    def _findings(self, seconds: float, address_limit: int, late: float = 0.0, latest: float = 0.0) -> Findings:
        log = read_log(self.log)
        stops = self._stops[:-1]
        (self._directory / "stops.json").write_text(json.dumps(stops))
        limits = PolitenessLimits(floor=FLOOR, factor=FACTOR, cap=CAP, address_limit=address_limit)
        return Findings(
            verdict=judge(log, self.world, limits, stops),
            requests=len(log),
            hosts=len({entry.host for entry in log}),
            seconds=seconds,
            kills=sum(not stop.is_clean for stop in stops),
            stops=stops,
            late=late,
            latest=latest,
            wrong=self._wrong,
        )
