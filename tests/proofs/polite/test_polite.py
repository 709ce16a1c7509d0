"""The politeness proof at a small size."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.proofs.polite.proof import KILLS, Proof

pytestmark = [pytest.mark.crawl, pytest.mark.timeout(400)]


@pytest.mark.parametrize("requests", [2_500, pytest.param(8_000, marks=pytest.mark.slow)])
def test_a_crawl_that_is_killed_several_times_is_polite_according_to_the_servers_log(
    requests: int, tmp_path: Path
) -> None:
    proof = Proof(tmp_path, requests, seed=11)
    findings = proof.run(time.monotonic() + 330)
    assert findings.wrong == []
    assert list(map(str, findings.verdict.violations[:10])) == []
    assert findings.kills == KILLS
    assert findings.requests >= requests
    margins = findings.verdict.margins
    assert margins["floor"].smallest < 0.05  # the rule mattered: without it the request would have come earlier
    assert margins["Crawl-delay"].smallest < 0.05
    assert margins["Retry-After"].gaps > 5
    assert margins["after a kill"].gaps > 5
