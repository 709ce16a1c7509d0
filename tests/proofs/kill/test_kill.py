"""The proof at a small size, and tests that it finds faults."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from crawler.frontier.frontier import SOLO_AFTER_CRASHES
from crawler.worker.committer import STEPS
from tests.proofs.kill.faulty import BETWEEN, FAULTS
from tests.proofs.kill.proof import CRAWL_DELAY, MEMORY, Proof
from tests.webgraph.server import Served

pytestmark = [pytest.mark.crawl, pytest.mark.timeout(400)]


def prove(tmp_path: Path, web: dict[str, object], segment_bytes: int, content_processes: int) -> tuple[Served, Proof]:
    served = Served(web, tmp_path)
    served.start()
    return served, Proof(served, tmp_path, WARC_SEGMENT_BYTES=segment_bytes, CONTENT_PROCESSES=content_processes)


@pytest.mark.parametrize(
    ("hosts", "pages", "kills"), [(24, 240, 6), pytest.param(30, 1500, 20, marks=pytest.mark.slow)]
)
def test_kills_at_random_moments_lose_nothing(hosts: int, pages: int, kills: int, tmp_path: Path) -> None:
    web = {"seed": 11, "hosts": hosts, "pages": pages, "crawl_delay": CRAWL_DELAY}
    served, proof = prove(tmp_path, web, 200 * pages, content_processes=2 if kills > 10 else 1)
    try:
        proof.run_killed_at_random(kills, 2.0, seed=11, deadline=time.monotonic() + 300)
        findings = proof.verify()
    finally:
        served.stop()
    assert findings.wrong == []
    assert findings.kills >= kills // 2  # a crawl may end before the last of them
    assert findings.pages == pages
    assert findings.accounts > kills
    assert findings.memory <= MEMORY


# At most as many kills a crawl as a URL may be leased in before it is visited alone, where a kill would park it.
@pytest.mark.parametrize("steps", [STEPS[:SOLO_AFTER_CRASHES], STEPS[SOLO_AFTER_CRASHES:]], ids=["commit", "rotation"])
def test_kills_inside_all_steps_of_the_commit_one_after_another_lose_nothing(
    steps: Sequence[str], tmp_path: Path
) -> None:
    assert len(steps) <= SOLO_AFTER_CRASHES
    served, proof = prove(tmp_path, {"seed": 3, "hosts": 12, "pages": 120, "crawl_delay": CRAWL_DELAY}, 12_000, 0)
    try:
        proof.run_killed_at([(step, 2) for step in steps], deadline=time.monotonic() + 200)
        findings = proof.verify()
    finally:
        served.stop()
    assert findings.wrong == []
    assert findings.kills == len(steps)


@pytest.mark.slow
@pytest.mark.parametrize("step", STEPS)
def test_a_kill_inside_a_step_of_the_commit_loses_nothing(step: str, tmp_path: Path) -> None:
    served, proof = prove(tmp_path, {"seed": 3, "hosts": 8, "pages": 60, "crawl_delay": CRAWL_DELAY}, 12_000, 0)
    try:
        proof.run_killed_in(step, [1, 3], deadline=time.monotonic() + 100)
        findings = proof.verify()
    finally:
        served.stop()
    assert findings.wrong == []
    assert findings.kills == 2


@pytest.mark.parametrize("fault", FAULTS)
def test_the_proof_notices_a_planted_fault(fault: str, tmp_path: Path) -> None:
    served, proof = prove(tmp_path, {"seed": 4, "hosts": 8, "pages": 80, "crawl_delay": 0.2}, 12_000, 0)
    proof.program = ["-m", "tests.proofs.kill.faulty", fault]
    try:
        step = BETWEEN if fault == "commit_before_append" else "after append"
        proof.run_killed_in(step, [2, 3, 2], deadline=time.monotonic() + 60)
        findings = proof.findings if proof.findings.wrong else proof.verify()
    finally:
        served.stop()
    assert findings.wrong
