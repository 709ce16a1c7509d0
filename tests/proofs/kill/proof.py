"""Crawl a generated web with a process that is killed again and again, then compare the result with the truth.

The truth is the generator (all pages and their bytes) and the server's access log (all requests and their times); the
crawl's own figures count only where they are compared with these.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import apsw

from crawler.frontier.frontier import SOLO_AFTER_CRASHES
from crawler.settings import CONTENT_PROCESSES
from tests.crawl.runner import ROOT, command, kill_all, polite_to, rows, seeds_file
from tests.proofs.kill import archive
from tests.webgraph.log import forbidden_hits, gaps, missing_pages, politeness, robots_first
from tests.webgraph.server import Served

FLOOR = 0.15  # seconds between two visits of a host, at least
CAP = 1.0  # seconds of delay because of a slow answer, at most
CRAWL_DELAY = 1.2  # seconds, of some hosts: longer than a restart takes, so that a delay across a kill proves something
BATCH = 100  # visits of a commit, at most
MEMORY = 200 * 1024 * 1024
OPEN = "(state <> 2 OR kind = 1)"  # not parked; a robots.txt is parked between its visits
SOLO_TIMEOUT = 20.0  # seconds that a kill waits at most for visits to URLs that are visited alone


@dataclass
class Findings:
    """The faults found, and the figures of the proof."""

    wrong: list[str] = field(default_factory=list)
    kills: int = 0
    runs: int = 0
    requests: int = 0
    pages: int = 0
    refetched: int = 0
    worst_refetch: int = 0  # after one kill
    accounts: int = 0  # readings of the accounting identity
    memory: int = 0
    first_request: float = 0.0

    def expect(self, good: bool, what: str) -> None:
        if not good:
            self.wrong.append(what)


class Proof:
    """One crawl of one web, with kills."""

    def __init__(self, served: Served, directory: Path, **settings: object) -> None:
        self.served = served
        self.directory = directory / "crawl"
        self.output = directory / "output.txt"
        seeds = seeds_file(served, directory)
        given: dict[str, object] = {
            "POLITENESS_MIN_DELAY": FLOOR,
            "POLITENESS_LATENCY_FACTOR": 2,
            "POLITENESS_LATENCY_CAP": CAP,
            "CRAWL_HORIZON": 10,
            "CONTENT_PROCESSES": CONTENT_PROCESSES,
        }
        self.settings = polite_to(served, self.directory, **given | settings)
        self.words = ("crawl", "web", "-a", f"seeds={seeds}")
        self.program: list[str] = []  # run instead of `scrapy`: a faulty Orbweaver, to test the proof
        self.findings = Findings()
        self.restarts: list[float] = []
        self._checked: set[str] = set()

    # ── running and killing ──

    def run_killed_at_random(self, kills: int, longest: float, seed: int, deadline: float) -> None:
        """Kill runs at random moments, then let a run finish."""
        chance = random.Random(seed)
        with self.accounting():
            while self.findings.kills < kills and time.monotonic() < deadline:
                # One kill in eight while the process starts; the others when it has begun to crawl.
                after = longest * chance.random() if chance.random() < 0.875 else None
                if self._run(partial(self._sleep, 0.9 * chance.random(), after)):
                    break
                self.findings.kills += 1
            self._finish(deadline)

    def run_killed_in(self, step: str, times: list[int], deadline: float) -> None:
        """Kill runs inside one step of a commit, each when it has reached it so many times; let the last one finish."""
        self.run_killed_at([(step, count) for count in times], deadline)

    def run_killed_at(self, moments: Sequence[tuple[str, int]], deadline: float) -> None:
        """Kill one run at each moment (step of a commit, how many times reached), then let a run finish."""
        self.settings["COMMIT_STEP_HOOK"] = "tests.proofs.kill.hook:step"
        with self.accounting():
            for step, count in moments:
                if self._run(lambda: False, KILL_AT=f"{step}:{count}"):
                    break
                self.findings.kills += 1
            self._finish(deadline)

    def _run(self, killed: Callable[[], bool], **environment: str) -> bool:
        """Start a run and wait for its end; True if it ended by itself with exit code 0."""
        process = self._start(environment)
        watcher = threading.Thread(target=self._watch, args=(process,))
        watcher.start()
        try:
            if killed():
                kill_all(process)
            code = process.wait(timeout=180)
        finally:
            if process.poll() is None:
                kill_all(process)
            process.wait()
            watcher.join()
        if code == 0:
            return True
        self.restarts.append(time.monotonic())
        self.findings.expect(code == -9, f"a run ended by itself with exit code {code}; see {self.output}")
        return False

    def _start(self, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
        self.findings.runs += 1
        self._crawling = threading.Event()
        given = command(*self.words, **self.settings)
        full = [given[0], *self.program, *given[3:]] if self.program else given
        with self.output.open("ab") as log:
            started, logged = time.monotonic(), len(self.served.log())
            self._begun = (started, logged)
            return subprocess.Popen(full, cwd=ROOT, env=os.environ | environment, stdout=log, stderr=subprocess.STDOUT)

    def _sleep(self, before: float, after: float | None) -> bool:
        """Wait for the moment of the kill; always True."""
        if after is None:
            time.sleep(before)
        else:
            self._crawling.wait(30)
            time.sleep(after)
        deadline = time.monotonic() + SOLO_TIMEOUT
        while self._has_solo_urls() and time.monotonic() < deadline:
            time.sleep(0.02)
        return True

    def _has_solo_urls(self) -> bool:
        """Whether URLs met so many kills that they are visited alone, where a further kill would rightly park them."""
        if not (self.directory / "crawl.db").exists():
            return False
        with suppress(apsw.SQLError):  # the tables do not exist yet
            return bool(rows(self.directory, f"SELECT 1 FROM urls WHERE crashes >= {SOLO_AFTER_CRASHES} AND {OPEN}"))
        return False

    def _watch(self, process: subprocess.Popen[bytes]) -> None:
        """Watch a run: check its archive once it has recovered, and measure its memory."""
        lock = self.directory / "workers" / "0.lock"
        checked = False
        while process.poll() is None:
            if not checked:
                with suppress(OSError, ValueError, KeyError, apsw.Error):
                    checked = self._has_workers() or json.loads(lock.read_text())["pid"] == process.pid
                if checked:
                    try:
                        self._check_files()
                    except Exception as error:  # an exception in this thread would be lost
                        self.findings.wrong.append(f"the files could not be checked: {error!r}")
                    self._crawling.set()
            self._measure(process.pid)
            time.sleep(0.02)
        self._crawling.set()

    def _has_workers(self) -> bool:
        """Whether all workers in the store are alive; then those of the killed run have been recovered."""
        has_store = "--workers" in self.words and (self.directory / "crawl.db").exists()
        pids = rows(self.directory, "SELECT pid FROM workers") if has_store else []
        return bool(pids) and all(Path(f"/proc/{pid}").exists() for (pid,) in pids)

    def _measure(self, pid: int) -> None:
        with suppress(OSError):
            for line in Path(f"/proc/{pid}/status").read_text().splitlines():
                if line.startswith("VmHWM:"):
                    self.findings.memory = max(self.findings.memory, int(line.split()[1]) * 1024)
        if not self.findings.first_request:
            started, logged = self._begun
            log = self.served.log()
            if len(log) > logged:
                self.findings.first_request = log[logged].t0 - started

    def _finish(self, deadline: float) -> None:
        while not self._run(lambda: False):
            if time.monotonic() > deadline or self.findings.wrong:
                self.findings.wrong.append("the crawl did not finish")
                return

    @contextmanager
    def accounting(self) -> Iterator[None]:
        """Check from outside, four times a second, that known = waiting + leased + parked."""
        stop = threading.Event()

        def read() -> None:
            while not stop.wait(0.25):
                if not (self.directory / "crawl.db").exists():
                    continue
                with suppress(apsw.SQLError):  # the tables do not exist yet
                    ((known, waiting, leased, parked),) = rows(self.directory, "SELECT * FROM accounting")
                    self.findings.accounts += 1
                    if known != waiting + leased + parked:  # type: ignore[operator]
                        self.findings.wrong.append(f"{known} known, but {waiting} + {leased} + {parked}")

        reader = threading.Thread(target=read)
        reader.start()
        try:
            yield
        finally:
            stop.set()
            reader.join()

    # ── checking ──

    def _check_files(self) -> None:
        """Check that closed files are intact and have the records that the store has."""
        new = [name for name in archive.closed_files(self.directory) if name not in self._checked]
        self.findings.wrong += archive.miscounted_files(self.directory, new)
        self.findings.wrong += archive.broken_files(self.directory, new)
        self._checked.update(new)

    def verify(self) -> Findings:
        """Compare the finished crawl with the generator and the access log."""
        findings, web, log = self.findings, self.served.web, self.served.log()
        self._check_files()
        findings.requests = len(log)
        findings.expect(findings.accounts > 0, "the accounting was never read")
        findings.wrong += [f"never fetched: {url}" for url in sorted(missing_pages(log, web))[:5]]
        findings.wrong += [f"forbidden, but fetched: {entry.url}" for entry in forbidden_hits(log, web)[:5]]
        findings.wrong += [f"requested before its robots.txt: {entry.url}" for entry in robots_first(log)[:5]]
        early = gaps(log, politeness(web, FLOOR, factor=2, cap=CAP, restarts=self.restarts))
        findings.wrong += [f"too early: {violation}" for violation in early[:5]]
        self.verify_refetches()
        self._verify_store()
        self._verify_documents()
        return findings

    def verify_refetches(self) -> None:
        """Check that after a kill at most a batch and the visits in flight were fetched again."""
        findings, hosts = self.findings, len(self.served.web.addresses())
        edges = [*self.restarts, float("inf")]
        seen: Counter[str] = Counter()
        again: Counter[int] = Counter()
        for entry in self.served.log():
            if entry.is_complete and entry.status < 500:
                seen[entry.url] += 1
                if seen[entry.url] > 1:
                    again[next(n for n, edge in enumerate(edges) if entry.t0 < edge)] += 1
        findings.refetched = sum(again.values())
        findings.worst_refetch = max(again.values(), default=0)
        findings.expect(again[0] == 0, f"{again[0]} answers fetched twice though nothing was killed")
        findings.expect(
            findings.worst_refetch <= BATCH + hosts, f"{findings.worst_refetch} fetched again after one kill"
        )

    def _verify_store(self) -> None:
        findings, directory = self.findings, self.directory
        bad = rows(
            directory,
            "SELECT u.url, r.name FROM urls u JOIN reasons r ON r.code = u.reason "
            "WHERE u.state = 1 OR r.name IN ('QUARANTINED', 'CRASHED', 'INTERNAL_ERROR')",
        )
        findings.wrong += [f"left {reason}: {url}" for url, reason in bad[:5]]
        findings.wrong += [f"unknown file: {name}" for name in archive.stray_files(directory)]
        open_files = [name for name in (directory / "warc").iterdir() if name.suffix == ".open"]
        findings.expect(not open_files, f"still open after a clean end: {open_files}")

    def _verify_documents(self) -> None:
        """Check that every page is stored once, and that both readers read the generator's bytes at its place."""
        findings, web = self.findings, self.served.web
        documents = rows(
            self.directory,
            "SELECT u.url, s.name, d.offset FROM documents d JOIN segments s ON s.id = d.segment "
            "JOIN urls u ON u.host = d.host AND u.rest = d.rest WHERE d.status = 200 AND d.kind = 0 AND d.reason = 20",
        )
        stored = Counter(url for url, _, _ in documents)
        truth = {url: web.digest(url) for url in web.urls()}
        findings.pages = len(stored)
        findings.wrong += [f"not stored: {url}" for url in sorted(truth.keys() - stored.keys())[:5]]
        findings.wrong += [f"stored {count} times: {url}" for url, count in stored.items() if count > 1][:5]
        for reader in (archive.digests_by_fastwarc, archive.digests_by_warcio):
            found = reader(self.directory)
            for url, name, offset in documents:
                if found.get((str(name), int(str(offset)))) != (url, truth.get(str(url))):
                    findings.wrong.append(f"{reader.__name__}: {url} is not at {name}:{offset} as the web has it")
                    break
