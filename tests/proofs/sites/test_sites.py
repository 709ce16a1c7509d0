"""The proof of robots.txt, validators and HEAD_POLICY at a small size."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.proofs.sites.proof import prove

pytestmark = pytest.mark.crawl


def test_robots_rules_validators_and_head_policy_work_according_to_the_servers_log(tmp_path: Path) -> None:
    findings = list(prove(tmp_path, 200))
    assert len(findings) == 5
    assert [finding for finding in findings if not finding.holds] == []
